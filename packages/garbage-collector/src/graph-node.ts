import type { ObjectIdentity, Reference } from "./object-identity.js";

const NOBODY: ReadonlySet<GraphNode> = new Set<never>();
const NO_OWNERS: readonly Reference[] = [];

/** What the dependency graph knows of one object. Only the graph changes it. */
export class GraphNode {
  owners: readonly Reference[] = NO_OWNERS;
  /** A `deletionTimestamp` was seen. */
  beingDeleted = false;
  /** Being deleted in the foreground: it waits for dependents that block it. */
  deletingDependents = false;
  /** Most objects have none, so these are made when the first comes. */
  #dependents: Set<GraphNode> | undefined;
  /** Few references do not block: only those are kept apart. */
  #looseDependents: Set<GraphNode> | undefined;

  constructor(
    public identity: ObjectIdentity,
    /** Never seen, only referred to: it may not exist, or not as it is referred to. */
    public virtual: boolean,
  ) {}

  /** Objects with a reference to this UID, in order of their coming. */
  get dependents(): ReadonlySet<GraphNode> {
    return this.#dependents ?? NOBODY;
  }

  /** Whether there are dependents that a foreground deletion waits for: those whose reference says so. */
  get isBlocked(): boolean {
    return (this.#dependents?.size ?? 0) > (this.#looseDependents?.size ?? 0);
  }

  isBlockedBy(node: GraphNode): boolean {
    return this.#dependents?.has(node) === true && this.#looseDependents?.has(node) !== true;
  }

  /** Adds a dependent, or takes note of how it refers to this object now. */
  setDependent(node: GraphNode): void {
    (this.#dependents ??= new Set()).add(node);
    const { uid } = this.identity;
    const blocks = node.owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true);
    if (blocks) this.#looseDependents?.delete(node);
    else (this.#looseDependents ??= new Set()).add(node);
  }

  removeDependent(node: GraphNode): void {
    this.#dependents?.delete(node);
    this.#looseDependents?.delete(node);
  }
}

import type { ObjectIdentity, Reference } from "./object-identity.js";

const NO_DEPENDENTS: readonly GraphNode[] = [];
const NO_OWNERS: readonly Reference[] = [];

/** What the dependency graph knows of one object. Only the graph changes it. */
export class GraphNode {
  owners: readonly Reference[] = NO_OWNERS;
  /** A `deletionTimestamp` was seen. */
  beingDeleted = false;
  /** Being deleted in the foreground: it waits for dependents that block it. */
  deletingDependents = false;
  /** Most objects have none. */
  #dependents: Set<GraphNode> | undefined;
  /** Few references do not block: only those are kept apart. */
  #nonBlockingDependents: Set<GraphNode> | undefined;

  constructor(
    public identity: ObjectIdentity,
    /** Never seen, only referred to: it may not exist, or not as it is referred to. */
    public virtual: boolean,
  ) {}

  /** Objects with a reference to this UID, in order of their coming. */
  get dependents(): Iterable<GraphNode> {
    return this.#dependents ?? NO_DEPENDENTS;
  }

  get dependentCount(): number {
    return this.#dependents?.size ?? 0;
  }

  hasDependent(node: GraphNode): boolean {
    return this.#dependents?.has(node) === true;
  }

  /** Whether there are dependents that a foreground deletion waits for: those whose reference says so. */
  get isBlocked(): boolean {
    return this.dependentCount > (this.#nonBlockingDependents?.size ?? 0);
  }

  isBlockedBy(node: GraphNode): boolean {
    return this.hasDependent(node) && this.#nonBlockingDependents?.has(node) !== true;
  }

  /** Adds a dependent, or takes note of how it refers to this object now. */
  setDependent(node: GraphNode): void {
    (this.#dependents ??= new Set()).add(node);
    const { uid } = this.identity;
    const blocks = node.owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true);
    if (blocks) this.#nonBlockingDependents?.delete(node);
    else (this.#nonBlockingDependents ??= new Set()).add(node);
  }

  removeDependent(node: GraphNode): void {
    this.#dependents?.delete(node);
    this.#nonBlockingDependents?.delete(node);
  }
}

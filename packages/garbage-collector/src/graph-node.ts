import type { ObjectIdentity, Reference } from "./object-identity.js";

const NO_DEPENDENTS: readonly GraphNode[] = [];
const NO_OWNERS: readonly Reference[] = [];

/** The state of one object in the dependency graph. Only the graph modifies it. */
export class GraphNode {
  owners: readonly Reference[] = NO_OWNERS;
  /** Whether a `deletionTimestamp` was observed. */
  beingDeleted = false;
  /** Whether the object is in foreground deletion: it waits for blocking dependents. */
  deletingDependents = false;
  /** Created on demand: most objects have no dependents. */
  #dependents: Set<GraphNode> | undefined;
  /** Dependents whose reference does not block. Only these are stored separately, because there are few. */
  #nonBlockingDependents: Set<GraphNode> | undefined;

  constructor(
    public identity: ObjectIdentity,
    /** Never observed, only referred to: the object may not exist, or may have another identity. */
    public virtual: boolean,
  ) {}

  /** Objects with a reference to this UID, in order of addition. */
  get dependents(): Iterable<GraphNode> {
    return this.#dependents ?? NO_DEPENDENTS;
  }

  get dependentCount(): number {
    return this.#dependents?.size ?? 0;
  }

  hasDependent(node: GraphNode): boolean {
    return this.#dependents?.has(node) === true;
  }

  /** Whether a foreground deletion waits for dependents: those whose reference sets `blockOwnerDeletion`. */
  get isBlocked(): boolean {
    return this.dependentCount > (this.#nonBlockingDependents?.size ?? 0);
  }

  isBlockedBy(node: GraphNode): boolean {
    return this.hasDependent(node) && this.#nonBlockingDependents?.has(node) !== true;
  }

  /** Adds a dependent, or updates whether its reference blocks. */
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

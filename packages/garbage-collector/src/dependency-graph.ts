import { FOREGROUND_DELETION_FINALIZER, ORPHAN_FINALIZER } from "@kubewright/api";

import { alternativeOwner, partitionDependents } from "./conflicting-references.js";
import { type GraphDump, dumpGraph } from "./graph-dump.js";
import { GraphNode } from "./graph-node.js";
import {
  type Metadata,
  type ObjectIdentity,
  type ObjectType,
  type Reference,
  identityOf,
  identityOfOwner,
  matchesCoordinates,
  sameIdentity,
} from "./object-identity.js";

/** Receives the consequences of graph changes. The graph calls it during a change, so it must not modify the graph. */
export interface GraphListener {
  /** Requests a check whether the object still exists and has to be deleted. */
  attemptToDelete(node: GraphNode): void;
  /** Same as {@link attemptToDelete}, with the delay of a retry. */
  attemptToDeleteRateLimited(node: GraphNode): void;
  /** The object waits for the orphaning of its dependents. */
  attemptToOrphan(node: GraphNode): void;
  /** No object with this identity exists, and no future object will have its UID. */
  ownerAbsent(owner: ObjectIdentity): void;
  /** The dependent refers to an owner in its own namespace, but the owner is in another one. */
  ownerInOtherNamespace(dependent: ObjectIdentity, reference: Reference): void;
}

/**
 * The graph of owners and dependents, by UID. Events change its state, and a listener receives the consequences. The
 * graph has no access to the API server.
 *
 * An owner that is referred to before it is observed, or that does not exist, has a virtual node. A waiting owner is
 * reported to the listener when its last blocking dependent is gone. A dependent that is added later is reported
 * itself. Upstream reports the owner for each deleted dependent, and then all remaining dependents again, which is
 * quadratic.
 *
 * @see kubernetes v1.36 pkg/controller/garbagecollector/graph_builder.go GraphBuilder
 */
export class DependencyGraph {
  readonly #nodes = new Map<string, GraphNode>();
  readonly #listener: GraphListener;

  constructor(listener: GraphListener) {
    this.#listener = listener;
  }

  get size(): number {
    return this.#nodes.size;
  }

  node(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  /** Returns the whole graph, or the parts connected with the given objects, for inspection. */
  dump(uids?: readonly string[]): GraphDump {
    return dumpGraph(this.#nodes, uids);
  }

  /**
   * Records an added or updated object.
   *
   * @param old - The previous version, if known: a deletion that it already shows is not reported again.
   */
  observe(type: ObjectType, metadata: Metadata, old?: Metadata): void {
    const uid = metadata.uid ?? "";
    const owners = metadata.ownerReferences ?? NO_OWNERS;
    let node = this.#nodes.get(uid);
    if (node === undefined) {
      node = new GraphNode(identityOf(type, metadata), false);
      node.owners = owners;
      node.beingDeleted = isBeingDeleted(metadata);
      node.deletingDependents = node.beingDeleted && hasFinalizer(metadata, FOREGROUND_DELETION_FINALIZER);
      this.#nodes.set(uid, node);
      this.#link(node, owners);
    } else {
      if (node.virtual) this.#becomeReal(node, identityOf(type, metadata));
      else if (node.identity.apiVersion !== type.apiVersion || node.identity.kind !== type.kind)
        node.identity = identityOf(type, metadata);
      this.#changeOwners(node, owners);
      if (isBeingDeleted(metadata)) node.beingDeleted = true;
    }
    if (node.beingDeleted) this.#transitions(node, metadata, old);
  }

  /** Records the deletion of an object. */
  remove(type: ObjectType, metadata: Metadata): void {
    const node = this.#nodes.get(metadata.uid ?? "");
    if (node !== undefined) this.#remove(node, identityOf(type, metadata));
  }

  /**
   * Records that the API server has no object with this identity. This is less than a deletion: a dependent may have
   * combined this identity with a UID that belongs to another object.
   */
  removeAbsent(absent: ObjectIdentity): void {
    const node = this.#nodes.get(absent.uid);
    if (node === undefined) return;
    if (!node.virtual) {
      if (sameIdentity(node.identity, absent)) return this.#remove(node, absent);
      return this.#reportOwnerAbsent(partitionDependents(node.dependents, absent).matching, absent);
    }
    const { matching, mismatching } = partitionDependents(node.dependents, absent);
    if (mismatching.length === 0) return this.#remove(node, absent);
    this.#reportOwnerAbsent(matching, absent);
    if (!sameIdentity(node.identity, absent)) return;
    const alternative = alternativeOwner(mismatching, absent);
    if (alternative === undefined) return;
    node.identity = alternative;
    this.#listener.attemptToDeleteRateLimited(node);
  }

  #reportOwnerAbsent(dependents: readonly GraphNode[], absent: ObjectIdentity): void {
    if (dependents.length === 0) return;
    this.#listener.ownerAbsent(absent);
    for (const dependent of dependents) this.#listener.attemptToDelete(dependent);
  }

  #remove(node: GraphNode, identity: ObjectIdentity): void {
    this.#nodes.delete(identity.uid);
    this.#unlink(node, node.owners);
    if (node.dependentCount > 0) this.#reportOwnerAbsent([...node.dependents], identity);
    for (const { uid } of node.owners) {
      const owner = this.#nodes.get(uid);
      if (owner?.deletingDependents && !owner.isBlocked) this.#listener.attemptToDelete(owner);
    }
  }

  #becomeReal(node: GraphNode, identity: ObjectIdentity): void {
    node.virtual = false;
    if (sameIdentity(node.identity, identity)) return;
    node.identity = identity;
    for (const dependent of partitionDependents(node.dependents, identity).mismatching) {
      if (identity.namespace !== "" && identity.namespace !== dependent.identity.namespace)
        this.#reportNamespace(dependent, identity.uid);
      this.#listener.attemptToDelete(dependent);
    }
  }

  #changeOwners(node: GraphNode, owners: readonly Reference[]): void {
    const old = node.owners;
    if (sameReferences(old, owners)) return;
    node.owners = owners;
    this.#link(
      node,
      owners.filter(({ uid }) => !old.some((before) => before.uid === uid)),
    );
    this.#unlink(
      node,
      old.filter((before) => !owners.some(({ uid }) => uid === before.uid)),
    );
    for (const { uid, blockOwnerDeletion } of old) {
      const owner = this.#nodes.get(uid);
      if (owner === undefined) continue;
      if (owner.hasDependent(node)) owner.setDependent(node);
      if (blockOwnerDeletion !== true || owner.isBlockedBy(node)) continue;
      // This dependent does not block the owner any more. Check whether another one does.
      if (!owner.deletingDependents || !owner.isBlocked) this.#listener.attemptToDelete(owner);
    }
  }

  #link(node: GraphNode, references: readonly Reference[]): void {
    let isAmbiguous = false;
    // The dependent was added after the foreground deletion of its owner began.
    let blocksOwner = false;
    for (const reference of references) {
      const known = this.#nodes.get(reference.uid);
      if (known === undefined) {
        const owner = new GraphNode(identityOfOwner(reference, node.identity.namespace), true);
        this.#nodes.set(reference.uid, owner);
        owner.setDependent(node);
        this.#listener.attemptToDelete(owner);
        continue;
      }
      known.setDependent(node);
      if (!isAmbiguous && this.#isAmbiguous(node, reference, known)) isAmbiguous = true;
      if (known.deletingDependents && known.isBlockedBy(node)) blocksOwner = true;
    }
    if (isAmbiguous || blocksOwner) this.#listener.attemptToDelete(node);
  }

  /** Returns whether the reference may refer to an object other than the one with its UID. */
  #isAmbiguous(node: GraphNode, reference: Reference, owner: GraphNode): boolean {
    const { namespace } = owner.identity;
    const isElsewhere = namespace !== node.identity.namespace;
    if (namespace !== "" && isElsewhere) {
      if (!owner.virtual) this.#reportNamespace(node, reference.uid);
      return true;
    }
    // The owner may be virtual because only a cluster-scoped object refers to it.
    return !matchesCoordinates(reference, owner.identity) || (isElsewhere && owner.virtual);
  }

  /**
   * Removes dependents from their owners. A virtual owner without dependents is deleted; upstream keeps looking for it.
   */
  #unlink(node: GraphNode, references: readonly Reference[]): void {
    for (const { uid } of references) {
      const owner = this.#nodes.get(uid);
      if (owner === undefined) continue;
      owner.removeDependent(node);
      if (owner.virtual && owner.dependentCount === 0) this.#nodes.delete(uid);
    }
  }

  #transitions(node: GraphNode, metadata: Metadata, old: Metadata | undefined): void {
    if (startsDeletion(ORPHAN_FINALIZER, metadata, old)) return this.#listener.attemptToOrphan(node);
    if (!startsDeletion(FOREGROUND_DELETION_FINALIZER, metadata, old)) return;
    node.deletingDependents = true;
    for (const dependent of node.dependents) this.#listener.attemptToDelete(dependent);
    this.#listener.attemptToDelete(node);
  }

  #reportNamespace(dependent: GraphNode, ownerUid: string): void {
    const reference = dependent.owners.find(({ uid }) => uid === ownerUid);
    if (reference !== undefined) this.#listener.ownerInOtherNamespace(dependent.identity, reference);
  }
}

const NO_OWNERS: readonly Reference[] = [];

function isBeingDeleted({ deletionTimestamp }: Metadata): boolean {
  return deletionTimestamp !== undefined && deletionTimestamp !== null;
}

function hasFinalizer({ finalizers }: Metadata, finalizer: string): boolean {
  return finalizers?.includes(finalizer) ?? false;
}

/** Returns whether this update begins the deletion with that finalizer, or is the first to show it. */
function startsDeletion(finalizer: string, metadata: Metadata, old: Metadata | undefined): boolean {
  const isDeletedWithFinalizer = (each: Metadata): boolean => isBeingDeleted(each) && hasFinalizer(each, finalizer);
  return isDeletedWithFinalizer(metadata) && !(old !== undefined && isDeletedWithFinalizer(old));
}

function sameReferences(a: readonly Reference[], b: readonly Reference[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  return a.every((one, index) => {
    const other = b[index]!;
    return (
      matchesCoordinates(one, other) &&
      one.controller === other.controller &&
      one.blockOwnerDeletion === other.blockOwnerDeletion
    );
  });
}

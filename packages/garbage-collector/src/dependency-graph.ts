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

/** What changes of the graph give rise to. Called while it changes: must not change it in turn. */
export interface GraphListener {
  /** Whether the object may exist is to be looked into. */
  attemptToDelete(node: GraphNode): void;
  /** The same, with the delay of a retry. */
  attemptToDeleteRateLimited(node: GraphNode): void;
  /** The object waits for its dependents to be let go. */
  attemptToOrphan(node: GraphNode): void;
  /** No such object exists, and no other will ever have its UID. */
  ownerAbsent(owner: ObjectIdentity): void;
  /** The dependent refers to an owner as if it were in its own namespace, where it is not. */
  ownerInOtherNamespace(dependent: ObjectIdentity, reference: Reference): void;
}

/**
 * Who owns whom, by UID: a state that events change, with consequences told to a listener. Does nothing by itself and
 * knows no API server.
 *
 * Owners that are referred to before they are seen, or that never existed, have virtual nodes. An owner that waits for
 * dependents is named when the last of those that block it has gone, and one that comes late is named itself; upstream
 * names the owner every time one goes, and then all the others again, which is quadratic in their number.
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

  /** All of it, or what is connected with these objects, to be looked at. */
  dump(uids?: readonly string[]): GraphDump {
    return dumpGraph(this.#nodes, uids);
  }

  /**
   * The object was added or updated.
   *
   * @param old - As it was before, if that is known: what had begun by then does not begin again.
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

  /** The object was deleted. */
  remove(type: ObjectType, metadata: Metadata): void {
    const node = this.#nodes.get(metadata.uid ?? "");
    if (node !== undefined) this.#remove(node, identityOf(type, metadata));
  }

  /**
   * The API server does not know an object of this identity. That is less than its deletion: the identity may be one that
   * a dependent made up for a UID which belongs to another object.
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
      // Not blocked by this dependent any more: by no other either?
      if (!owner.deletingDependents || !owner.isBlocked) this.#listener.attemptToDelete(owner);
    }
  }

  #link(node: GraphNode, references: readonly Reference[]): void {
    let isAmbiguous = false;
    // It came after the foreground deletion of its owner began.
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

  /** Whether the reference may not mean the object that has its UID. */
  #isAmbiguous(node: GraphNode, reference: Reference, owner: GraphNode): boolean {
    const { namespace } = owner.identity;
    const isElsewhere = namespace !== node.identity.namespace;
    if (namespace !== "" && isElsewhere) {
      if (!owner.virtual) this.#reportNamespace(node, reference.uid);
      return true;
    }
    // One that is not known to be cluster-scoped was perhaps only referred to from a cluster-scoped object.
    return !matchesCoordinates(reference, owner.identity) || (isElsewhere && owner.virtual);
  }

  /** A virtual owner that nobody refers to any more is forgotten; upstream goes on looking for it. */
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

/** Whether the object has just come to be deleted with that finalizer, or was found so. */
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

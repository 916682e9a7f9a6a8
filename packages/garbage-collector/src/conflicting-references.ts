import type { GraphNode } from "./graph-node.js";
import {
  type ObjectIdentity,
  compareIdentities,
  identityOfOwner,
  matchesCoordinates,
  sameIdentity,
} from "./object-identity.js";

/**
 * Partitions dependents into those whose reference matches the owner and those with a wrong type, name or namespace. A
 * dependent with two references to the UID may be in both.
 *
 * @see kubernetes v1.36 pkg/controller/garbagecollector/graph_builder.go partitionDependents
 */
export function partitionDependents(
  dependents: Iterable<GraphNode>,
  owner: ObjectIdentity,
): { matching: GraphNode[]; mismatching: GraphNode[] } {
  const matching: GraphNode[] = [];
  const mismatching: GraphNode[] = [];
  for (const dependent of dependents) {
    if (owner.namespace !== "" && owner.namespace !== dependent.identity.namespace) {
      mismatching.push(dependent);
      continue;
    }
    const references = dependent.owners.filter(({ uid }) => uid === owner.uid);
    if (references.some((reference) => matchesCoordinates(reference, owner))) matching.push(dependent);
    if (references.some((reference) => !matchesCoordinates(reference, owner))) mismatching.push(dependent);
  }
  return { matching, mismatching };
}

/**
 * Returns another object that a UID may refer to, when the requested object does not exist. It is the next identity
 * that the dependents name, or else the first, so that all are tried.
 *
 * @see kubernetes v1.36 pkg/controller/garbagecollector/graph_builder.go getAlternateOwnerIdentity
 */
export function alternativeOwner(dependents: Iterable<GraphNode>, absent: ObjectIdentity): ObjectIdentity | undefined {
  const absentIsClusterScoped = absent.namespace === "";
  let first: ObjectIdentity | undefined;
  let following: ObjectIdentity | undefined;
  for (const { identity, owners } of dependents) {
    for (const reference of owners) {
      if (reference.uid !== absent.uid) continue;
      // The type is cluster-scoped, because one of its objects was requested without a namespace.
      const sameType = reference.apiVersion === absent.apiVersion && reference.kind === absent.kind;
      const candidate = identityOfOwner(reference, absentIsClusterScoped && sameType ? "" : identity.namespace);
      if (sameIdentity(candidate, absent)) continue;
      if (first === undefined || compareIdentities(candidate, first) < 0) first = candidate;
      if (
        compareIdentities(absent, candidate) < 0 &&
        (following === undefined || compareIdentities(candidate, following) < 0)
      )
        following = candidate;
    }
  }
  return following ?? first;
}

import type { GraphNode } from "./graph-node.js";
import {
  type ObjectIdentity,
  compareIdentities,
  identityOfOwner,
  matchesCoordinates,
  sameIdentity,
} from "./object-identity.js";

/**
 * Divides dependents into those that refer to an owner as it is and those that get its type, name or namespace wrong. One
 * with two references to the UID may be both.
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
 * Another object that may be meant by a UID, when the one looked for does not exist: the next of those the dependents
 * name, or else the first, so that all get their turn.
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
      // That type has no namespaces, as one of its objects was looked up without.
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

import type { DeepReadonly, ObjectMeta, OwnerReference } from "@kubewright/api";

/** The type of an object in the form of owner references. */
export interface ObjectType {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The complete identity of an object. Owner references have no namespace: it is the dependent's. */
export interface ObjectIdentity extends ObjectType {
  /** `""` for a cluster-scoped object, and if the scope is unknown. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export type Reference = DeepReadonly<OwnerReference>;
export type Metadata = DeepReadonly<ObjectMeta>;

export function identityOf({ apiVersion, kind }: ObjectType, metadata: Metadata): ObjectIdentity {
  const { namespace = "", name = "", uid = "" } = metadata;
  return { apiVersion, kind, namespace, name, uid };
}

/** Returns the identity of a reference's owner, assuming that namespace. */
export function identityOfOwner({ apiVersion, kind, name, uid }: Reference, namespace: string): ObjectIdentity {
  return { apiVersion, kind, namespace, name, uid };
}

export function sameIdentity(a: ObjectIdentity, b: ObjectIdentity): boolean {
  return a.namespace === b.namespace && matchesCoordinates(a, b);
}

/**
 * Returns whether a reference matches this object in all fields of a reference. Upstream:
 * ownerReferenceMatchesCoordinates.
 */
export function matchesCoordinates(
  a: Omit<ObjectIdentity, "namespace">,
  b: Omit<ObjectIdentity, "namespace">,
): boolean {
  return a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;
}

/** Compares by kind, apiVersion, namespace, name and UID. Upstream: referenceLessThan. */
export function compareIdentities(a: ObjectIdentity, b: ObjectIdentity): number {
  for (const member of ["kind", "apiVersion", "namespace", "name", "uid"] as const) {
    if (a[member] !== b[member]) return a[member] < b[member] ? -1 : 1;
  }
  return 0;
}

/** Formats an identity as upstream's logs and events do: `[v1/Pod, namespace: ns1, name: pod1, uid: …]`. */
export function describeIdentity({ apiVersion, kind, namespace, name, uid }: ObjectIdentity): string {
  return `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
}

import type { DeepReadonly, ObjectMeta, OwnerReference } from "@kubewright/api";

/** The type of an object, as owner references name it. */
export interface ObjectType {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Everything that tells an object from all others. Owner references lack the namespace: it is the dependent's. */
export interface ObjectIdentity extends ObjectType {
  /** `""` for a cluster-scoped object, and where it is not known to be one. */
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

/** The owner a reference names, were it in that namespace. */
export function identityOfOwner({ apiVersion, kind, name, uid }: Reference, namespace: string): ObjectIdentity {
  return { apiVersion, kind, namespace, name, uid };
}

export function sameIdentity(a: ObjectIdentity, b: ObjectIdentity): boolean {
  return a.namespace === b.namespace && matchesCoordinates(a, b);
}

/** Whether a reference means this object, as far as a reference can tell. Upstream: ownerReferenceMatchesCoordinates. */
export function matchesCoordinates(
  a: Omit<ObjectIdentity, "namespace">,
  b: Omit<ObjectIdentity, "namespace">,
): boolean {
  return a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;
}

/** By kind, apiVersion, namespace, name and UID. Upstream: referenceLessThan. */
export function compareIdentities(a: ObjectIdentity, b: ObjectIdentity): number {
  for (const member of ["kind", "apiVersion", "namespace", "name", "uid"] as const) {
    if (a[member] !== b[member]) return a[member] < b[member] ? -1 : 1;
  }
  return 0;
}

/** As upstream writes it in logs and events: `[v1/Pod, namespace: ns1, name: pod1, uid: …]`. */
export function describeIdentity({ apiVersion, kind, namespace, name, uid }: ObjectIdentity): string {
  return `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
}

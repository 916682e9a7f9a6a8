import type { DeepReadonly, UnstructuredObject } from "@kubewright/api";

/** Name of an object whose UID is unknown when a plan is written. */
export interface NamedObject {
  readonly namespace: string;
  readonly name: string;
}

const UID_PLACEHOLDER_PREFIX = "uid of ";

/** Returns the placeholder for the UID of an object that will exist when the plan uses it: `uid of default/job-1`. */
export function uidPlaceholder({ namespace, name }: NamedObject): string {
  return `${UID_PLACEHOLDER_PREFIX}${namespace}/${name}`;
}

/** Looks up the UID of a stored object; `undefined` when it does not exist. */
export type FindUid = (
  owner: { readonly apiVersion: string; readonly kind: string } & NamedObject,
) => Promise<string | undefined>;

/**
 * Returns the object with the UIDs of its owners in place of the placeholders of {@link uidPlaceholder}. An owner that
 * does not exist keeps its placeholder, which is no object's UID.
 */
export async function resolveOwnerUids<T extends DeepReadonly<UnstructuredObject>>(
  object: T,
  find: FindUid,
): Promise<T> {
  const { ownerReferences } = object.metadata;
  if (!ownerReferences?.some(({ uid }) => uid.startsWith(UID_PLACEHOLDER_PREFIX))) return object;
  const filled = ownerReferences.map(async (reference) => {
    if (!reference.uid.startsWith(UID_PLACEHOLDER_PREFIX)) return reference;
    const [namespace = "", name = ""] = reference.uid.slice(UID_PLACEHOLDER_PREFIX.length).split("/");
    const { apiVersion, kind } = reference;
    return { ...reference, uid: (await find({ apiVersion, kind, namespace, name })) ?? reference.uid };
  });
  return { ...object, metadata: { ...object.metadata, ownerReferences: await Promise.all(filled) } };
}

import type { DeepReadonly, UnstructuredObject } from "@kubewright/api";

/** Names an object whose UID is not known when a plan is written. */
export interface NamedObject {
  readonly namespace: string;
  readonly name: string;
}

const UID_PLACEHOLDER_PREFIX = "uid of ";

/** What stands in a plan for the UID of an object that is there by the time the plan comes to it: `uid of default/job-1`. */
export function uidPlaceholder({ namespace, name }: NamedObject): string {
  return `${UID_PLACEHOLDER_PREFIX}${namespace}/${name}`;
}

/** Finds the UID of what is stored; `undefined`: there is no such object. */
export type FindUid = (
  owner: { readonly apiVersion: string; readonly kind: string } & NamedObject,
) => Promise<string | undefined>;

/** The object with the UIDs of its owners instead of what {@link uidPlaceholder} put there. One that is not there keeps its mark, which is nobody's UID. */
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

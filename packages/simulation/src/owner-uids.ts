import type { DeepReadonly, UnstructuredObject } from "@kubewright/api";

/** Names an object whose UID is not known when a plan is written. */
export interface NamedObject {
  readonly namespace: string;
  readonly name: string;
}

const MARK = "uid of ";

/** What stands in a plan for the UID of an object that is there by the time the plan comes to it: `uid of default/job-1`. */
export function uidOf({ namespace, name }: NamedObject): string {
  return `${MARK}${namespace}/${name}`;
}

/** Finds the UID of what is stored; `undefined`: there is no such object. */
export type FindUid = (
  owner: { readonly apiVersion: string; readonly kind: string } & NamedObject,
) => Promise<string | undefined>;

/** The object with the UIDs of its owners instead of what {@link uidOf} put there. One that is not there keeps its mark, which is nobody's UID. */
export async function withOwnerUids<T extends DeepReadonly<UnstructuredObject>>(object: T, find: FindUid): Promise<T> {
  const { ownerReferences } = object.metadata;
  if (!ownerReferences?.some(({ uid }) => uid.startsWith(MARK))) return object;
  const filled = ownerReferences.map(async (reference) => {
    if (!reference.uid.startsWith(MARK)) return reference;
    const [namespace = "", name = ""] = reference.uid.slice(MARK.length).split("/");
    const { apiVersion, kind } = reference;
    return { ...reference, uid: (await find({ apiVersion, kind, namespace, name })) ?? reference.uid };
  });
  return { ...object, metadata: { ...object.metadata, ownerReferences: await Promise.all(filled) } };
}

declare const brand: unique symbol;

/** A string (or other value) that only its constructor function may create. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** `namespace/name`, or just `name` for a cluster-scoped object (client-go's MetaNamespaceKeyFunc). */
export type ObjectKey = Brand<string, "ObjectKey">;

/** The `metadata.uid` of an object. */
export type UID = Brand<string, "UID">;

export interface NamespacedName {
  readonly namespace?: string | undefined;
  readonly name: string;
}

export function objectKey({ namespace, name }: NamespacedName): ObjectKey {
  return (namespace ? `${namespace}/${name}` : name) as ObjectKey;
}

/** Returns the key of a stored object. Every object stored by the API server has a name. */
export function keyOf(object: {
  readonly metadata: { readonly namespace?: string; readonly name?: string };
}): ObjectKey {
  return objectKey({ namespace: object.metadata.namespace, name: object.metadata.name ?? "" });
}

/**
 * Splits a key into namespace and name.
 *
 * @throws Error `unexpected key format: "<key>"` for more than two parts (client-go's SplitMetaNamespaceKey).
 */
export function splitObjectKey(key: string): { namespace: string; name: string } {
  const parts = key.split("/");
  if (parts.length === 1) return { namespace: "", name: parts[0]! };
  if (parts.length === 2) return { namespace: parts[0]!, name: parts[1]! };
  throw new Error(`unexpected key format: ${JSON.stringify(key)}`);
}

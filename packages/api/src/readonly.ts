/** `T` with every member at every depth read-only. What caches, watches and API responses hand out: copy before changing. */
export type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** `T` with every member at every depth writable: what {@link mutableCopy} returns. */
export type DeepMutable<T> = T extends readonly (infer Item)[]
  ? DeepMutable<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: DeepMutable<T[Key]> }
    : T;

/**
 * A deep copy of JSON data that the caller may change.
 *
 * Much cheaper than `structuredClone`, and enough for what crosses the wire: plain objects, arrays and primitives. A key
 * named `__proto__` stays an ordinary key.
 */
export function mutableCopy<T>(value: T): DeepMutable<T> {
  return copy(value) as DeepMutable<T>;
}

function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = copy((value as Record<string, unknown>)[key]);
    if (key === "__proto__")
      Object.defineProperty(result, key, { value: member, enumerable: true, configurable: true, writable: true });
    else result[key] = member;
  }
  return result;
}

/** Freezes JSON data at every depth, so that writing to shared objects throws instead of corrupting them. Returns its argument. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}

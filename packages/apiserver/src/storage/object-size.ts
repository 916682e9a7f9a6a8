/**
 * Approximate bytes of JSON data in memory. Strings count twice, because both the object and its JSON text contain
 * them. No data may take many times its estimate, so that sums of estimates can enforce a limit.
 */
export const MEMBER_BYTES = 24;
export const OBJECT_BYTES = 48;

export function stringBytes(text: string): number {
  return 2 * text.length;
}

/** Returns the approximate bytes of a value by visiting all of it. Decoding counts bytes while it copies. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return MEMBER_BYTES + stringBytes(value);
  if (typeof value !== "object" || value === null) return MEMBER_BYTES;
  let bytes = OBJECT_BYTES + MEMBER_BYTES;
  if (Array.isArray(value)) {
    for (const item of value) bytes += sizeOf(item);
    return bytes;
  }
  for (const key in value) bytes += stringBytes(key) + sizeOf((value as Record<string, unknown>)[key]);
  return bytes;
}

/** Additional bytes of a version in which the server itself changed metadata or conditions. */
export const MARKED_BYTES = 2048;

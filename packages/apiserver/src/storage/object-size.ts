/**
 * Bytes that JSON data takes in memory, roughly: strings count twice, as each is in the object and in its JSON text. What counts
 * is that no data takes many times as much, so that whoever adds these up can keep within a limit.
 */
export const MEMBER_BYTES = 24;
export const OBJECT_BYTES = 48;

export function stringBytes(text: string): number {
  return 2 * text.length;
}

/** Goes through all of it; what is being copied anyway is counted on the way. */
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

/** What a version adds to the one before in which the server itself has marked something: metadata, conditions. */
export const MARKED_BYTES = 2048;

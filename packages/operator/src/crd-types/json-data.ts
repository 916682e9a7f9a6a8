/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as a JSON object; an empty one for anything else. */
export function objectAt(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The value as an array; an empty one for anything else. */
export function listAt(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** The value as a string; `undefined` for anything else, and for an empty string. */
export function textAt(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

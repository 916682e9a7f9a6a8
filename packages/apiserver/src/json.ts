/** A JSON object. */
export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `object[key] = value`, also for the one key that assignment treats specially. */
export function setMember(object: JsonObject, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** The member of that name which the object itself has. */
export function ownMember(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Whether two JSON values are the same, whatever the order of their members. Members that are `undefined` count as absent. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let index = 0; index < a.length; index++) if (!jsonEqual(a[index], b[index])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  let members = 0;
  for (const key in a) {
    const value = (a as JsonObject)[key];
    if (value === undefined) continue;
    members++;
    if (!Object.hasOwn(b, key) || !jsonEqual(value, (b as JsonObject)[key])) return false;
  }
  for (const key in b) if ((b as JsonObject)[key] !== undefined) members--;
  return members === 0;
}

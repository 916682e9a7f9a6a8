/** A JSON object. */
export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Assigns `object[key] = value`, also for the key `__proto__`. */
export function setMember(object: JsonObject, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/**
 * Returns a shallow copy. For objects of many shapes several times as fast as `{ ...object }`, but ignores a member
 * named `__proto__`: such objects use the slow way.
 */
export function copyMembers<T extends object>(object: T): T {
  return Object.hasOwn(object, "__proto__") ? { ...object } : Object.assign({}, object);
}

/**
 * Returns a copy without `undefined` members. Faster than deleting members one by one, which makes an object
 * permanently slow.
 */
export function definedMembers(members: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(members)) if (members[key] !== undefined) setMember(result, key, members[key]);
  return result;
}

/** Deletes a member if it exists: deleting a missing member is slow. */
export function dropMember<T extends object, Member extends keyof T>(object: T, member: Member): void {
  if (object[member] !== undefined) delete object[member];
}

/** Sets a member to its value in `stored`, or deletes it if `stored` does not have it. */
export function restoreMember<T extends object, Member extends keyof T>(object: T, stored: T, member: Member): void {
  const value = stored[member];
  if (object[member] === value) return;
  if (value === undefined) delete object[member];
  else object[member] = value;
}

/** Returns the object's own member of that name. */
export function ownMember(object: JsonObject, key: string): unknown {
  const member = object[key];
  // JSON has no functions: a function is inherited from the prototype, as is `__proto__`. Cheaper than `hasOwn` for
  // every member.
  const isInherited = typeof member === "function" || (key === "__proto__" && !Object.hasOwn(object, key));
  return isInherited ? undefined : member;
}

/** Whether two JSON values are equal, regardless of member order. `undefined` members count as absent. */
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
    if (!jsonEqual(value, ownMember(b as JsonObject, key))) return false;
  }
  for (const key in b) if ((b as JsonObject)[key] !== undefined) members--;
  return members === 0;
}

/** Returns JSON text with sorted members: equal values give equal text, which can serve as a map key. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isJsonObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : member,
  );
}

/** Returns `""` when the value is no string. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Formats a value as Go prints it: `map[a:1 b:[x y]]`. */
export function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (isJsonObject(value)) {
    const members = Object.keys(value)
      .sort()
      .map((key) => `${key}:${goText(value[key])}`);
    return `map[${members.join(" ")}]`;
  }
  return value === null || value === undefined ? "<nil>" : `${value as string | number | boolean}`;
}

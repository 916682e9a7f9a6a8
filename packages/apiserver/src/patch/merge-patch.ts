import { type JsonObject, isJsonObject, setMember } from "../json.js";

/**
 * Applies a JSON Merge Patch (RFC 7386): null deletes, objects merge, other values replace. Changes neither argument.
 * The result shares unchanged parts with both.
 */
export function mergePatch(original: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const result: JsonObject = isJsonObject(original) ? { ...original } : {};
  for (const key of Object.keys(patch)) {
    const change = patch[key];
    if (change === null) delete result[key];
    else setMember(result, key, mergePatch(Object.hasOwn(result, key) ? result[key] : undefined, change));
  }
  return result;
}

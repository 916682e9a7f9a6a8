import { type JsonObject, isJsonObject, setMember } from "../json.js";

/**
 * JSON Merge Patch (RFC 7386): null removes, objects merge, everything else replaces. Changes neither argument; the
 * result shares with both what it took over whole.
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

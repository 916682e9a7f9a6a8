/** Applies a JSON merge patch (RFC 7386) to a value. Modifies neither; unchanged parts are shared with `value`. */
export function mergePatched(value: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(value) ? { ...value } : {};
  for (const [key, part] of Object.entries(patch)) {
    if (part === undefined) continue;
    if (part === null) delete result[key];
    else result[key] = mergePatched(result[key], part);
  }
  return result;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

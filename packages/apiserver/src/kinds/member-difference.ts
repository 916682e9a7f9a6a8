import { jsonEqual } from "../json.js";

/**
 * Lists the fields that differ: one line with the permitted value and one line with the actual value. Approximates Go's
 * `cmp.Diff`.
 */
export function memberDifference<T extends object>(value: T, allowed: T): string {
  const lines: string[] = [];
  for (const key of new Set([...Object.keys(allowed), ...Object.keys(value)]) as Set<keyof T & string>) {
    if (jsonEqual(value[key], allowed[key])) continue;
    if (allowed[key] !== undefined) lines.push(`- ${key}: ${JSON.stringify(allowed[key])}`);
    if (value[key] !== undefined) lines.push(`+ ${key}: ${JSON.stringify(value[key])}`);
  }
  return lines.join("\n");
}

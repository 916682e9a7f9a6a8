import { isJsonObject, ownMember } from "./json.js";

/**
 * The value at a JSON path: `.spec.replicas`, `.spec.list[0].name`, `.metadata.labels['a.b']`, and the first element that
 * `[?(@.type=="Ready")]` finds. Other filters and wildcards find nothing.
 */
export function readJsonPath(path: string, root: unknown): unknown {
  let value = root;
  for (const match of path.matchAll(
    /\.([^.[\]]+)|\[(\d+)\]|\[\?\(@\.(\w+)\s*==\s*["']([^"']*)["']\)\]|\['([^']+)'\]/g,
  )) {
    const [, name, index, filterKey, filterValue, quoted] = match;
    if (filterKey !== undefined)
      value = Array.isArray(value)
        ? value.find((item: unknown) => isJsonObject(item) && ownMember(item, filterKey) === filterValue)
        : undefined;
    else if (index !== undefined) value = Array.isArray(value) ? (value as unknown[])[Number(index)] : undefined;
    else value = isJsonObject(value) ? ownMember(value, (name ?? quoted)!.replaceAll("\\", "")) : undefined;
    if (value === undefined) return undefined;
  }
  return value;
}

/** A copy of the object with another value at a path of plain member names. Shares the rest. */
export function writeJsonPath(path: string, root: unknown, value: unknown): unknown {
  const [name, ...rest] = path.split(".").filter((part) => part !== "");
  if (name === undefined) return value;
  const object = isJsonObject(root) ? root : {};
  return { ...object, [name]: writeJsonPath(rest.join("."), ownMember(object, name), value) };
}

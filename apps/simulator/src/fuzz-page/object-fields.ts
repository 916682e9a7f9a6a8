import type { Stored } from "@kubewright/simulation";
import type { Fields } from "@kubewright/timeline/data";

/** Maximum number of fields of an object: long templates seldom contain the difference. */
const MAX_FIELDS = 400;
const LONGEST_VALUE = 240;
/** Fields that the page shows in another way, or that are of no use to readers. */
const LEFT_OUT = /^metadata\.(?:managedFields|resourceVersion)$|\.lastProbeTime$|^status\.conditions\[.*\]\.type$/;

/**
 * Returns the fields of an object by path, as text: `status.conditions[Complete].status`. List items are identified by
 * name.
 */
export function fieldsOf(object: Stored): Fields {
  const fields: Record<string, string> = {};
  let count = 0;
  const visit = (value: unknown, path: string): void => {
    if (value === undefined || value === null || LEFT_OUT.test(path) || count >= MAX_FIELDS) return;
    if (typeof value !== "object") {
      count++;
      fields[path] = clipped(textOf(value));
      return;
    }
    if (Array.isArray(value)) {
      if (value.every((item) => typeof item !== "object" || item === null)) {
        count++;
        fields[path] = clipped(`[${value.join(", ")}]`);
      } else for (const [index, item] of value.entries()) visit(item, `${path}[${nameIn(item) ?? index}]`);
      return;
    }
    for (const [name, member] of Object.entries(value)) visit(member, path === "" ? name : `${path}.${name}`);
  };
  visit(object, "");
  return fields;
}

/** Separates the fields that are equal in all versions from the other fields of each version. */
export function split(versions: readonly Fields[]): { readonly same: Fields; readonly rest: readonly Fields[] } {
  const [first = {}, ...others] = versions;
  const same = Object.fromEntries(
    Object.entries(first).filter(([path, value]) => others.every((fields) => fields[path] === value)),
  );
  const rest = versions.map((fields) =>
    Object.fromEntries(Object.entries(fields).filter(([path]) => same[path] === undefined)),
  );
  return { same, rest };
}

/** Formats a scalar value. */
function textOf(value: {}): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function nameIn(item: unknown): string | undefined {
  if (typeof item !== "object" || item === null) return undefined;
  const { name, type, uid } = item as { name?: unknown; type?: unknown; uid?: unknown };
  const named = name ?? type ?? uid;
  return typeof named === "string" ? clipped(named) : undefined;
}

function clipped(text: string): string {
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE - 1)}…`;
}

import type { DeepReadonly, KubernetesObject } from "@kubewright/api";

/** Fields that change with every write, or name the writer. */
const IGNORED_PATHS: ReadonlySet<string> = new Set([
  "metadata.resourceVersion",
  "metadata.generation",
  "metadata.managedFields",
  "metadata.uid",
]);

/**
 * Returns the changed fields, one text each: `status.phase "Running"`, `spec.suspend is not set`. Conditions are
 * compared by type; other lists are listed completely.
 */
export function changesOf(before: DeepReadonly<KubernetesObject>, after: DeepReadonly<KubernetesObject>): string[] {
  const changes: string[] = [];
  compare("", before, after, changes);
  return changes;
}

function compare(path: string, before: unknown, after: unknown, changes: string[]): void {
  if (IGNORED_PATHS.has(path)) return;
  const [a, b] = path.endsWith("onditions") ? [byType(before), byType(after)] : [before, after];
  if (isRecord(b) && (isRecord(a) || a === undefined)) {
    const keys = [...new Set([...Object.keys(a ?? {}), ...Object.keys(b)])].sort();
    for (const key of keys) compare(path === "" ? key : `${path}.${key}`, a?.[key], b[key], changes);
  } else if (JSON.stringify(a) !== JSON.stringify(b))
    changes.push(b === undefined ? `${path} is not set` : `${path} ${JSON.stringify(b)}`);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Converts a list of conditions to a record by type. */
function byType(list: unknown): unknown {
  if (!Array.isArray(list)) return list;
  const typed = list as readonly { readonly type?: string; readonly status?: string; readonly reason?: string }[];
  return Object.fromEntries(
    typed.map(({ type = "", status, reason }) => [type, reason ? `${status} (${reason})` : status]),
  );
}

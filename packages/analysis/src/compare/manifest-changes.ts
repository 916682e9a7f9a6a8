import { isLive } from "../input/live-state.js";
import type { Manifest } from "../input/manifest.js";

/** A field that differs between two manifests of the same object. */
export interface ManifestChange {
  /** `CronJob default/report` */
  readonly object: string;
  /** `spec.schedule` */
  readonly field: string;
  /** A leaf value. Absent: the field is not set. */
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Compares objects that both sides have, by field. Objects of one side are visible in the runs. */
export function manifestChanges(a: readonly Manifest[], b: readonly Manifest[]): ManifestChange[] {
  const others = new Map(b.map((manifest) => [identity(manifest), manifest]));
  return a.flatMap((manifest) => {
    const object = identity(manifest);
    const other = others.get(object);
    if (other === undefined) return [];
    const changes = fieldChanges(object, leaves(written(manifest)), leaves(written(other)));
    // A live object has every default; a file that omits a default does not change it.
    return isLive(manifest.object) ? changes.filter(({ after }) => after !== undefined) : changes;
  });
}

/** Removes the fields that only a server sets. */
function written({ object }: Manifest): object {
  if (!isLive(object)) return object;
  const { status: _status, metadata, ...rest } = object;
  const { name, namespace, labels, annotations } = metadata;
  return { ...rest, metadata: { name, namespace, labels, annotations } };
}

function identity({ object }: Manifest): string {
  const { namespace = "default", name = "" } = object.metadata;
  return `${object.kind} ${namespace}/${name}`;
}

function fieldChanges(object: string, a: Leaves, b: Leaves): ManifestChange[] {
  const changes: ManifestChange[] = [];
  for (const field of new Set([...a.keys(), ...b.keys()])) {
    const [before, after] = [a.get(field), b.get(field)];
    if (a.has(field) === b.has(field) && JSON.stringify(before) === JSON.stringify(after)) continue;
    changes.push({
      object,
      field,
      ...(a.has(field) ? { before } : {}),
      ...(b.has(field) ? { after } : {}),
    });
  }
  return changes;
}

type Leaves = Map<string, unknown>;

/** Collects all leaf values by path. */
function leaves(value: unknown, path = "", found: Leaves = new Map()): Leaves {
  const isEmpty = typeof value !== "object" || value === null || Object.keys(value).length === 0;
  if (isEmpty) found.set(path, value);
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) leaves(item, `${path}[${index}]`, found);
  else for (const [key, member] of Object.entries(value)) leaves(member, path === "" ? key : `${path}.${key}`, found);
  return found;
}

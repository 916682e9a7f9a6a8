import type { Stored } from "@kubewright/simulation";
import { notableChanges } from "@kubewright/timeline/data";

import { fieldsOf } from "./object-fields.js";
import type { RunObject } from "./run-objects.js";
import type { TraceStep } from "./trace-steps.js";

/** Maximum number of changes in one sentence. */
const MAX_CHANGES = 6;

/** A version of an object; `undefined`: the object does not exist. */
interface KnownVersion {
  readonly object: Stored | undefined;
  readonly atMs: number;
}

/** The stored objects and the caches of one controller, at one step. */
export interface CachedView {
  /** The stored versions of each object, in order of time. */
  readonly stored: ReadonlyMap<RunObject, readonly KnownVersion[]>;
  readonly cached: ReadonlyMap<RunObject, KnownVersion>;
  /** Resources that the controller caches. */
  readonly resources: ReadonlySet<string>;
}

/** @param until - Index of the first step that is excluded. */
export function cachedViewAt(steps: readonly TraceStep[], until: number, actor: string): CachedView {
  const stored = new Map<RunObject, KnownVersion[]>();
  let cached = new Map<RunObject, KnownVersion>();
  const resources = new Set<string>();
  let knownLife: number | undefined;
  for (const [index, step] of steps.entries()) {
    const { kind, atMs, life, object, version } = step;
    const isDelivered = kind === "cache" && step.actor === actor;
    if (isDelivered && object !== undefined) resources.add(object.resource);
    if (index >= until || object === undefined) continue;
    if (kind === "change") {
      const history = stored.get(object);
      if (history === undefined) stored.set(object, [{ object: version, atMs }]);
      else history.push({ object: version, atMs });
    }
    if (!isDelivered) continue;
    // A restarted controller begins with empty caches.
    if (life !== knownLife) cached = new Map();
    knownLife = life;
    cached.set(object, { object: version, atMs });
  }
  return { stored, cached, resources };
}

/** Describes the objects whose cached version differs from the stored one. */
export function cacheDifferences(
  { stored, cached, resources }: CachedView,
  objects: ReadonlySet<RunObject>,
  time: (atMs: number) => string,
): { readonly object: RunObject; readonly text: string }[] {
  return [...objects].flatMap((object) => {
    const history = stored.get(object);
    // Versions that were stored before the first record are not known.
    if (history === undefined || !resources.has(object.resource)) return [];
    const text = differenceText(history, cached.get(object), time);
    return text === undefined ? [] : { object, text: `${object.name} ${text}` };
  });
}

function differenceText(
  history: readonly KnownVersion[],
  known: KnownVersion | undefined,
  time: (atMs: number) => string,
): string | undefined {
  const { object, atMs } = history.at(-1)!;
  const [version, cachedVersion] = [object, known?.object].map((each) => each?.metadata.resourceVersion);
  if (version === cachedVersion) return undefined;
  if (object === undefined)
    return `was there, at version ${cachedVersion} of ${time(known!.atMs)}; it was gone from the store since ${time(atMs)}`;
  if (known?.object === undefined)
    return `was not there; it was stored since ${time(history[0]!.atMs)}, by then as version ${version}`;
  const news = notableChanges(fieldsOf(known.object), fieldsOf(object), true).slice(0, MAX_CHANGES);
  const missed = news.length === 0 ? "" : `; what it had not heard of: ${news.join("; ")}`;
  const cachedIndex = history.findIndex((each) => each.object?.metadata.resourceVersion === cachedVersion);
  const since = cachedIndex === -1 ? atMs : history[cachedIndex + 1]!.atMs;
  return `was at version ${cachedVersion}, received at ${time(known.atMs)}; that was out of date since ${time(since)}, and stored was version ${version}${missed}`;
}

import type { Stored } from "@kubewright/simulation";
import { notableChanges } from "@kubewright/timeline/data";

import { fieldsOf } from "./object-fields.js";
import type { RunObject } from "./run-objects.js";
import type { TraceStep } from "./trace-steps.js";

/** Changes that one sentence tells of. */
const MAX_CHANGES = 6;

/** What somebody knows of an object; `undefined`: that there is none. */
interface KnownVersion {
  readonly object: Stored | undefined;
  readonly atMs: number;
}

/** What was stored and what a controller's caches had, at a moment. */
export interface CachedView {
  /** Of each object what was stored of it until then, one after the other. */
  readonly stored: ReadonlyMap<RunObject, readonly KnownVersion[]>;
  readonly cached: ReadonlyMap<RunObject, KnownVersion>;
  /** Resources of which it has a cache. */
  readonly resources: ReadonlySet<string>;
}

/** @param until - The first step that does not count. */
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
    // A new life begins with nothing.
    if (life !== knownLife) cached = new Map();
    knownLife = life;
    cached.set(object, { object: version, atMs });
  }
  return { stored, cached, resources };
}

/** Objects that a cache had otherwise than they were stored, and how. */
export function cacheDifferences(
  { stored, cached, resources }: CachedView,
  objects: ReadonlySet<RunObject>,
  time: (atMs: number) => string,
): { readonly object: RunObject; readonly text: string }[] {
  return [...objects].flatMap((object) => {
    const history = stored.get(object);
    // What was stored before anything was told is not known.
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

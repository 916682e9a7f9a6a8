import type { Stored } from "@kubewright/simulation";
import { notableChanges } from "@kubewright/timeline/data";

import { fieldsOf } from "./object-fields.js";
import type { SeenObject } from "./seen-objects.js";
import type { ToldStep } from "./told-steps.js";

/** Changes that one sentence tells of. */
const MOST_NEWS = 6;

/** What somebody knows of an object; `undefined`: that there is none. */
interface Known {
  readonly object: Stored | undefined;
  readonly atMs: number;
}

/** What was stored and what a controller's caches had, at a moment. */
export interface Pictures {
  /** Of each object what was stored of it until then, one after the other. */
  readonly stored: ReadonlyMap<SeenObject, readonly Known[]>;
  readonly cached: ReadonlyMap<SeenObject, Known>;
  /** Resources of which it has a cache. */
  readonly resources: ReadonlySet<string>;
}

/** @param until - The first step that does not count. */
export function picturesAt(steps: readonly ToldStep[], until: number, actor: string): Pictures {
  const stored = new Map<SeenObject, Known[]>();
  let cached = new Map<SeenObject, Known>();
  const resources = new Set<string>();
  let known: number | undefined;
  for (const [index, step] of steps.entries()) {
    const { kind, atMs, life, object, version } = step;
    const isHeard = kind === "cache" && step.actor === actor;
    if (isHeard && object !== undefined) resources.add(object.resource);
    if (index >= until || object === undefined) continue;
    if (kind === "change") {
      const history = stored.get(object);
      if (history === undefined) stored.set(object, [{ object: version, atMs }]);
      else history.push({ object: version, atMs });
    }
    if (!isHeard) continue;
    // A new life begins with nothing.
    if (life !== known) cached = new Map();
    known = life;
    cached.set(object, { object: version, atMs });
  }
  return { stored, cached, resources };
}

/** Objects that a cache had otherwise than they were stored, and how. */
export function differencesIn(
  { stored, cached, resources }: Pictures,
  objects: ReadonlySet<SeenObject>,
  time: (atMs: number) => string,
): { readonly object: SeenObject; readonly text: string }[] {
  return [...objects].flatMap((object) => {
    const history = stored.get(object);
    // What was stored before anything was told is not known.
    if (history === undefined || !resources.has(object.resource)) return [];
    const text = differenceText(history, cached.get(object), time);
    return text === undefined ? [] : { object, text: `${object.name} ${text}` };
  });
}

function differenceText(
  history: readonly Known[],
  known: Known | undefined,
  time: (atMs: number) => string,
): string | undefined {
  const { object, atMs } = history.at(-1)!;
  const [version, had] = [object, known?.object].map((each) => each?.metadata.resourceVersion);
  if (version === had) return undefined;
  if (object === undefined)
    return `was there, at version ${had} of ${time(known!.atMs)}; it was gone from the store since ${time(atMs)}`;
  if (known?.object === undefined)
    return `was not there; it was stored since ${time(history[0]!.atMs)}, by then as version ${version}`;
  const news = notableChanges(fieldsOf(known.object), fieldsOf(object), true).slice(0, MOST_NEWS);
  const missed = news.length === 0 ? "" : `; what it had not heard of: ${news.join("; ")}`;
  const same = history.findIndex((each) => each.object?.metadata.resourceVersion === had);
  const since = same === -1 ? atMs : history[same + 1]!.atMs;
  return `was at version ${had}, and had heard so at ${time(known.atMs)}; that was out of date since ${time(since)}, and stored was version ${version}${missed}`;
}

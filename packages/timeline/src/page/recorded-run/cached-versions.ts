import type { RecordedRun } from "../../data/recorded-run.js";

/** A version from a step on; `undefined` when the object does not exist or is not cached. */
export interface VersionSpan {
  readonly from: number;
  readonly version: number | undefined;
}

/** The stored version and the cached versions of each object, at every step. */
export class CachedVersions {
  readonly #store = new Map<number, VersionSpan[]>();
  readonly #caches = new Map<number, Map<number, VersionSpan[]>>();
  /** Cached resources by actor. */
  readonly #resources = new Map<number, Set<string>>();
  /** Step of the first cache event by actor. */
  readonly #startSteps = new Map<number, number>();

  constructor({ steps, initialVersions, objects }: RecordedRun) {
    for (const [object, version] of initialVersions.store) this.#store.set(object, [{ from: 0, version }]);
    const lives = new Map(initialVersions.incarnations);
    for (const [actor, object, version] of initialVersions.caches) {
      this.#cacheOf(actor).set(object, [{ from: 0, version }]);
      this.#startSteps.set(actor, 0);
      this.#cached(actor, objects[object]!.resource);
    }
    for (const [from, { kind, actor, incarnation = 1, object, version }] of steps.entries()) {
      if (object === undefined) continue;
      if (kind === "change") add(this.#store, object, { from, version });
      if (kind !== "cache" || actor === undefined) continue;
      const cache = this.#cacheOf(actor);
      if (!this.#startSteps.has(actor)) this.#startSteps.set(actor, from);
      if ((lives.get(actor) ?? incarnation) !== incarnation)
        for (const spans of cache.values())
          if (spans.at(-1)!.version !== undefined) spans.push({ from, version: undefined });
      lives.set(actor, incarnation);
      add(cache, object, { from, version });
      this.#cached(actor, objects[object]!.resource);
    }
  }

  stored(object: number): readonly VersionSpan[] {
    return this.#store.get(object) ?? [];
  }

  cached(actor: number, object: number): readonly VersionSpan[] {
    return this.#caches.get(actor)?.get(object) ?? [];
  }

  /** Returns the step before which the actor has no caches that could be stale. */
  startSteps(actor: number): number {
    return this.#startSteps.get(actor) ?? 0;
  }

  /** Returns whether the actor caches the resource. */
  caches(actor: number, resource: string): boolean {
    return this.#resources.get(actor)?.has(resource) ?? false;
  }

  #cacheOf(actor: number): Map<number, VersionSpan[]> {
    let cache = this.#caches.get(actor);
    if (cache === undefined) this.#caches.set(actor, (cache = new Map()));
    return cache;
  }

  #cached(actor: number, resource: string): void {
    const known = this.#resources.get(actor);
    if (known === undefined) this.#resources.set(actor, new Set([resource]));
    else known.add(resource);
  }
}

/** Returns the version after a step. */
export function versionAt(spans: readonly VersionSpan[], step: number): number | undefined {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (spans[middle]!.from <= step) low = middle + 1;
    else high = middle;
  }
  return spans[low - 1]?.version;
}

/** A range of steps, `to` exclusive, in which neither the stored nor the cached version changes. */
export interface StalenessSpan {
  readonly from: number;
  readonly to: number;
  readonly version: number | undefined;
  /** Whether the stored version differs from the cached one. */
  readonly isStale: boolean;
}

/** Splits the cached versions at each change of the cached or the stored version. */
export function stalenessSpans(
  cached: readonly VersionSpan[],
  stored: readonly VersionSpan[],
  steps: number,
): StalenessSpan[] {
  const cuts = [...new Set([...cached, ...stored].map(({ from }) => from))].sort((a, b) => a - b);
  const found: StalenessSpan[] = [];
  for (const [index, from] of cuts.entries()) {
    const version = versionAt(cached, from);
    const isStale = version !== versionAt(stored, from);
    const latest = found.at(-1);
    const to = cuts[index + 1] ?? steps;
    if (latest !== undefined && latest.version === version && latest.isStale === isStale)
      found[found.length - 1] = { ...latest, to };
    else found.push({ from, to, version, isStale });
  }
  return found;
}

function add(known: Map<number, VersionSpan[]>, object: number, span: VersionSpan): void {
  const spans = known.get(object);
  if (spans === undefined) known.set(object, [span]);
  else spans.push(span);
}

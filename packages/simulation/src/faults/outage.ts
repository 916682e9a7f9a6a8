import type { Draw } from "../generate/draw.js";
import { durationText } from "../generate/duration-text.js";
import type { CacheSelection } from "./draws.js";
import type { RequestSelection } from "./requests.js";

/** An event of an outage of watches, delayed relative to the first. */
export type OutageEvent = {
  readonly for?: string;
  readonly afterMs?: number;
  readonly requestFails?: RequestSelection & { readonly with: 503 };
  readonly watchCut?: CacheSelection & { readonly compacted: boolean };
};

/**
 * Watches end and cannot be reopened for a while; then the missed versions are compacted. The controller lists again,
 * and objects that were deleted meanwhile are missing from the list.
 */
export function outage(cache: CacheSelection, forMs: number, isForgotten = true): readonly OutageEvent[] {
  const { controller, kinds } = cache;
  const resources = kinds.map((kind) => `${kind.toLowerCase()}s`);
  return [
    {
      for: durationText(forMs),
      requestFails: { components: [controller], verbs: ["list", "watch"], resources, with: 503 },
    },
    { watchCut: { ...cache, compacted: false } },
    ...(isForgotten ? [{ afterMs: forMs, watchCut: { ...cache, compacted: true } }] : []),
  ];
}

export function drawOutage(draw: Draw, cache: CacheSelection, isForgotten = true): readonly OutageEvent[] {
  const forMs = draw.fork("outage for").weighted([
    [draw.fork("short outage").integer(500, 3_000), 40],
    [draw.fork("long outage").integer(5_000, 90_000), 60],
  ]);
  return outage(cache, forMs, isForgotten);
}

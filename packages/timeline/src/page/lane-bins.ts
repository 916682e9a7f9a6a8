import { LOOKS, type Look } from "./item.js";
import type { Lane } from "./lane.js";
import { type TimeScale, roundStep } from "./time-scale.js";

/** How much of a lane begins in one stretch of time. */
export interface LaneBin {
  readonly fromMs: number;
  readonly toMs: number;
  readonly total: number;
  /** Those of which there are any. */
  readonly counts: ReadonlyMap<Look, number>;
}

/** A bin is at least this wide, and less than twice that. */
const BIN_PX = 18;
/** Marks of a lane that are closer together than this, on average, cannot be told apart: discs and diamonds, and bars. */
const MARK_PX = 11;
const BAR_PX = 7;
/** Fewer are drawn one by one all the same. */
const MIN_ITEMS = 12;

/** What to draw instead of the single bars of a lane when they are too close together; `undefined` when they are not. */
export function laneBins(lane: Lane, scale: TimeScale): readonly LaneBin[] | undefined {
  const { fromMs, toMs, width } = scale;
  const apartMs = ((toMs - fromMs) / width) * (lane.isOfMoments ? MARK_PX : BAR_PX);
  const stepMs = roundStep(scale, BIN_PX);
  const bins: LaneBin[] = [];
  let total = 0;
  for (let binMs = Math.floor(fromMs / stepMs) * stepMs; binMs <= toMs; binMs += stepMs) {
    const counts = new Map<Look, number>();
    let count = 0;
    for (const look of LOOKS) {
      const found = lane.countBetween(look, binMs, binMs + stepMs);
      if (found > 0) counts.set(look, found);
      count += found;
    }
    if (count > 0) bins.push({ fromMs: binMs, toMs: binMs + stepMs, total: count, counts });
    total += count;
  }
  return total >= MIN_ITEMS && total * apartMs > bins.length * stepMs ? bins : undefined;
}

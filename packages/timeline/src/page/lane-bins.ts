import { LOOKS, type Look } from "./item.js";
import type { Lane } from "./lane.js";
import { type TimeScale, roundStep } from "./time-scale.js";

/** Number of items of a lane that begin in one time interval. */
export interface LaneBin {
  readonly fromMs: number;
  readonly toMs: number;
  readonly total: number;
  /** Looks with at least one item. */
  readonly counts: ReadonlyMap<Look, number>;
}

/** Minimum width of a bin. A bin is less than twice as wide. */
const BIN_PX = 18;
/** Marks of a lane with a smaller average distance are indistinguishable: discs and diamonds, and bars. */
const MARK_PX = 11;
const BAR_PX = 7;
/** Lanes with fewer items are always drawn individually. */
const MIN_ITEMS = 12;

/** Returns the bins to draw instead of single bars when the bars are too dense, otherwise `undefined`. */
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

import type { CalendarBins } from "./calendar-bins.js";
import { LOOKS, type Look } from "./item.js";
import type { Lane } from "./lane.js";
import type { TimeScale } from "./time-scale.js";

/** Number of items of a lane that begin in one interval of the calendar. */
export interface LaneBin {
  readonly fromMs: number;
  readonly toMs: number;
  readonly total: number;
  /** Looks with at least one item. */
  readonly counts: ReadonlyMap<Look, number>;
}

/** Marks of a lane with a smaller average distance are indistinguishable: discs and diamonds, and bars. */
const MARK_PX = 11;
const BAR_PX = 7;
/** Lanes with fewer items are always drawn individually. */
const MIN_ITEMS = 12;

/** Returns the bins to draw instead of single bars when the bars are too dense, otherwise `undefined`. */
export function laneBins(lane: Lane, scale: TimeScale, { edgesMs }: CalendarBins): readonly LaneBin[] | undefined {
  const { fromMs, toMs, width } = scale;
  const apartMs = ((toMs - fromMs) / width) * (lane.isOfMoments ? MARK_PX : BAR_PX);
  const bins: LaneBin[] = [];
  let [total, coveredMs] = [0, 0];
  for (let index = 1; index < edgesMs.length; index++) {
    const [binMs, endMs] = [edgesMs[index - 1]!, edgesMs[index]!];
    const counts = new Map<Look, number>();
    let count = 0;
    for (const look of LOOKS) {
      const found = lane.countBetween(look, binMs, endMs);
      if (found > 0) counts.set(look, found);
      count += found;
    }
    if (count === 0) continue;
    bins.push({ fromMs: binMs, toMs: endMs, total: count, counts });
    total += count;
    coveredMs += endMs - binMs;
  }
  return total >= MIN_ITEMS && total * apartMs > coveredMs ? bins : undefined;
}

import { formatDuration } from "../time/duration.js";
import { SKIP_REASON_TEXTS, type SkipReason } from "../text/run-row-text.js";
import type { ZonedClock } from "../time/zoned-clock.js";
import type { FoldedRows } from "./run-digest.js";

/** `… 9,879 more until 01-31 23:55, all Complete in 10s`; with several kinds, the count of each. */
export function foldedText({ toMs, counts, tookMs }: FoldedRows, clock: ZonedClock): string {
  const kinds = [...counts].sort(([, a], [, b]) => b - a);
  const total = kinds.reduce((sum, [, count]) => sum + count, 0);
  const until = `… ${total.toLocaleString("en-US")} more until ${clock.short(toMs)}`;
  const [only] = kinds;
  if (kinds.length === 1 && only !== undefined)
    return `${until}, ${total > 1 ? "all " : ""}${kindText(only[0], tookMs)}`;
  return `${until}: ${kinds.map(([kind, count]) => `${count.toLocaleString("en-US")} ${kindText(kind, tookMs)}`).join(", ")}`;
}

function kindText(kind: string, tookMs: FoldedRows["tookMs"]): string {
  if (kind === "Complete" && tookMs !== undefined) return `Complete in ${rangeText(tookMs)}`;
  const skipped = /^skipped: (.*)$/.exec(kind)?.[1];
  return skipped === undefined ? kind : `skipped (${SKIP_REASON_TEXTS[skipped as SkipReason]})`;
}

/** `10s`, or `10s..12s`. */
function rangeText([min, max]: readonly [number, number]): string {
  const [from, to] = [formatDuration(min), formatDuration(max)];
  return from === to ? from : `${from}..${to}`;
}

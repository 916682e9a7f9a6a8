import { TimeZoneCache } from "@kubewright/cron";

import { nextSlotMs } from "../clock-effects.js";
import { formatDuration } from "../duration.js";
import { SKIP_REASON_TEXTS, neverText } from "../run-row-text.js";
import { ZonedClock } from "../zoned-clock.js";
import { zoneOf } from "../zone-of.js";
import type { DigestGroup } from "./run-digest.js";
import { type Occurrences, totalOf } from "./run-statistics.js";

/** Something of a CronJob or a Job that its owner will want to know. */
export interface Highlight {
  /** `default/report` */
  readonly object: string;
  readonly text: string;
  /** The greater, the sooner it is told. */
  readonly rank: number;
}

/** What to look at first: what never works before what fails now and then, before what is skipped, late or long. */
const RANKS = {
  never: 100,
  withoutNode: 90,
  failed: 80,
  noSuchTime: 70,
  skipped: 60,
  deleted: 50,
  late: 40,
  suspended: 35,
  unfinished: 30,
  long: 20,
  overlap: 10,
} as const;

/** A longest run is told of that takes so many times as long as the 95th percentile, and so much longer. */
const LONG_FACTOR = 2;
const LONG_MS = 60_000;

/** Findings of all groups, the weightiest first; among equals the one that concerns more of a CronJob's runs. */
export function findHighlights(groups: readonly DigestGroup[], startMs: number): Highlight[] {
  const zones = new TimeZoneCache();
  return groups.flatMap((group) => highlightsOf(group, startMs, zones)).sort((a, b) => b.rank - a.rank);
}

function highlightsOf({ group, statistics }: DigestGroup, startMs: number, zones: TimeZoneCache): Highlight[] {
  const clock = new ZonedClock(zoneOf(group), zones);
  const object = `${group.namespace}/${group.name}`;
  const { cronJob } = group;
  const found: Highlight[] = [];
  const all = Math.max(1, statistics.runs + totalOf(statistics.skipped));
  // Less than the distance of two ranks.
  const add = (kind: keyof typeof RANKS, share: number, text: string): void =>
    void found.push({ object, text, rank: RANKS[kind] + Math.min(9, (9 * share) / all) });
  if (cronJob !== undefined && !cronJob.suspend && nextSlotMs(cronJob, startMs, zones) === undefined)
    add("never", all, `${JSON.stringify(cronJob.schedule)} runs ${neverText(startMs)}`);
  if (cronJob?.suspend === true && statistics.runs === 0) add("suspended", all, "is suspended: no run starts");
  const { withoutNode, failed, skipped, replaced, deleted, late, unfinished, longest, durations } = statistics;
  if (withoutNode.count > 0)
    add(
      "withoutNode",
      withoutNode.count,
      `${countText(withoutNode.count, "run")} waited for a node: ${withoutNode.message}${timeRangeText(withoutNode, clock)}`,
    );
  for (const [reason, occurrences] of failed) {
    const which =
      group.kind === "Job"
        ? ""
        : `${occurrences.count.toLocaleString("en-US")} of ${countText(statistics.runs, "run")} `;
    add("failed", occurrences.count, `${which}failed: ${reason}${timeRangeText(occurrences, clock)}`);
  }
  for (const [cause, occurrences] of skipped) {
    const isLost = cause === "noSuchTime";
    // What the clock leaves out is said with its time of day, which no instant has.
    const isOne = occurrences.count === 1 || occurrences.text === SKIP_REASON_TEXTS[cause];
    const first = isOne ? "" : ` (the first: ${occurrences.text})`;
    const why = isLost
      ? occurrences.text
      : `${isOne ? occurrences.text : SKIP_REASON_TEXTS[cause]}${timeRangeText(occurrences, clock)}${first}`;
    add(isLost ? "noSuchTime" : "skipped", occurrences.count, `${countText(occurrences.count, "run")} skipped: ${why}`);
  }
  if (replaced.count > 0)
    add(
      "deleted",
      replaced.count,
      `${countText(replaced.count, "run")} deleted before the end for the next (Replace)${timeRangeText(replaced, clock)}`,
    );
  if (deleted.count > 0)
    add(
      "deleted",
      deleted.count,
      `${countText(deleted.count, "run")} deleted before the end${timeRangeText(deleted, clock)}`,
    );
  if (late.count > 0)
    add(
      "late",
      late.count,
      `${countText(late.count, "run")} started late, by ${formatDuration(late.worstMs)} at most${timeRangeText(late, clock)}`,
    );
  if (group.kind === "CronJob" && unfinished.count > statistics.maxConcurrent / 2 && unfinished.count > 1)
    add(
      "unfinished",
      unfinished.count,
      `${countText(unfinished.count, "run")} had not ended with the window${timeRangeText(unfinished, clock)}`,
    );
  const p95 = durations.quantile(0.95);
  if (
    longest !== undefined &&
    p95 !== undefined &&
    durations.size >= LONG_FACTOR * 10 &&
    longest.tookMs > LONG_FACTOR * p95 &&
    longest.tookMs - p95 > LONG_MS
  )
    add(
      "long",
      1,
      `the longest run took ${formatDuration(longest.tookMs)}, 95% of them ${formatDuration(p95)} or less: ${longest.name}`,
    );
  if (group.kind === "CronJob" && statistics.overlaps > 0)
    add(
      "overlap",
      statistics.overlaps,
      `${countText(statistics.overlaps, "run")} began while another was active, up to ${statistics.maxConcurrent} at once (${cronJob?.concurrencyPolicy ?? "Allow"})`,
    );
  return found;
}

function countText(count: number, word: string): string {
  return `${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`;
}

/** `; first Sat 2026-03-28 02:30 +01:00`, and the last. */
function timeRangeText({ count, firstMs, lastMs }: Occurrences, clock: ZonedClock): string {
  if (count === 1 || firstMs === lastMs) return `; ${clock.brief(firstMs)}`;
  return `; from ${clock.brief(firstMs)} to ${clock.brief(lastMs)}`;
}

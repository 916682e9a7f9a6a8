import { TimeZoneCache } from "@kubewright/cron";

import { nextSlotMs } from "../clock-effects.js";
import { formatDuration } from "../duration.js";
import { SKIP_WORDS, neverText } from "../run-words.js";
import { ZonedClock } from "../zoned-clock.js";
import { zoneOf } from "../zone-of.js";
import type { DigestGroup } from "./run-digest.js";
import { type Tally, totalOf } from "./run-statistics.js";

/** Something of a CronJob or a Job that its owner will want to know. */
export interface Finding {
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
export function worthALook(groups: readonly DigestGroup[], startMs: number): Finding[] {
  const zones = new TimeZoneCache();
  return groups.flatMap((group) => findingsOf(group, startMs, zones)).sort((a, b) => b.rank - a.rank);
}

function findingsOf({ group, statistics }: DigestGroup, startMs: number, zones: TimeZoneCache): Finding[] {
  const clock = new ZonedClock(zoneOf(group), zones);
  const object = `${group.namespace}/${group.name}`;
  const { cronJob } = group;
  const found: Finding[] = [];
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
      `${counted(withoutNode.count, "run")} waited for a node: ${withoutNode.message}${when(withoutNode, clock)}`,
    );
  for (const [reason, tally] of failed) {
    const which =
      group.kind === "Job" ? "" : `${tally.count.toLocaleString("en-US")} of ${counted(statistics.runs, "run")} `;
    add("failed", tally.count, `${which}failed: ${reason}${when(tally, clock)}`);
  }
  for (const [cause, tally] of skipped) {
    const isLost = cause === "noSuchTime";
    // What the clock leaves out is said with its time of day, which no instant has.
    const isOne = tally.count === 1 || tally.text === SKIP_WORDS[cause];
    const first = isOne ? "" : ` (the first: ${tally.text})`;
    const why = isLost ? tally.text : `${isOne ? tally.text : SKIP_WORDS[cause]}${when(tally, clock)}${first}`;
    add(isLost ? "noSuchTime" : "skipped", tally.count, `${counted(tally.count, "run")} skipped: ${why}`);
  }
  if (replaced.count > 0)
    add(
      "deleted",
      replaced.count,
      `${counted(replaced.count, "run")} deleted before the end for the next (Replace)${when(replaced, clock)}`,
    );
  if (deleted.count > 0)
    add("deleted", deleted.count, `${counted(deleted.count, "run")} deleted before the end${when(deleted, clock)}`);
  if (late.count > 0)
    add(
      "late",
      late.count,
      `${counted(late.count, "run")} started late, by ${formatDuration(late.worstMs)} at most${when(late, clock)}`,
    );
  if (group.kind === "CronJob" && unfinished.count > statistics.mostAtOnce / 2 && unfinished.count > 1)
    add(
      "unfinished",
      unfinished.count,
      `${counted(unfinished.count, "run")} had not ended with the window${when(unfinished, clock)}`,
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
      `${counted(statistics.overlaps, "run")} began while another was active, up to ${statistics.mostAtOnce} at once (${cronJob?.concurrencyPolicy ?? "Allow"})`,
    );
  return found;
}

function counted(count: number, word: string): string {
  return `${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`;
}

/** `; first Sat 2026-03-28 02:30 +01:00`, and the last. */
function when({ count, firstMs, lastMs }: Tally, clock: ZonedClock): string {
  if (count === 1 || firstMs === lastMs) return `; ${clock.brief(firstMs)}`;
  return `; from ${clock.brief(firstMs)} to ${clock.brief(lastMs)}`;
}

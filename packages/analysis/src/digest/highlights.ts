import { TimeZoneCache } from "@kubewright/cron";

import { nextSlotMs } from "../time/clock-effects.js";
import { formatDuration } from "../time/duration.js";
import { SKIP_REASON_TEXTS, neverText } from "../text/run-row-text.js";
import { ZonedClock } from "../time/zoned-clock.js";
import { zoneOf } from "../time/zone-of.js";
import type { DigestGroup } from "./run-digest.js";
import { type RefusalCause, refusalCauses } from "./refusal-causes.js";
import { type Occurrences, totalOf } from "./run-statistics.js";

/** A remark about a CronJob or Job that its owner should know, or about an object that refuses their pods. */
export interface Highlight {
  /** `default/report`, or for an object that refuses pods `ResourceQuota default/compute` */
  readonly object: string;
  readonly text: string;
  /** Highlights with a higher rank come first. */
  readonly rank: number;
}

/**
 * Order of importance: what keeps pods from running first, because other problems follow from it. Permanent problems
 * come before occasional failures, and failures before skipped, late or long runs.
 */
const RANKS = {
  refused: 120,
  withoutNode: 110,
  never: 100,
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

/** The longest run is a highlight if it exceeds the 95th percentile by this factor and by this time. */
const LONG_FACTOR = 2;
const LONG_MS = 60_000;

/** Returns the highlights of all groups, ordered by rank; within a rank by the share of the CronJob's runs. */
export function findHighlights(groups: readonly DigestGroup[], startMs: number): Highlight[] {
  const zones = new TimeZoneCache();
  return [
    ...refusalCauses(groups).map((cause) => refusalHighlight(cause)),
    ...groups.flatMap((group) => highlightsOf(group, startMs, zones)),
  ].sort((a, b) => b.rank - a.rank);
}

/** Maximum number of affected CronJobs and Jobs in the text of a refusal. */
const MAX_NAMES = 3;

/** Returns the refusing object, what it prevents, and for which CronJobs and Jobs. Times are in UTC. */
function refusalHighlight({
  object,
  text,
  runs,
  withoutPods,
  slots,
  workloads,
  firstMs,
  lastMs,
}: RefusalCause): Highlight {
  const [first = "", ...others] = workloads;
  const names = others.length < MAX_NAMES ? workloads : [first, ...others.slice(0, MAX_NAMES - 1)];
  const more = workloads.length - names.length;
  const whose = `${names.join(", ")}${more > 0 ? ` and ${more.toLocaleString("en-US")} more` : ""}`;
  const refused = [
    withoutPods > 0 ? `no pod created for ${countText(withoutPods, "run")}` : "",
    runs > withoutPods ? `pods of ${countText(runs - withoutPods, "run")} refused` : "",
    slots > 0 ? `no Job created for ${countText(slots, "slot")}` : "",
  ].filter((part) => part !== "");
  const subject = object ?? first;
  const of = subject === first && others.length === 0 ? "" : ` of ${whose}`;
  const when = timeRangeText({ count: runs + slots, firstMs, lastMs }, new ZonedClock("UTC"));
  return { object: subject, text: `${refused.join(", ")}${of}: ${text}${when}`, rank: RANKS.refused };
}

function highlightsOf({ group, statistics }: DigestGroup, startMs: number, zones: TimeZoneCache): Highlight[] {
  const clock = new ZonedClock(zoneOf(group), zones);
  const object = `${group.namespace}/${group.name}`;
  const { cronJob } = group;
  const found: Highlight[] = [];
  const all = Math.max(1, statistics.runs + totalOf(statistics.skipped));
  // The added value is less than the difference of two ranks.
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
    // A highlight about the refusing object counts these slots.
    if (cause === "refused") continue;
    const isLost = cause === "noSuchTime";
    // A slot that a clock change skips has a time of day but no instant; its text has the time of day.
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

/** `; Sat 2026-03-28 02:30 +01:00`; for several times, the first and the last. */
function timeRangeText({ count, firstMs, lastMs }: Occurrences, clock: ZonedClock): string {
  if (count === 1 || firstMs === lastMs) return `; ${clock.brief(firstMs)}`;
  return `; from ${clock.brief(firstMs)} to ${clock.brief(lastMs)}`;
}

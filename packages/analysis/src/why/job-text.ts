import { formatDuration } from "../time/duration.js";
import { ZonedClock } from "../time/zoned-clock.js";
import { eventBlock } from "./cron-job-text.js";
import type { JobCounts, JobExplanation } from "./explain-job.js";
import { ago, relative } from "./moments.js";
import type { PodFact } from "./pod-facts.js";
import { type TextOptions, block, table } from "./text-block.js";

/** Returns the explanation of a Job as text. */
export function jobText(explained: JobExplanation, options: TextOptions): string {
  const { style } = options;
  const { atMs, state, pods, kubernetes } = explained;
  const clock = new ZonedClock("UTC");
  const paint = state === "Failed" ? style.red : state === "Complete" ? style.green : undefined;
  const now = explained.now.map(({ message }) => message);
  return [
    `${style.bold(`Job ${explained.namespace}/${explained.name}`)}  ${style.dim(`as of ${clock.brief(atMs)}${kubernetes === undefined ? "" : `, by Kubernetes ${kubernetes}`}`)}\n`,
    block("State", stateLines(explained, clock), options, paint),
    block("Counts", [countsLine(explained.counts)], options),
    block("Now", now, options),
    block("Next", nextLines(explained, clock), options),
    block("Pods", pods === undefined ? [] : podLines(pods, explained, clock), options),
    eventBlock(explained.events, clock, options),
    block("Note", explained.notes, options, style.yellow),
  ].join("");
}

function stateLines(
  { state, condition, cronJob, startMs, createdMs, endMs, atMs }: JobExplanation,
  clock: ZonedClock,
): string[] {
  const begun = startMs === undefined ? `created ${clock.brief(createdMs)}` : `started ${clock.brief(startMs)}`;
  const took = formatDuration(Math.max(0, (endMs ?? atMs) - (startMs ?? createdMs)));
  const time = endMs === undefined ? `for ${took}` : `after ${took}, ${ago(endMs, atMs)}`;
  const lines = [`${state} ${time}, ${begun}`];
  if (condition !== undefined)
    lines.push(`${condition.type}: ${condition.reason}${condition.message === "" ? "" : `: ${condition.message}`}`);
  if (cronJob !== undefined)
    lines.push(
      `run of CronJob ${cronJob.name}${cronJob.slotMs === undefined ? "" : ` for ${clock.brief(cronJob.slotMs)}`}`,
    );
  return lines;
}

function countsLine(counts: JobCounts): string {
  const { completions, active, ready, terminating, succeeded, failed, backoffLimit, backoffLimitPerIndex } = counts;
  return [
    `${succeeded}${completions === undefined ? "" : ` of ${completions}`} succeeded`,
    `${failed} failed${backoffLimit === undefined || backoffLimitPerIndex !== undefined ? "" : ` (backoffLimit ${backoffLimit})`}`,
    `${active} active, ${ready} ready`,
    ...(terminating > 0 ? [`${terminating} terminating`] : []),
    ...(counts.completedIndexes === undefined ? [] : [`completed indexes ${counts.completedIndexes}`]),
    ...(counts.failedIndexes === undefined ? [] : [`failed indexes ${counts.failedIndexes}`]),
    ...(backoffLimitPerIndex === undefined ? [] : [`backoffLimitPerIndex ${backoffLimitPerIndex}`]),
    ...(counts.maxFailedIndexes === undefined ? [] : [`maxFailedIndexes ${counts.maxFailedIndexes}`]),
  ].join(" · ");
}

function nextLines({ wakeMs, deadlineMs, deletionMs, atMs }: JobExplanation, clock: ZonedClock): string[] {
  const line = (label: string, timeMs: number): string => `${label} ${clock.brief(timeMs)}, ${relative(timeMs, atMs)}`;
  const lines: string[] = [];
  if (wakeMs !== undefined && wakeMs !== deadlineMs) lines.push(line("looks again", wakeMs));
  if (deadlineMs !== undefined) lines.push(line("activeDeadlineSeconds ends it", deadlineMs));
  if (deletionMs !== undefined) lines.push(line("deleted (ttlSecondsAfterFinished)", deletionMs));
  return lines;
}

function podLines(pods: readonly PodFact[], { podsNotShown, atMs }: JobExplanation, clock: ZonedClock): string[] {
  if (pods.length === 0) return ["none"];
  const rows = pods.map((pod) => [
    pod.name,
    ...(pods.some(({ index }) => index !== undefined) ? [pod.index === undefined ? "" : `index ${pod.index}`] : []),
    pod.deleting ? `${pod.phase}, terminating` : pod.phase,
    clock.brief(pod.createdMs),
    podNote(pod, atMs),
  ]);
  return [...table(rows), ...(podsNotShown > 0 ? [`… and ${podsNotShown} more`] : [])];
}

function podNote({ startMs, endMs, exitCode, reason, message, restarts, phase, node }: PodFact, nowMs: number): string {
  const ran = startMs === undefined ? "" : formatDuration(Math.max(0, (endMs ?? nowMs) - startMs));
  return [
    ...(ran === "" ? [] : [endMs === undefined ? `for ${ran}` : `ran ${ran}`]),
    ...(exitCode === undefined || (exitCode === 0 && phase === "Succeeded") ? [] : [`exit code ${exitCode}`]),
    ...(reason === undefined ? [] : [message === undefined ? reason : `${reason}: ${message}`]),
    ...(restarts > 0 ? [`${restarts} restart${restarts === 1 ? "" : "s"}`] : []),
    ...(node === undefined ? [] : [`on ${node}`]),
  ].join(", ");
}

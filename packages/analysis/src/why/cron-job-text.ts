import { formatTime } from "@kubewright/api";

import { formatDuration } from "../time/duration.js";
import { lateText, neverText, durationMsOf } from "../text/run-row-text.js";
import { ZonedClock } from "../time/zoned-clock.js";
import type { CronJobExplanation, HistoryFacts, NextRuns } from "./explain-cron-job.js";
import type { EventFact } from "./explain-events.js";
import { relative } from "./moments.js";
import type { MissedRuns } from "./missed-runs.js";
import type { PastRun } from "./past-runs.js";
import type { EditExplanation } from "./schedule-edit.js";
import { type TextOptions, block, table } from "./text-block.js";

/** Maximum number of runs listed. The others are counted. */
const MAX_RUNS = 8;

/** Returns the explanation of a CronJob as text. */
export function cronJobText(explained: CronJobExplanation, options: TextOptions): string {
  const { style } = options;
  const { schedule, next, atMs, now } = explained;
  const clock = new ZonedClock(schedule.timeZone);
  const wakeNotes = now.wakeMs === undefined ? ["syncs again only when something changes"] : [];
  return [
    `${style.bold(`CronJob ${explained.namespace}/${explained.name}`)}  ${style.dim(`as of ${clock.brief(atMs)}`)}\n`,
    block("Schedule", scheduleLines(explained), options),
    block("Now", [now.message, ...wakeNotes], options, paintOf(explained, options)),
    block(next.holds === "asItIs" ? "Next" : "If resumed", nextLines(explained, clock), options),
    block(
      "Missed",
      explained.missed.map((missed) => missedLine(missed, clock)),
      options,
      style.yellow,
    ),
    block("Runs", runLines(explained.runs, explained.skipped, atMs, clock), options),
    block("History", [historyLine(explained.history)], options),
    eventBlock(explained.events, clock, options),
    block("Note", explained.notes, options, style.yellow),
  ].join("");
}

function paintOf({ now }: CronJobExplanation, { style }: TextOptions): (text: string) => string {
  switch (now.outcome) {
    case "ran":
    case "replaced":
    case "adopted":
      return style.green;
    case "skipped":
      return style.yellow;
    case "stopped":
    case "alreadyExists":
    case "failed":
      return style.red;
    default:
      return (text) => text;
  }
}

function scheduleLines({ schedule, concurrencyPolicy, suspended, ...explained }: CronJobExplanation): string[] {
  const facts = [
    JSON.stringify(schedule.text),
    schedule.timeZone,
    concurrencyPolicy,
    ...(explained.startingDeadlineSeconds === undefined
      ? []
      : [`startingDeadlineSeconds ${explained.startingDeadlineSeconds}`]),
    ...(suspended ? ["suspended"] : []),
  ];
  return [facts.join(" · ")];
}

function nextLines({ next, now, atMs: nowMs }: CronJobExplanation, clock: ZonedClock): string[] {
  const { runsMs, remarks } = next;
  if (now.reason === "invalidSchedule") return [neverText(nowMs)];
  if (runsMs.length === 0) return ["no runs to come"];
  const lines: string[] = [];
  const remaining = [...remarks];
  for (const runMs of runsMs) {
    while (remaining[0] !== undefined && remaining[0].runMs === undefined && remaining[0].atMs <= runMs)
      lines.push(`× ${remaining.shift()!.text}`);
    const remark = remaining[0]?.runMs === runMs ? `  ↻ ${remaining.shift()!.text}` : "";
    lines.push(`${clock.text(runMs)}  ${formatTime(runMs)}  ${relative(runMs, nowMs)}${remark}`);
  }
  return lines;
}

function missedLine({ count, exact, firstMs, lastMs, why }: MissedRuns, clock: ZonedClock): string {
  const number = `${exact ? "" : "about "}${count} slot${count === 1 ? "" : "s"}`;
  const until = lastMs === undefined ? "" : lastMs === firstMs ? "" : ` to ${clock.brief(lastMs)}`;
  return `${number}, ${count === 1 ? "" : "from "}${clock.brief(firstMs)}${until}: ${why}`;
}

/** Lists the runs and the skipped slots between them, newest first. */
function runLines(runs: readonly PastRun[], skipped: readonly MissedRuns[], atMs: number, clock: ZonedClock): string[] {
  if (runs.length === 0) return ["no Jobs of it are left"];
  const shown = runs.slice(0, MAX_RUNS);
  const rows = table(
    shown.map((run) => [
      run.madeByHand ? `by hand, ${clock.brief(run.createdMs)}` : clock.brief(timeOf(run)),
      run.job,
      outcomeText(run),
      run.madeByHand ? "" : lateText(run),
    ]),
  );
  const rest = runs.length - shown.length;
  const lines = shown.flatMap((run, index) => {
    const untilMs = index === 0 ? atMs : timeOf(shown[index - 1]!);
    const between = skipped.filter(({ firstMs }) => firstMs > timeOf(run) && firstMs <= untilMs);
    return [...between.map((slots) => `× ${missedLine(slots, clock)}`), rows[index]!];
  });
  return [...lines, ...(rest > 0 ? [`… and ${rest} more`] : [])];
}

function timeOf({ slotMs, createdMs }: PastRun): number {
  return slotMs ?? createdMs;
}

function outcomeText(run: PastRun): string {
  const { outcome, reason } = run;
  const tookTime = durationMsOf(run);
  const took = tookTime === undefined ? "" : formatDuration(tookTime);
  if (outcome === "Complete") return `Complete in ${took || "?"}`;
  if (outcome === "Failed") return `Failed after ${took || "?"}${reason === undefined ? "" : `: ${reason}`}`;
  return outcome;
}

function historyLine({ successful, failed, deletes }: HistoryFacts): string {
  const keptText = ({ limit, kept: count }: HistoryFacts["failed"], outcome: string): string =>
    `${count} ${outcome} kept${limit === undefined ? "" : ` of at most ${limit}`}`;
  const deletionsText = deletes.length === 0 ? "" : `; the next sync deletes ${deletes.join(", ")}`;
  return `${keptText(successful, "successful")}, ${keptText(failed, "failed")}${deletionsText}`;
}

export function eventBlock(events: readonly EventFact[], clock: ZonedClock, options: TextOptions): string {
  const lines = events.map(({ type, reason, message, subject, count, lastMs }) => {
    const times = count > 1 ? ` ×${count}` : "";
    const object = subject.startsWith("Pod ") ? `${subject}: ` : "";
    return `${clock.brief(lastMs)}  ${type === "Warning" ? "! " : ""}${reason}${times}: ${object}${message}`;
  });
  return block("Events", lines, options);
}

/** Returns the effects of a changed manifest as text. */
export function editText(edit: EditExplanation, options: TextOptions): string {
  const { style } = options;
  const title =
    edit.change === "create" ? "If the file were applied (there is no such CronJob yet)" : "If the file were applied";
  const changes = edit.changes.map(({ field, before = "not set", after = "not set" }) =>
    field === "jobTemplate"
      ? "jobTemplate: differs; runs from then on use the new one"
      : `${field}: ${before} → ${after}`,
  );
  return [
    `${style.bold(title)}\n`,
    edit.change === "create" ? "" : block("Changes", changes.length === 0 ? ["none"] : changes, options),
    block("Refused", edit.refused === undefined ? [] : [edit.refused], options, style.red),
    block("Effect", edit.effects, options, edit.firstRun === undefined ? undefined : style.green),
    block("Next", nextTable(edit), options),
    block(
      "",
      (edit.nextAfter?.remarks ?? []).map(({ text }) => `× ${text}`),
      options,
      style.yellow,
    ),
  ].join("");
}

/** Returns the next runs before and after the change, side by side. */
function nextTable({ schedule, scheduleBefore, nextBefore, nextAfter, refused }: EditExplanation): string[] {
  if (refused !== undefined) return [];
  const column = (title: string, next: NextRuns | undefined, zone: string): string[] => {
    const clock = new ZonedClock(zone);
    const runs = (next?.runsMs ?? []).map((runMs) => clock.brief(runMs));
    return [title, ...(runs.length === 0 ? ["none"] : runs)];
  };
  const after = column("after", nextAfter, schedule.timeZone);
  if (scheduleBefore === undefined) return after.slice(1);
  const before = column("before", nextBefore, scheduleBefore.timeZone);
  const rows = Math.max(before.length, after.length);
  return table(Array.from({ length: rows }, (_, index) => [before[index] ?? "", after[index] ?? ""]));
}

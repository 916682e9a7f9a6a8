import { UserError } from "@kubewright/analysis/errors";
import { parseStart } from "@kubewright/analysis/input";
import { type Style, neverText } from "@kubewright/analysis/text";
import { ZonedClock, clockRemarks, timeZoneHint } from "@kubewright/analysis/time";
import { formatTime } from "@kubewright/api";
import { realClock } from "@kubewright/clock";
import { type ScheduleExplanation, ScheduleError, explainNextRuns, timeZoneError } from "@kubewright/cron";

import { parseOutputFormat } from "../options/output-format.js";
import type { Command, CommandContext, CommandResult } from "../shell/command.js";

export interface ScheduleFlags {
  readonly timeZone: string;
  /** Default: now. */
  readonly from?: string;
  readonly count: string;
  readonly output: string;
}

const MAX_RUNS = 10_000;

/**
 * `kubewright schedule`: prints the next runs of a schedule in its zone and in UTC, and the effects of clock changes.
 */
export const scheduleCommand: Command<ScheduleFlags> = {
  argument: ["<expression...>", "five fields or a descriptor, e.g. '*/15 9-17 * * MON-FRI' or '@hourly'"],
  options: [
    ["--time-zone <zone>", "IANA time zone", "UTC"],
    ["--from <time>", "runs strictly after this time (default: now; give one for the same answer every day)"],
    ["--count <number>", "how many runs, up to 10000", "10"],
    ["-o, --output <format>", "text, or json for scripts", "text"],
  ],
  help: `
Examples:
  $ kubewright schedule '30 2 * * *' --time-zone America/New_York --from 2026-03-07T00:00:00Z --count 3
  $ kubewright schedule '*/15 9-17 * * MON-FRI' --count 1 -o json`,
  run: schedule,
};

async function schedule({ args, flags, format: { style } }: CommandContext<ScheduleFlags>): Promise<CommandResult> {
  const [expression = ""] = args;
  // Without quotes the shell expands a * to file names.
  if (args.length > 1) throw new UserError("put the schedule in quotes: kubewright schedule '0 3 * * MON'");
  const count = Number(flags.count);
  if (!/^\d+$/.test(flags.count) || count < 1 || count > MAX_RUNS)
    throw new UserError(`--count: ${JSON.stringify(flags.count)} is not a whole number from 1 to ${MAX_RUNS}`);
  const format = parseOutputFormat(flags.output);
  const fromMs = flags.from === undefined ? realClock.now() : parseStart(flags.from, "--from");
  const explanation = explain(expression, flags.timeZone, { fromMs, count });
  if (format === "text") return { text: scheduleText(expression, explanation, { fromMs, count, style }) };
  const answer = { schedule: expression, from: formatTime(fromMs), ...scheduleJson(explanation, count) };
  return { text: `${JSON.stringify(answer, undefined, 2)}\n` };
}

/** @throws UserError naming the invalid field, or suggesting a time zone. */
function explain(
  expression: string,
  timeZone: string,
  window: { readonly fromMs: number; readonly count: number },
): ScheduleExplanation {
  const zoneProblem = timeZone === "" ? "the zone is empty" : timeZoneError(timeZone);
  if (zoneProblem !== undefined) throw new UserError(`--time-zone: ${zoneProblem}${timeZoneHint(timeZone)}`);
  if (timeZone === "Local")
    throw new UserError("--time-zone: Local stands for another zone on every machine; name one, e.g. Europe/Berlin");
  try {
    return explainNextRuns(expression, { timeZone, ...window });
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    const place = error.field === undefined ? "" : `${error.field}: `;
    const zone = /^(?:CRON_)?TZ=(\S+) /.exec(expression)?.[1];
    const hint = zone === undefined || timeZoneError(zone) === undefined ? "" : timeZoneHint(zone);
    throw new UserError(`${place}${error.message}${hint}`, { cause: error });
  }
}

interface TextOptions {
  readonly fromMs: number;
  readonly count: number;
  readonly style: Style;
}

function scheduleText(
  expression: string,
  explanation: ScheduleExplanation,
  { fromMs, count, style }: TextOptions,
): string {
  const { timeZone, runs, transitions } = explanation;
  if (runs.length === 0 && isExhausted(explanation, count)) return `${neverText(fromMs)}\n`;
  const clock = new ZonedClock(timeZone);
  const remarks = clockRemarks(transitions, clock);
  const lines: string[] = [];
  for (const runMs of runs) {
    while (remarks[0] !== undefined && remarks[0].runMs === undefined && remarks[0].atMs <= runMs)
      lines.push(style.yellow(`  × ${remarks.shift()!.text}`));
    const remark = remarks[0]?.runMs === runMs ? `  ${style.yellow(`↻ ${remarks.shift()!.text}`)}` : "";
    lines.push(`${clock.text(runMs)}  ${style.dim(formatTime(runMs))}${remark}`);
  }
  if (isExhausted(explanation, count)) lines.push(style.dim("no later run within five years"));
  else if (runs.length < count) lines.push(style.dim(`no further than ${formatTime(explanation.untilMs)}`));
  if (isDelay(expression)) lines.push(style.dim(DELAY_NOTE));
  return `${lines.join("\n")}\n`;
}

const DELAY_NOTE =
  "@every counts from the last run, or from the CronJob's creation, not from the clock: here from --from.";

function isDelay(expression: string): boolean {
  return /^(?:(?:CRON_)?TZ=\S* +)?@every /.test(expression);
}

/** Returns whether there is no further run within five years of the last one. */
function isExhausted({ runs, untilMs }: ScheduleExplanation, count: number): boolean {
  return runs.length < count && untilMs === (runs.at(-1) ?? untilMs);
}

function scheduleJson(explanation: ScheduleExplanation, count: number): object {
  const { timeZone, runs, transitions } = explanation;
  const clock = new ZonedClock(timeZone);
  const at = (timeMs: number): object => ({ utc: formatTime(timeMs), local: clock.rfc3339(timeMs) });
  return {
    timeZone,
    runs: runs.map(at),
    exhausted: isExhausted(explanation, count),
    clockChanges: transitions
      .filter(({ skipped, repeated, misplaced }) => skipped.length + repeated.length + misplaced.length > 0)
      .map(({ kind, atMs, skipped, repeated, misplaced }) => ({
        kind,
        ...at(atMs),
        skipped,
        repeated: repeated.map(at),
        misplaced: misplaced.map(at),
      })),
  };
}

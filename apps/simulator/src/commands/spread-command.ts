import { formatTime } from "@kubewright/api";

import { formatDuration } from "@kubewright/analysis/time";
import { InterruptedError, ViolationsError, UserError } from "@kubewright/analysis/errors";
import type { Io } from "../io/io.js";
import { silentProgress, checkOutputs, openOutput } from "@kubewright/analysis/ports";
import { HtmlReport } from "@kubewright/analysis/reports";
import { type RunInput, type RunInputFlags, readRunInput } from "@kubewright/analysis/input";
import { printable, styleFor } from "@kubewright/analysis/text";
import {
  type Measure,
  MEASURES,
  loadCurves,
  movedManifests,
  patchText,
  scheduleChanges,
  checkSelected,
  parseSelections,
  precedencesOf,
  type SpreadResult,
  type SimulateSpreadOptions,
  simulateSpread,
  PrecedenceError,
  type Precedence,
  type SpreadPlan,
  proposeMinutes,
  type ScheduledLoad,
  type SpreadWindow,
  overhangMs,
  runsWithin,
  scheduledLoads,
  spreadJson,
  spreadReport,
  type SpreadFindings,
  spreadText,
  stampedes,
} from "@kubewright/analysis/spread";

export interface SpreadFlags extends RunInputFlags {
  readonly peak?: string;
  readonly keep?: readonly string[];
  readonly after?: readonly string[];
  readonly show: string;
  readonly json?: string;
  readonly html?: string;
  readonly patch?: string;
  /** Whether to simulate the schedules before and after. */
  readonly play: boolean;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DEFAULT_WIDTH = 120;

/** `kubewright spread`: shows when CronJobs load the cluster, and proposes minutes with a lower load. */
export async function spreadCommand(paths: readonly string[], flags: SpreadFlags, io: Io): Promise<void> {
  const target = parsePeak(flags.peak);
  const measure = parseMeasure(flags.show);
  const keep = parseSelections("--keep", flags.keep ?? []);
  const { json, html, patch } = flags;
  if (json === "-" && patch === "-") throw new UserError("--json and --patch cannot both write to standard output");
  if (paths.length === 0 && !flags.fromCluster)
    throw new UserError("name the CronJobs' manifests: kubewright spread PATH…, or kubewright spread --from-cluster");
  checkOutputs({ "--json": json, "--html": html, "--patch": patch }, paths);
  const input = await readRunInput(paths, flags, io);
  const window = windowOf(input);
  const windowMinutes = (window.endMs - window.startMs) / MINUTE_MS;
  const overhang = overhangMs(input.manifests);
  const planWindow = { startMs: window.startMs, endMs: window.endMs + overhang };
  const loads = scheduledLoads(input.manifests, {
    window: planWindow,
    localTimeZone: input.localTimeZone ?? "UTC",
    keep,
  });
  if (loads.length === 0)
    throw new UserError([...input.problems, "there is no CronJob to spread, or all are suspended"].join("\n"));
  checkSelected("--keep", keep, loads);
  for (const note of [...input.notes, ...idleNotes(loads, window)]) io.stderr.write(`kubewright: ${printable(note)}\n`);
  const precedences = precedencesOf(flags.after ?? [], loads);
  const plan = proposePlan(loads, precedences, { windowMinutes: windowMinutes + overhang / MINUTE_MS, target });
  const changes = scheduleChanges(loads, plan.minutes);
  const files = [
    { path: json, file: await openFile("--json", json, io) },
    { path: patch, file: await openFile("--patch", patch, io) },
  ];
  const page = html === undefined ? undefined : await HtmlReport.open(html, io);
  const problems = [...input.problems];
  const simulated = flags.play
    ? await simulateBoth(input, movedManifests(input.manifests, changes), {
        window,
        io,
        onCreated: (outcome) => {
          problems.push(...outcome.problems);
          for (const note of outcome.notes) io.stderr.write(`kubewright: ${printable(note)}\n`);
        },
      })
    : undefined;
  const findings: SpreadFindings = {
    window,
    loads,
    before: loadCurves(
      loads,
      loads.map(({ minute }) => minute),
      windowMinutes,
    ),
    after: loadCurves(loads, plan.minutes, windowMinutes),
    stampedes: stampedes(loads, windowMinutes),
    plan,
    changes,
    ...(simulated === undefined ? {} : { simulated }),
  };
  for (const [index, text] of [() => spreadJson(findings), () => patchText(changes)].entries()) {
    const { path, file } = files[index]!;
    if (path === "-") io.stdout.write(text());
    if (problems.length > 0) await file?.discard();
    else {
      await file?.write(text());
      await file?.close();
    }
  }
  if (problems.length > 0) await page?.discard();
  else await page?.write(spreadReport(findings));
  if (json !== "-" && patch !== "-") {
    const style = styleFor(io.stdout.hasColours);
    const length = formatDuration(window.endMs - window.startMs);
    io.stdout.write(
      `${style.bold("kubewright")}  ${formatTime(window.startMs)} → ${formatTime(window.endMs)} (${length}, ${loads.length} ${loads.length === 1 ? "CronJob" : "CronJobs"})\n\n`,
    );
    io.stdout.write(spreadText(findings, { measure, width: io.stdout.columns || DEFAULT_WIDTH, style }));
  }
  if (problems.length > 0) throw new UserError(problems.join("\n"));
  if (target !== undefined && plan.peak > target)
    throw new ViolationsError([`--peak ${target}: moving minutes brings it to ${plan.peak} pods at once, not further`]);
}

/** Rounds to whole hours, so that runs that move within an hour stay in the window. */
function windowOf({ startMs, durationMs, live }: RunInput): SpreadWindow {
  const round = live === undefined ? Math.floor : Math.ceil;
  const from = round(startMs / HOUR_MS) * HOUR_MS;
  return { startMs: from, endMs: Math.max(from + HOUR_MS, Math.ceil((startMs + durationMs) / HOUR_MS) * HOUR_MS) };
}

function idleNotes(loads: readonly ScheduledLoad[], { startMs, endMs }: SpreadWindow): string[] {
  const idle = loads.filter((load) => runsWithin(load, (endMs - startMs) / MINUTE_MS) === 0);
  if (idle.length === 0) return [];
  const names = idle.slice(0, 3).map(({ namespace, name }) => `${namespace}/${name}`);
  const more = idle.length > 3 ? ` and ${idle.length - 3} more` : "";
  return [`no run within ${formatDuration(endMs - startMs)}: ${names.join(", ")}${more}; take a longer --for`];
}

/** @throws UserError when the order of `--after` cannot be satisfied. */
function proposePlan(
  loads: readonly ScheduledLoad[],
  precedences: readonly Precedence[],
  { windowMinutes, target }: { readonly windowMinutes: number; readonly target: number | undefined },
): SpreadPlan {
  try {
    return proposeMinutes(loads, precedences, { windowMinutes, ...(target === undefined ? {} : { target }) });
  } catch (error) {
    if (!(error instanceof PrecedenceError)) throw error;
    const { before, after, gap } = error.precedence;
    const [a, b] = [loads[before]!, loads[after]!].map(({ namespace, name }) => `${namespace}/${name}`);
    throw new UserError(
      `--after: no minutes of the hour are left at which ${b} begins ${gap} ${gap === 1 ? "minute" : "minutes"} after ${a}`,
      { cause: error },
    );
  }
}

async function openFile(
  flag: string,
  path: string | undefined,
  io: Io,
): Promise<Awaited<ReturnType<typeof openOutput>> | undefined> {
  return path === undefined || path === "-" ? undefined : openOutput(flag, path, io);
}

async function simulateBoth(
  input: RunInput,
  moved: RunInput["manifests"],
  {
    window,
    io,
    onCreated,
  }: { readonly window: SpreadWindow; readonly io: Io; readonly onCreated: SimulateSpreadOptions["onCreated"] },
): Promise<NonNullable<SpreadFindings["simulated"]>> {
  const progress = (await io.progress?.()) ?? silentProgress;
  const simulated: SpreadResult[] = [];
  try {
    for (const [index, manifests] of [input.manifests, moved].entries()) {
      const name = index === 0 ? "before" : "after";
      simulated.push(
        await simulateSpread(input, manifests, {
          window,
          timeZoneData: io.timeZoneData,
          signal: io.stopped,
          // The outcome is the same with other minutes.
          onCreated: index === 0 ? onCreated : () => {},
          onProgress: (share) => {
            io.holdMemory?.();
            progress.show((index + share) / 2, `${name}: ${Math.floor(share * 100)}%`);
          },
        }),
      );
      if (io.stopped.aborted) throw new InterruptedError(`stopped during the simulation ${name}`);
    }
  } finally {
    progress.clear();
  }
  return { before: simulated[0]!, after: simulated[1]! };
}

function parsePeak(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new UserError(`--peak: ${JSON.stringify(text)} is not a number of pods; write for example 20`);
  return Number(text);
}

function parseMeasure(text: string): Measure {
  const measure = MEASURES.find((each) => each === text);
  if (measure === undefined)
    throw new UserError(`--show: ${JSON.stringify(text)} is not one of ${MEASURES.join(", ")}`);
  return measure;
}

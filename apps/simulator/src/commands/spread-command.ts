import { InterruptedError, UserError } from "@kubewright/analysis/errors";
import {
  type RunInput,
  type RunInputFlags,
  problemLines,
  readRunInput,
  repeatRemark,
} from "@kubewright/analysis/input";
import { silentProgress } from "@kubewright/analysis/ports";
import {
  type Measure,
  type Precedence,
  type ScheduledLoad,
  type SimulateSpreadOptions,
  type SpreadFindings,
  type SpreadPlan,
  type SpreadResult,
  type SpreadWindow,
  MEASURES,
  PrecedenceError,
  checkSelected,
  loadCurves,
  movedManifests,
  overhangMs,
  parseSelections,
  patchText,
  precedencesOf,
  proposeMinutes,
  runsWithin,
  scheduleChanges,
  scheduledLoads,
  simulateSpread,
  spreadJson,
  spreadReport,
  spreadText,
  stampedes,
} from "@kubewright/analysis/spread";
import { formatDuration } from "@kubewright/analysis/time";
import { formatTime } from "@kubewright/api";
import { htmlPage, pageAssets } from "@kubewright/analysis/page";

import type { Io } from "../io/io.js";
import { DURATION_OPTION, MANIFESTS, MANIFEST_OPTIONS, clusterOptions } from "../options/input-options.js";
import { type Command, type CommandContext, type CommandResult, collect } from "../shell/command.js";

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

/** `kubewright spread`: shows when CronJobs load the cluster, and proposes minutes with a lower load. */
export const spreadCommand: Command<SpreadFlags> = {
  argument: MANIFESTS,
  options: [
    ["--peak <number>", "move no more than it takes for so many pods at once (default: as few as are found)"],
    ["--keep <selection>", "which are not to be moved: report, 'billing/*'", collect],
    ["--after <names>", "A,B: where both run in an hour, B begins when A has had its time", collect],
    ["--show <measure>", "of what to draw the map: starts, pods, cpu or memory", "pods"],
    ["--patch <file>", "also write the new schedules, for kubectl apply --server-side; - writes only them"],
    ["--html <file>", "also write it as a page to open in a browser: one file that works offline"],
    ["--json <file>", "also write all of it as one object; - writes only that, to standard output"],
    ["--no-play", "do not simulate the present and the proposed schedules"],
    ["--start <time>", "where the time that counts starts (default: the next full hour)"],
    ["--for <duration>", "how much of it: 7d, 12h (default: 1d)"],
    ["--seed <number>", "seed of the simulation (default: 1)"],
    ["--kubernetes <version>", "release of Kubernetes to simulate: 1.31 to 1.36, or 1.36.2"],
    ["--from-cluster", "read the objects of a live cluster; sends only GET and LIST requests"],
    ...clusterOptions("read"),
    ["--controller-time-zone <zone>", "time zone of CronJobs that name none (default: UTC)"],
    DURATION_OPTION,
    ...MANIFEST_OPTIONS,
  ],
  help: `
Examples:
  $ kubewright spread manifests/ --for 7d
  $ kubewright spread manifests/ --for 7d --html load.html
  $ kubewright spread manifests/ --peak 20 --keep 'billing/*' --patch patch.yaml
  $ kubectl apply --server-side --force-conflicts --field-manager kubewright-spread -f patch.yaml
  $ kubewright spread --from-cluster -A --workloads workloads.yaml --after extract,load`,
  run: spread,
};

async function spread({
  args: paths,
  flags,
  io,
  outputs,
  format,
  note,
}: CommandContext<SpreadFlags>): Promise<CommandResult> {
  const target = parsePeak(flags.peak);
  const measure = parseMeasure(flags.show);
  const keep = parseSelections("--keep", flags.keep ?? []);
  const { json, html, patch } = flags;
  if (json === "-" && patch === "-") throw new UserError("--json and --patch cannot both write to standard output");
  if (paths.length === 0 && !flags.fromCluster)
    throw new UserError("name the CronJobs' manifests: kubewright spread PATH…, or kubewright spread --from-cluster");
  outputs.declare({ "--json": json, "--patch": patch, "--html": html }, paths);
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
  const unread = problemLines(input.mistakes, input.strict);
  if (loads.length === 0)
    throw new UserError(
      [
        ...unread.problems,
        ...unread.notes,
        ...input.problems,
        "there is no CronJob to spread, or all are suspended",
      ].join("\n"),
    );
  checkSelected("--keep", keep, loads);
  note(...input.notes, ...unread.notes, ...idleNotes(loads, window));
  const precedences = precedencesOf(flags.after ?? [], loads);
  const plan = proposePlan(loads, precedences, { windowMinutes: windowMinutes + overhang / MINUTE_MS, target });
  const changes = scheduleChanges(loads, plan.minutes);
  await outputs.open();
  const problems = [...input.problems, ...unread.problems];
  const simulated = flags.play
    ? await simulateBoth(input, movedManifests(input.manifests, changes), {
        window,
        io,
        onCreated: (outcome) => {
          const lines = problemLines(outcome.problems, input.strict);
          problems.push(...lines.problems);
          note(...lines.notes, ...outcome.notes);
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
  await outputs.write("--json", () => spreadJson(findings));
  await outputs.write("--patch", () => patchText(changes));
  if (problems.length === 0)
    await outputs.write("--html", async () => htmlPage(await pageAssets(io), spreadReport(findings)));
  const length = formatDuration(window.endMs - window.startMs);
  const title = `${format.style.bold("kubewright")}  ${formatTime(window.startMs)} → ${formatTime(window.endMs)} (${length}, ${loads.length} ${loads.length === 1 ? "CronJob" : "CronJobs"}${repeatRemark(input.repeat)})`;
  return {
    text: `${title}\n\n${spreadText(findings, { measure, ...format })}`,
    problems,
    findings:
      target !== undefined && plan.peak > target
        ? [`--peak ${target}: moving minutes brings it to ${plan.peak} pods at once, not further`]
        : [],
  };
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

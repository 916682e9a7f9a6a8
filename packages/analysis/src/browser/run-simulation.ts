import type { ReportData } from "@kubewright/timeline/data";

import { assumptionText } from "../text/assumption-text.js";
import { RunDigest } from "../digest/run-digest.js";
import { PodPeaks } from "../futures/pod-peaks.js";
import { Findings } from "../input/findings.js";
import type { FoundObjects } from "../input/input-problem.js";
import { NodePools } from "../resources/node-pools.js";
import { ReportRecorder } from "../html-report/report-recorder.js";
import { htmlPage } from "../html-report/html-page.js";
import type { RunInput } from "../input/run-input.js";
import { runText } from "../text/run-text.js";
import { simulate } from "../run/simulation.js";
import { styleFor } from "../text/style.js";
import { Timeline } from "../timeline/timeline.js";
import { type ScenarioEventRecord, type TraceRecord, traceLine } from "../run/trace.js";
import { traceEnd } from "../run/trace-end.js";
import { type PageFiles, pageAssetsOf } from "./page-files.js";
import type { SimulationRequestOptions, SimulationRequest } from "./simulation-request.js";
import type { Problem } from "./problem.js";
import { type ReadRequest, commandOf, readRequest } from "./read-request.js";

/** The result of a request. */
export interface SimulationResult {
  /** The data of the page. Absent when nothing could be simulated; `problems` has the reason. */
  readonly report?: ReportData;
  /** The output of `kubewright run`, without colours. Empty when nothing could be simulated. */
  readonly summary: string;
  /** Problems in the order of the texts. */
  readonly problems: readonly Problem[];
  /** The equivalent command line, with `manifests.yaml`, `scenario.yaml` and `workloads.yaml` for the texts. */
  readonly command: string;
}

/** Simulates a request in virtual time. Invalid objects are reported, and the others are simulated. */
export async function runSimulation(
  request: SimulationRequest,
  options: SimulationRequestOptions = {},
): Promise<SimulationResult> {
  const read = await readRequest(request, options);
  const { seed } = request;
  const command = seed === undefined ? commandOf(read) : `${commandOf(read)} --seed ${seed}`;
  const run = await simulateRequest(read, options);
  const problems = read.problems.all;
  if (run === undefined) return { summary: "", problems, command };
  const { report, input, found, digest, scenarioEvents, pods, timeline } = run;
  const { durationMs: simulatedMs } = input;
  const simulated = {
    input,
    found,
    simulatedMs,
    groups: digest.groups,
    scenarioEvents,
    peaks: pods.peaks,
    totals: timeline.totals,
  };
  return { report, summary: runText(simulated, { style: styleFor(false), width: WIDTH }), problems, command };
}

/**
 * Returns the bytes that `kubewright run --json` writes, in memory: a day of an hourly CronJob is 0.3 MB.
 *
 * @throws UserError with a line for each error.
 */
export async function trace(request: SimulationRequest, options: SimulationRequestOptions = {}): Promise<string> {
  const read = await readRequest(request, options);
  const lines: string[] = [];
  await simulateRequest(read, options, (record) => lines.push(traceLine(record)));
  read.problems.throwErrors();
  return lines.join("");
}

/**
 * Returns the file that `kubewright run --html` writes.
 *
 * @throws UserError with a line for each error.
 */
export async function htmlReport(
  request: SimulationRequest,
  { page, ...options }: SimulationRequestOptions & { readonly page: PageFiles },
): Promise<string> {
  const read = await readRequest(request, options);
  const run = await simulateRequest(read, options);
  read.problems.throwErrors();
  return htmlPage(await pageAssetsOf(page), run!.report);
}

interface Run {
  readonly input: RunInput;
  readonly report: ReportData;
  readonly found: FoundObjects;
  readonly digest: RunDigest;
  readonly scenarioEvents: readonly ScenarioEventRecord[];
  readonly pods: PodPeaks;
  readonly timeline: Timeline;
}

/** @returns `undefined` when nothing could be simulated. */
async function simulateRequest(
  { input, problems }: ReadRequest,
  { onProgress, signal, timeZoneData = "unknown" }: SimulationRequestOptions,
  emit: (record: TraceRecord) => void = () => {},
): Promise<Run | undefined> {
  if (input === undefined) return undefined;
  const findings = new Findings(input);
  const recorder = new ReportRecorder();
  const digest = new RunDigest();
  const timeline = new Timeline({ maxRows: 0, listener: digest });
  const pods = new PodPeaks([], new NodePools(input));
  const scenarioEvents: ScenarioEventRecord[] = [];
  try {
    await simulate({
      ...input,
      timeZoneData,
      ...(signal === undefined ? {} : { signal }),
      emit: (record) => {
        timeline.add(record);
        pods.add(record);
        recorder.add(record);
        if (record.type === "scenarioEvent") scenarioEvents.push(record);
        emit(
          record.type === "end"
            ? traceEnd(record, { peaks: pods.peaks, groups: digest.groups, found: findings.found })
            : record,
        );
      },
      follow: (informers) => recorder.follow(informers),
      onProblem: (message) => findings.notes.push(message),
      onCreated: (outcome) => findings.add(outcome),
      onProgress: (elapsedMs) => onProgress?.(elapsedMs / input.durationMs),
    });
  } catch (error) {
    problems.add(findings);
    problems.addError(error);
    return undefined;
  }
  signal?.throwIfAborted();
  problems.add(findings);
  const report = recorder.data({
    description: input.scenario?.description,
    assumption: assumptionText(input.workloads),
  });
  return { input, report, found: findings.found, digest, scenarioEvents, pods, timeline };
}

/** Characters per line of the summary. */
const WIDTH = 120;

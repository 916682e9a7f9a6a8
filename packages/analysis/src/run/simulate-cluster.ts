import { assumptionText } from "../text/assumption-text.js";
import { formatDuration } from "../time/duration.js";
import { PodPeaks } from "../futures/pod-peaks.js";
import { Findings } from "../input/findings.js";
import { NodePools } from "../resources/node-pools.js";
import type { SimulatedRun, RunRequest } from "./simulated-run.js";
import { ReportRecorder } from "../html-report/report-recorder.js";
import { RunFollower } from "./run-outcome.js";
import { simulate } from "./simulation.js";
import { type ScenarioEventRecord, traceLine } from "./trace.js";
import { traceEnd } from "./trace-end.js";

/**
 * Simulates the whole cluster in this thread.
 *
 * @throws UserError when nothing is left to simulate.
 */
export async function simulateCluster({ input, counted, outputs, io, progress }: RunRequest): Promise<SimulatedRun> {
  const { startMs, durationMs, scenario } = input;
  const { trace } = outputs;
  const recorder = outputs.hasPage ? new ReportRecorder() : undefined;
  const follower = new RunFollower(counted.incidents, outputs.listeners);
  const pods = new PodPeaks(counted.selections, new NodePools(input));
  const scenarioEvents: ScenarioEventRecord[] = [];
  const findings = new Findings(input);
  const { notes, problems } = findings;
  let reachedMs = 0;
  progress.show(0, `0s of ${formatDuration(durationMs)}`);
  await simulate({
    ...input,
    timeZoneData: io.timeZoneData,
    signal: io.stopped,
    emit: (record) => {
      follower.add(record);
      pods.add(record);
      if (record.type === "scenarioEvent") scenarioEvents.push(record);
      trace?.add(
        traceLine(
          record.type === "end"
            ? traceEnd(record, { peaks: pods.peaks, groups: follower.groups, found: findings.found })
            : record,
        ),
      );
      recorder?.add(record);
    },
    ...(recorder === undefined ? {} : { follow: (informers) => recorder.follow(informers) }),
    onProblem: (message) => notes.push(message),
    onCreated: (outcome) => findings.add(outcome),
    onProgress: async (elapsedMs) => {
      reachedMs = elapsedMs;
      io.holdMemory?.();
      progress.show(elapsedMs / durationMs, `${formatDuration(elapsedMs)} of ${formatDuration(durationMs)}`, elapsedMs);
      await outputs.flush();
    },
  }).finally(() => progress.clear());
  return {
    outcome: follower.outcome(startMs + durationMs),
    peaks: pods.peaks,
    scenarioEvents,
    reachedMs,
    problems,
    found: findings.found,
    notes,
    ...(recorder === undefined
      ? {}
      : { page: recorder.data({ description: scenario?.description, assumption: assumptionText(input.workloads) }) }),
  };
}

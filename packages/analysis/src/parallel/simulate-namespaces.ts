import { formatTime } from "@kubewright/api";

import { assumptionText } from "../text/assumption-text.js";
import { formatDuration } from "../time/duration.js";
import { PodPeaks } from "../futures/pod-peaks.js";
import { NodePools } from "../resources/node-pools.js";
import type { SimulatedRun, RunRequest } from "../run/simulated-run.js";
import { ReportRecorder } from "../html-report/report-recorder.js";
import { traceHeader } from "../run/simulation.js";
import { type ScenarioEventRecord, type TraceRecord, traceLine } from "../run/trace.js";
import { traceEnd } from "../run/trace-end.js";
import { validateInput } from "../run/validate-input.js";
import type { MergedListener } from "./merge-chunks.js";
import { segmentsInThisThread } from "./segment-runners.js";
import { runSegments } from "./run-segments.js";
import { assignSegments } from "./assignments.js";
import { splitByNamespace } from "./split-by-namespace.js";

/** A merged run of all segments; or the shared resource that requires a simulation in one piece. */
export type ParallelRun =
  | { readonly simulated: SimulatedRun; readonly shared?: undefined }
  | { readonly shared: string; readonly simulated?: undefined };

/** Ended pods that PodGC keeps by default (kube-controller-manager `--terminated-pod-gc-threshold`). */
const DEFAULT_THRESHOLD = 12_500;

/**
 * Simulates the namespaces of a cluster separately, on threads, and merges their output into one run. The result is the
 * same for any number of threads.
 *
 * @throws UserError when nothing is left to simulate.
 */
export async function simulateNamespaces({
  input,
  counted,
  outputs,
  io,
  progress,
  workers,
}: RunRequest & { readonly workers: number }): Promise<ParallelRun> {
  const { startMs, durationMs, scenario } = input;
  const split = splitByNamespace(input, io.timeZoneData);
  if ("shared" in split) return split;
  const { problems, notes, found } = await validateInput(input, io.timeZoneData);
  const { trace } = outputs;
  const recorder = outputs.hasPage ? new ReportRecorder() : undefined;
  const pods = new PodPeaks(
    counted.selections,
    new NodePools({ manifests: [], nodes: split.segments.flatMap(({ segment }) => segment.nodes ?? []) }),
  );
  const threshold = scenario?.controllers?.terminatedPodGCThreshold ?? DEFAULT_THRESHOLD;
  const scenarioEvents: ScenarioEventRecord[] = [];
  let nowMs = startMs;
  let ended = 0;
  let interference: string | undefined;
  const noteInterference = (what: string): void => {
    interference ??= `at ${formatTime(nowMs)} ${what}`;
  };
  const record = (each: TraceRecord): void => {
    trace?.add(traceLine(each));
    recorder?.add(each);
  };
  const listener: MergedListener = {
    at(timeMs) {
      nowMs = timeMs;
      pods.at(Math.max(timeMs, startMs));
    },
    trace(lines) {
      trace?.add(lines);
      if (recorder === undefined) return;
      for (const line of lines.split("\n")) if (line !== "") recorder.add(JSON.parse(line) as TraceRecord);
    },
    level(usage, level, by) {
      if (usage.of !== "ended") return pods.change(usage, level, by);
      ended += by;
      if (threshold > 0 && ended > threshold)
        noteInterference(
          `there are more than ${threshold.toLocaleString("en-US")} ended pods, which PodGC counts together`,
        );
    },
    settled({ group, row }) {
      for (const each of outputs.listeners) each.rowSettled(group, row);
    },
    notice(notice) {
      if (notice.type === "scenarioEvent") scenarioEvents.push(notice.record);
      else if (notice.type === "problem") notes.push(notice.message);
      else noteInterference(notice.what);
    },
  };
  pods.at(startMs);
  record(traceHeader({ ...input, timeZoneData: io.timeZoneData }));
  const threads = ((await io.segmentRunners?.()) ?? segmentsInThisThread)(assignSegments(split.segments, workers), {
    ...counted,
    trace: trace !== undefined || recorder !== undefined,
    settled: outputs.listeners.length > 0,
    objects: recorder !== undefined,
  });
  progress.show(0, `0s of ${formatDuration(durationMs)}`);
  try {
    const result = await runSegments({
      runners: threads.runners,
      durationMs,
      listener,
      signal: io.stopped,
      onProgress: async (elapsedMs) => {
        io.holdMemory?.();
        progress.show(
          elapsedMs / durationMs,
          `${formatDuration(elapsedMs)} of ${formatDuration(durationMs)}`,
          elapsedMs,
        );
        await outputs.flush();
      },
      isDiscarded: () => interference !== undefined,
    });
    if (result === undefined) return { shared: interference! };
    const { outcome, objects, elapsedMs } = result;
    pods.at(startMs + elapsedMs);
    const end = { type: "end", at: new Date(startMs + elapsedMs).toISOString() } as const;
    recorder?.add(end);
    trace?.add(traceLine(traceEnd(end, { peaks: pods.peaks, groups: outcome.groups, found })));
    return {
      simulated: {
        outcome,
        peaks: pods.peaks,
        scenarioEvents,
        reachedMs: elapsedMs,
        problems,
        found,
        notes,
        addedNodes: split.segments.flatMap(({ addedNodes }) => addedNodes),
        ...(recorder === undefined
          ? {}
          : {
              page: recorder.data(
                { description: scenario?.description, assumption: assumptionText(input.workloads) },
                objects,
              ),
            }),
      },
    };
  } finally {
    progress.clear();
    await threads.close();
  }
}

import { atOnceOf } from "./at-once.js";
import { formatDuration } from "./duration.js";
import { PodPeaks } from "./futures/pod-peaks.js";
import { Findings } from "./input/findings.js";
import { NodePools } from "./node-pools.js";
import type { PlayedRun, RunToPlay } from "./played-run.js";
import { ReportRecorder } from "./report/html-report.js";
import { RunFollower } from "./run-outcome.js";
import { simulate } from "./simulation.js";
import { type ScenarioEventRecord, traceLine } from "./trace.js";

/**
 * Plays a cluster as a whole, in this thread.
 *
 * @throws UserError when nothing is left to play.
 */
export async function playInOnePiece({ input, counted, outputs, io, progress }: RunToPlay): Promise<PlayedRun> {
  const { startMs, durationMs, scenario } = input;
  const { trace } = outputs;
  const recorder = outputs.report === undefined ? undefined : new ReportRecorder();
  const follower = new RunFollower(counted.mishaps, outputs.listeners);
  const pods = new PodPeaks(counted.selections, new NodePools(input));
  const happenings: ScenarioEventRecord[] = [];
  const findings = new Findings(input);
  const { notes, problems: mistakes } = findings;
  let reachedMs = 0;
  await simulate({
    ...input,
    timeZoneData: io.timeZoneData,
    signal: io.stopped,
    emit: (record) => {
      follower.add(record);
      pods.add(record);
      if (record.type === "happening") happenings.push(record);
      trace?.add(traceLine(record.type === "end" ? { ...record, atOnce: atOnceOf(pods.peaks) } : record));
      recorder?.add(record);
    },
    ...(recorder === undefined ? {} : { follow: (informers) => recorder.follow(informers) }),
    onProblem: (message) => notes.push(message),
    onCreated: (outcome) => findings.add(outcome),
    onProgress: async (elapsedMs) => {
      reachedMs = elapsedMs;
      io.holdMemory?.();
      progress.show(elapsedMs / durationMs, `${formatDuration(elapsedMs)} of ${formatDuration(durationMs)}`);
      await outputs.flush();
    },
  }).finally(() => progress.clear());
  return {
    outcome: follower.outcome(startMs + durationMs),
    peaks: pods.peaks,
    happenings,
    reachedMs,
    mistakes,
    notes,
    ...(recorder === undefined ? {} : { page: recorder.data(scenario?.description) }),
  };
}

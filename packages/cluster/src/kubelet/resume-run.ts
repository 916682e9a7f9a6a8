import { type DeepReadonly, type Pod, parseTime } from "@kubewright/api";

import { type BackOff, lengthen, restartDelayMs } from "./crash-loop-back-off.js";
import type { PodOutcomeSampler } from "./pod-outcome-sampler.js";
import type { PodRun, Stage } from "./pod-run.js";
import type { Workload } from "./workload.js";

/**
 * Returns the state of a pod for a new kubelet. For a pod of a previous kubelet the state is restored from the status,
 * in whole seconds.
 *
 * @param wallOffsetMs - Difference of wall time and monotonic time.
 */
export function resumeRun(
  pod: DeepReadonly<Pod>,
  workload: Workload,
  sampler: PodOutcomeSampler,
  nowMs: number,
  wallOffsetMs: number,
): PodRun {
  const identity = sampler.identify(pod);
  const run: PodRun = {
    uid: pod.metadata.uid ?? "",
    identity,
    workload: sampler.resolveWorkload(pod, workload, identity),
    stage: { name: "bound" },
  };
  const startMs = parseTime(pod.status?.startTime);
  if (startMs === undefined) return run;
  run.acceptedAtMs = startMs - wallOffsetMs;
  run.stage = resumeStage(pod, run, sampler, nowMs, wallOffsetMs);
  return run;
}

function resumeStage(
  pod: DeepReadonly<Pod>,
  run: PodRun,
  sampler: PodOutcomeSampler,
  nowMs: number,
  wallOffsetMs: number,
): Stage {
  const { state, lastState, restartCount: restarts = 0 } = pod.status?.containerStatuses?.[0] ?? {};
  const backOff = backOffAfter(restarts, nowMs);
  if (backOff !== undefined) run.backOff = backOff;
  const startedAtMs = parseTime(state?.running?.startedAt);
  if (state?.running !== undefined && startedAtMs !== undefined) {
    const execution = sampler.sampleExecution(pod, run.workload, run.identity, restarts);
    const startedAt = state.running.startedAt ?? "";
    return { name: "running", restarts, startedAtMs: startedAtMs - wallOffsetMs, startedAt, execution };
  }
  const last = lastState?.terminated;
  if (state?.waiting?.reason === "CrashLoopBackOff" && last !== undefined) {
    const exitedAtMs = (parseTime(last.finishedAt) ?? nowMs + wallOffsetMs) - wallOffsetMs;
    return {
      name: "backingOff",
      restarts,
      exitedAtMs,
      restartAtMs: exitedAtMs + restartDelayMs(run.backOff, exitedAtMs),
      last,
    };
  }
  return {
    name: "starting",
    startAtMs: (run.acceptedAtMs ?? nowMs) + sampler.startupDelayMs(run.workload, run.identity),
  };
}

/**
 * Returns the back-off after this number of restarts, as if they were in quick succession. The status has no more
 * information.
 */
function backOffAfter(restarts: number, nowMs: number): BackOff | undefined {
  let backOff: BackOff | undefined;
  // Five doublings reach the longest delay.
  for (let restart = 0; restart < Math.min(restarts, 6); restart++) backOff = lengthen(backOff, nowMs, nowMs);
  return backOff;
}

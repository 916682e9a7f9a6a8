import type { DeepReadonly, Pod } from "@kubewright/api";

import { restartDelayMs } from "./crash-loop-back-off.js";
import type { PodRun } from "./pod-run.js";

/** The next step of a pod, as plain data. Times are monotonic milliseconds. */
export type PodStep =
  /** No step until then; `Infinity`: no step until the pod changes. */
  | { readonly type: "wait"; readonly untilMs: number }
  | { readonly type: "accept" }
  | { readonly type: "start" }
  /** The containers crashed and are restarted immediately. */
  | { readonly type: "restart"; readonly exitCode: number; readonly exitedAtMs: number }
  | { readonly type: "backOff"; readonly exitCode: number; readonly exitedAtMs: number; readonly restartAtMs: number }
  /** The back-off has elapsed. */
  | { readonly type: "resume" }
  | { readonly type: "finish"; readonly end: PodEnd }
  /** Removes the pod, which is being deleted and has ended. */
  | { readonly type: "remove" };

export type PodEnd =
  /** The containers exited, by themselves or after a signal. */
  | { readonly cause: "exited"; readonly exitCode: number }
  | { readonly cause: "deadlineExceeded" }
  /** The pod was deleted before any container ran. */
  | { readonly cause: "neverRan" };

/** Time between SIGTERM and the exit of a container. */
const SHUTDOWN_MS = 1000;

const SIGTERM_EXIT_CODE = 128 + 15;
const SIGKILL_EXIT_CODE = 128 + 9;

/**
 * Decides the next step of a pod on this node.
 *
 * @param nowMs - Monotonic.
 * @param wallOffsetMs - Difference of wall time and monotonic time.
 */
export function decideStep(pod: DeepReadonly<Pod>, run: PodRun, nowMs: number, wallOffsetMs: number): PodStep {
  const { stage } = run;
  if (stage.name === "finished") return isLingering(pod) ? { type: "remove" } : { type: "wait", untilMs: Infinity };
  const stop = stopDue(pod, run, wallOffsetMs);
  const deleting = pod.metadata.deletionTimestamp !== undefined;
  switch (stage.name) {
    case "bound":
      return deleting ? neverRan : { type: "accept" };
    case "starting":
      if (deleting) return neverRan;
      return first(nowMs, { atMs: stage.startAtMs, step: { type: "start" } }, stop);
    case "running": {
      const exitAtMs = stage.startedAtMs + stage.execution.durationMs;
      return first(
        nowMs,
        { atMs: exitAtMs, step: afterExit(pod, run, stage.execution.exitCode, exitAtMs, nowMs) },
        stop,
      );
    }
    case "backingOff":
      if (deleting) return { type: "finish", end: { cause: "exited", exitCode: stage.last.exitCode } };
      return first(nowMs, { atMs: stage.restartAtMs, step: { type: "resume" } }, stop);
    default:
      return stage satisfies never;
  }
}

/** Whether a pod has ended and waits for its node to remove it. */
export function isLingering(pod: DeepReadonly<Pod>): boolean {
  return pod.metadata.deletionTimestamp !== undefined && (pod.metadata.deletionGracePeriodSeconds ?? 0) > 0;
}

const neverRan: PodStep = { type: "finish", end: { cause: "neverRan" } };

interface Due {
  readonly atMs: number;
  readonly step: PodStep;
}

/** Returns the step that is due first; `natural` if both are due at the same time. */
function first(nowMs: number, natural: Due, stop: Due | undefined): PodStep {
  const next = stop !== undefined && stop.atMs < natural.atMs ? stop : natural;
  return next.atMs <= nowMs ? next.step : { type: "wait", untilMs: next.atMs };
}

/** Returns the time and the kind of end that the pod's deadline or deletion causes. */
function stopDue(pod: DeepReadonly<Pod>, run: PodRun, wallOffsetMs: number): Due | undefined {
  const deadlineSeconds = pod.spec?.activeDeadlineSeconds;
  const deadline: Due | undefined =
    deadlineSeconds == null || run.acceptedAtMs === undefined
      ? undefined
      : {
          atMs: run.acceptedAtMs + deadlineSeconds * 1000,
          step: { type: "finish", end: { cause: "deadlineExceeded" } },
        };
  const deletion = deletionDue(pod, run, wallOffsetMs);
  if (deadline === undefined || deletion === undefined) return deadline ?? deletion;
  return deadline.atMs <= deletion.atMs ? deadline : deletion;
}

function deletionDue(pod: DeepReadonly<Pod>, run: PodRun, wallOffsetMs: number): Due | undefined {
  const { deletionTimestamp } = pod.metadata;
  if (deletionTimestamp === undefined || run.deletionSeenAtMs === undefined) return undefined;
  const killAtMs = Date.parse(deletionTimestamp) - wallOffsetMs;
  const exitAtMs = run.workload.ignoreSigterm ? Infinity : run.deletionSeenAtMs + SHUTDOWN_MS;
  const killed = killAtMs <= exitAtMs;
  const exitCode = killed ? SIGKILL_EXIT_CODE : SIGTERM_EXIT_CODE;
  return { atMs: Math.min(killAtMs, exitAtMs), step: { type: "finish", end: { cause: "exited", exitCode } } };
}

function afterExit(pod: DeepReadonly<Pod>, run: PodRun, exitCode: number, exitedAtMs: number, nowMs: number): PodStep {
  const restartPolicy = pod.spec?.restartPolicy ?? "Always";
  const restarts = restartPolicy === "Always" || (restartPolicy === "OnFailure" && exitCode !== 0);
  if (!restarts || pod.metadata.deletionTimestamp !== undefined)
    return { type: "finish", end: { cause: "exited", exitCode } };
  const restartAtMs = exitedAtMs + restartDelayMs(run.backOff, exitedAtMs);
  if (restartAtMs <= nowMs) return { type: "restart", exitCode, exitedAtMs };
  return { type: "backOff", exitCode, exitedAtMs, restartAtMs };
}

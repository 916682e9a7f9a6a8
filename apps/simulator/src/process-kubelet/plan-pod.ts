import type { Container, DeepReadonly, Pod } from "@kubewright/api";
import { isPodTerminal } from "@kubewright/controller";
import { restartDelayMs } from "@kubewright/cluster/kubelet";

import { type ContainerRun, type PodEnding, type PodRun, isRunning } from "./pod-run.js";

/** The next actions for a pod. Plain data. */
export interface PodPlan {
  /** Containers to start, in this order. */
  readonly start: readonly ContainerRun[];
  /** Containers to signal. */
  readonly signal: readonly { readonly container: ContainerRun; readonly name: "SIGTERM" | "SIGKILL" }[];
  /** Set when the pod ends: no more containers are started. */
  readonly ending: PodEnding | undefined;
  /** Time of the next plan if nothing happens before, in monotonic milliseconds. May be `Infinity`. */
  readonly wakeAtMs: number;
}

/**
 * Plans the next actions for a pod. Init containers run one after the other, then all other containers run. Crashed
 * containers restart after their back-off. At the end of the pod sidecars stop last.
 *
 * @param wallOffsetMs - Wall time minus monotonic time.
 * @see kubernetes v1.36 pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodActions, kuberuntime_container.go
 * killContainersWithSyncResult
 */
export function planPod(run: PodRun, nowMs: number, wallOffsetMs: number): PodPlan {
  const pod = run.latest;
  const ending = endingOf(run, nowMs, wallOffsetMs);
  if (ending !== undefined) return { start: [], ending, ...planStop(run, ending.killAtMs, nowMs) };
  const start: ContainerRun[] = [];
  const waits = [deadlineOf(run)];
  const consider = (container: ContainerRun): void => {
    const dueAtMs = startDueAtMs(pod, container);
    if (dueAtMs <= nowMs) start.push(container);
    else waits.push(dueAtMs);
  };
  let isInitialized = true;
  for (const container of run.initContainers) {
    if (isInitialized && !isDone(container)) consider(container);
    // The next init container waits until a sidecar runs, or until another init container has succeeded.
    if (!(container.isSidecar ? wasStarted(container) : isDone(container))) isInitialized = false;
  }
  if (isInitialized) for (const container of run.containers) consider(container);
  return { start, signal: [], ending: undefined, wakeAtMs: Math.min(...waits) };
}

/** Returns whether all containers except sidecars have ended by themselves. */
export function hasEnded(run: PodRun): boolean {
  const pod = run.latest;
  const failed = run.initContainers.some(
    (container) =>
      !container.isSidecar && container.state.name === "exited" && !isDone(container) && !shouldRestart(pod, container),
  );
  return (
    failed || run.containers.every((container) => container.state.name === "exited" && !shouldRestart(pod, container))
  );
}

/** Returns whether an init container has succeeded. */
export function isDone({ isSidecar, state }: ContainerRun): boolean {
  return !isSidecar && state.name === "exited" && state.termination.exitCode === 0;
}

/** Returns whether an exited container must restart. */
export function shouldRestart(pod: DeepReadonly<Pod>, run: ContainerRun): boolean {
  if (run.state.name !== "exited") return false;
  const { exitCode } = run.state.termination;
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const isInit = initContainers.some(({ name }) => name === run.name);
  const container: DeepReadonly<Container> | undefined = [...initContainers, ...containers].find(
    ({ name }) => name === run.name,
  );
  if (isInit && exitCode === 0 && !run.isSidecar) return false;
  // Upstream: pkg/api/v1/pod ContainerShouldRestart.
  for (const { action, exitCodes } of container?.restartPolicyRules ?? []) {
    if (action !== "Restart" || exitCodes === undefined) continue;
    const isListed = exitCodes.values?.includes(exitCode) === true;
    if (exitCodes.operator === "In" ? isListed : !isListed) return true;
  }
  const policy = container?.restartPolicy ?? pod.spec?.restartPolicy ?? "Always";
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

/** Returns the time of a container's next start: `-Infinity` for an immediate start, `Infinity` for none. */
function startDueAtMs(pod: DeepReadonly<Pod>, container: ContainerRun): number {
  const { state } = container;
  switch (state.name) {
    case "created":
      return -Infinity;
    case "refused":
      return state.retryAtMs;
    case "exited":
      return shouldRestart(pod, container) ? restartAtMs(container, state.exitedAtMs) : Infinity;
    case "running":
      return Infinity;
    default:
      return state satisfies never;
  }
}

/** Returns the time at which a container may restart after its exit. */
export function restartAtMs({ backOff }: ContainerRun, exitedAtMs: number): number {
  return exitedAtMs + restartDelayMs(backOff, exitedAtMs);
}

function wasStarted({ state, restarts: restartCount }: ContainerRun): boolean {
  return state.name === "running" || state.name === "exited" || restartCount > 0;
}

function deadlineOf({ latest, acceptedAtMs }: PodRun): number {
  const seconds = latest.spec?.activeDeadlineSeconds;
  return seconds == null || acceptedAtMs === undefined ? Infinity : acceptedAtMs + seconds * 1000;
}

function graceMs(pod: DeepReadonly<Pod>): number {
  return (pod.metadata.deletionGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 30) * 1000;
}

function endingOf(run: PodRun, nowMs: number, wallOffsetMs: number): PodEnding | undefined {
  const { ending, latest } = run;
  const deletedAt = latest.metadata.deletionTimestamp;
  if (deletedAt !== undefined) {
    const killAtMs = Math.min(Date.parse(deletedAt) - wallOffsetMs, ending?.killAtMs ?? Infinity);
    return { cause: ending?.cause ?? "deleted", killAtMs };
  }
  if (ending !== undefined) return ending;
  // Another client has ended the pod, for example one that considers the node lost.
  if (isPodTerminal(latest)) return { cause: "completed", killAtMs: nowMs + graceMs(latest) };
  const deadlineAtMs = deadlineOf(run);
  const killAtMs = nowMs + graceMs(latest);
  if (hasEnded(run)) return isRunning(run) ? { cause: "completed", killAtMs } : undefined;
  return deadlineAtMs <= nowMs ? { cause: "deadlineExceeded", killAtMs } : undefined;
}

/** Plans the signals for containers. Sidecars get theirs after all others have ended, the last sidecar first. */
function planStop(run: PodRun, killAtMs: number, nowMs: number): Pick<PodPlan, "signal" | "wakeAtMs"> {
  const isOver = killAtMs <= nowMs;
  const running = (containers: readonly ContainerRun[]): ContainerRun[] =>
    containers.filter(({ state }) => state.name === "running");
  const others = running([...run.containers, ...run.initContainers.filter(({ isSidecar }) => !isSidecar)]);
  const sidecars = running(run.initContainers.filter(({ isSidecar }) => isSidecar));
  const targets = others.length > 0 && !isOver ? others : [...others, ...(isOver ? sidecars : sidecars.slice(-1))];
  const name = isOver ? "SIGKILL" : "SIGTERM";
  const signal = targets
    .filter(({ state }) => state.name === "running" && state.lastSignal !== "SIGKILL" && state.lastSignal !== name)
    .map((container) => ({ container, name }) as const);
  return { signal, wakeAtMs: isRunning(run) && !isOver ? killAtMs : Infinity };
}

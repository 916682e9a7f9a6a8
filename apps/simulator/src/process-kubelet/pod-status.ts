import {
  type Container,
  type ContainerState,
  type ContainerStatus,
  type DeepReadonly,
  type Pod,
  type PodCondition,
  findCondition,
} from "@kubewright/api";

import { hasEnded, isDone, restartAtMs, shouldRestart } from "./plan-pod.js";
import {
  type ContainerRun,
  type PodEnding,
  type PodRun,
  type Termination,
  allContainers,
  isRunning,
} from "./pod-run.js";

/** Maximum length of all termination messages of a pod. Upstream: `MaxPodTerminationMessageLogLength`. */
const MAX_MESSAGE_CHARACTERS = 12 * 1024;

/** The address of the processes. */
export const LOCAL_ADDRESS = "127.0.0.1";

export type Phase = "Pending" | "Running" | "Succeeded" | "Failed";

type ConditionPatch = { readonly [Member in keyof PodCondition]: PodCondition[Member] | null };

/**
 * Returns the status of a pod as a strategic merge patch. Conditions merge by type, and `null` removes a member.
 *
 * @param now - In RFC 3339 with whole seconds.
 * @see kubernetes v1.36 pkg/kubelet/kubelet_pods.go generateAPIPodStatus, pkg/kubelet/status/generate.go
 */
export function podStatus(run: PodRun, now: string): object {
  const pod = run.latest;
  const phase = phaseOf(run);
  const isOver = phase === "Succeeded" || phase === "Failed";
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const hasSandbox =
    !isOver && allContainers(run).some(({ state }) => state.name === "running" || state.name === "exited");
  const messageLimit = messageLimitOf(run);
  const statusOf = (spec: DeepReadonly<Container>, container: ContainerRun): ContainerStatus =>
    containerStatus({ run, spec, container, isOver, messageLimit });
  const statuses = run.containers.map((container, index) => statusOf(containers[index]!, container));
  const initStatuses = run.initContainers.map((container, index) => statusOf(initContainers[index]!, container));
  const conditions = new ConditionPatches(pod, now);
  conditions.set("PodReadyToStartContainers", hasSandbox);
  const incomplete = run.initContainers.filter(
    (container) => !(container.isSidecar ? container.state.name === "running" : isDone(container)),
  );
  if (phase === "Succeeded") conditions.set("Initialized", true, "PodCompleted");
  else if (incomplete.length > 0 && !(isOver && hasMainStarted(run)))
    conditions.set(
      "Initialized",
      false,
      "ContainersNotInitialized",
      `containers with incomplete status: [${names(incomplete)}]`,
    );
  else conditions.set("Initialized", true);
  const unready = run.containers.filter(({ state }) => state.name !== "running");
  for (const type of ["Ready", "ContainersReady"]) {
    if (isOver) conditions.set(type, false, phase === "Succeeded" ? "PodCompleted" : "PodFailed");
    else if (unready.length > 0)
      conditions.set(type, false, "ContainersNotReady", `containers with unready status: [${names(unready)}]`);
    else conditions.set(type, true);
  }
  conditions.set("PodScheduled", true);
  const failureReason =
    isOver && phase === "Failed" && run.ending !== undefined ? REASONS[run.ending.cause] : undefined;
  if (failureReason !== undefined && run.ending?.cause === "shutdown")
    conditions.set("DisruptionTarget", true, "TerminationByKubelet", failureReason.message);
  return {
    metadata: { uid: run.uid },
    status: {
      observedGeneration: generationOf(pod),
      phase,
      startTime: run.startTime,
      hostIP: LOCAL_ADDRESS,
      hostIPs: [{ ip: LOCAL_ADDRESS }],
      ...(hasSandbox && { podIP: LOCAL_ADDRESS, podIPs: [{ ip: LOCAL_ADDRESS }] }),
      conditions: conditions.all,
      containerStatuses: statuses,
      ...(initStatuses.length > 0 && { initContainerStatuses: initStatuses }),
      ...failureReason,
    },
  };
}

/** Upstream: kubelet_pods.go, and nodeshutdown for `shutdown`. */
const REASONS: Readonly<Record<PodEnding["cause"], { readonly reason: string; readonly message: string } | undefined>> =
  {
    completed: undefined,
    deleted: undefined,
    deadlineExceeded: {
      reason: "DeadlineExceeded",
      message: "Pod was active on the node longer than the specified deadline",
    },
    shutdown: { reason: "Terminated", message: "Pod was terminated in response to imminent node shutdown." },
  };

/** Upstream: kubelet_pods.go getPhase. */
export function phaseOf(run: PodRun): Phase {
  const isOver = !isRunning(run) && (hasEnded(run) || run.ending !== undefined);
  if (isOver) {
    const succeeded =
      run.containers.every(({ state }) => state.name === "exited" && state.termination.exitCode === 0) &&
      (run.ending === undefined || run.ending.cause === "completed" || run.ending.cause === "deleted");
    return succeeded ? "Succeeded" : "Failed";
  }
  const isWaiting = ({ state, last }: ContainerRun): boolean =>
    (state.name === "created" || state.name === "refused") && last === undefined;
  return run.containers.some(isWaiting) ? "Pending" : "Running";
}

function containerStatus({
  run,
  spec: { name, image = "" },
  container,
  isOver,
  messageLimit,
}: {
  readonly run: PodRun;
  readonly spec: DeepReadonly<Container>;
  readonly container: ContainerRun;
  readonly isOver: boolean;
  readonly messageLimit: number;
}): ContainerStatus {
  const { state, last, restarts: restartCount } = container;
  const isMain = run.containers.includes(container);
  const common = { name, image, imageID: "", restartCount };
  const before: ContainerState = last === undefined ? {} : { terminated: truncateMessage(last, messageLimit) };
  const containerID = containerIdOf(run, container);
  switch (state.name) {
    case "created":
    case "refused": {
      const isInitializing = isMain && !run.initContainers.every((each) => each.isSidecar || isDone(each));
      const waiting =
        state.name === "refused"
          ? { reason: state.reason, message: state.message }
          : {
              reason:
                isInitializing || (!isMain && run.initContainers[0] !== container)
                  ? "PodInitializing"
                  : "ContainerCreating",
            };
      return {
        ...common,
        ready: false,
        started: false,
        state: isOver ? { terminated: NOT_FOUND } : { waiting },
        lastState: before,
      };
    }
    case "running":
      return {
        ...common,
        ready: isMain || container.isSidecar,
        started: true,
        state: { running: { startedAt: state.startedAt } },
        lastState: before,
        containerID,
      };
    case "exited": {
      const terminated = truncateMessage(state.termination, messageLimit);
      const ended = { ...common, ready: isDone(container), started: false, containerID };
      if (isOver || run.ending !== undefined || !shouldRestart(run.latest, container))
        return { ...ended, state: { terminated }, lastState: before };
      const { metadata } = run.latest;
      const delayMs = restartAtMs(container, state.exitedAtMs) - state.exitedAtMs;
      const message = `back-off ${duration(delayMs)} restarting failed container=${name} pod=${metadata.name}_${metadata.namespace}(${run.uid})`;
      return { ...ended, state: { waiting: { reason: "CrashLoopBackOff", message } }, lastState: { terminated } };
    }
    default:
      return state satisfies never;
  }
}

/** Upstream: kubelet_pods.go, `ContainerReasonStatusUnknown`. */
const NOT_FOUND: Termination = {
  exitCode: 137,
  reason: "ContainerStatusUnknown",
  message: "The container could not be located when the pod was terminated",
  startedAt: "1970-01-01T00:00:00Z",
  finishedAt: "1970-01-01T00:00:00Z",
};

export function containerIdOf({ uid }: Pick<PodRun, "uid">, { name, restarts: restartCount }: ContainerRun): string {
  return `process://${uid}/${name}/${restartCount}`;
}

/**
 * Returns the maximum length of each termination message: infinite, unless all messages together exceed the limit of
 * the pod.
 */
function messageLimitOf(run: PodRun): number {
  const containers = allContainers(run);
  const all = containers.reduce((sum, { state, last }) => {
    const present = state.name === "exited" ? (state.termination.message?.length ?? 0) : 0;
    return sum + present + (last?.message?.length ?? 0);
  }, 0);
  return all <= MAX_MESSAGE_CHARACTERS ? Infinity : Math.floor(MAX_MESSAGE_CHARACTERS / containers.length / 2);
}

function truncateMessage(termination: Termination, characters: number): Termination {
  const { message } = termination;
  return message === undefined || message.length <= characters
    ? termination
    : { ...termination, message: message.slice(0, characters) };
}

function hasMainStarted({ containers }: PodRun): boolean {
  return containers.some(
    ({ state, last }) => state.name === "running" || state.name === "exited" || last !== undefined,
  );
}

function names(containers: readonly ContainerRun[]): string {
  return containers.map(({ name }) => name).join(" ");
}

function generationOf(pod: DeepReadonly<Pod>): number {
  return pod.metadata.generation ?? 1;
}

/** Collects patches of conditions. Removes the previous reason and message of a condition without new ones. */
class ConditionPatches {
  readonly all: ConditionPatch[] = [];
  readonly #pod: DeepReadonly<Pod>;
  readonly #now: string;

  constructor(pod: DeepReadonly<Pod>, now: string) {
    this.#pod = pod;
    this.#now = now;
  }

  set(type: string, isTrue: boolean, reason?: string, message?: string): void {
    const before = findCondition(this.#pod.status?.conditions, type);
    const status = isTrue ? "True" : "False";
    this.all.push({
      type,
      status,
      observedGeneration: generationOf(this.#pod),
      ...(before?.status === status ? {} : { lastTransitionTime: this.#now }),
      ...(reason !== undefined || before?.reason !== undefined ? { reason: reason ?? null } : {}),
      ...(message !== undefined || before?.message !== undefined ? { message: message ?? null } : {}),
    });
  }
}

/** Formats a duration as Go does: `10s`, `1m20s`, `5m0s`. */
function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

import {
  type Container,
  type ContainerState,
  type ContainerStatus,
  type DeepReadonly,
  type Pod,
  type PodCondition,
  findCondition,
} from "@kubewright/api";

import type { PodEnd } from "./decide-step.js";
import type { PodExecution } from "./pod-outcome-sampler.js";
import type { Ending, Termination } from "./pod-run.js";

/**
 * The body of a strategic merge patch of a pod's status.
 *
 * Conditions are merged by type: a missing member is not changed, and `null` removes it. The list of container statuses
 * is replaced as a whole.
 */
export interface PodStatusPatch {
  readonly metadata: { readonly uid: string };
  readonly status: Readonly<Record<string, unknown>>;
}

type ConditionPatch = { readonly [Member in keyof PodCondition]: PodCondition[Member] | null };

/** Common input of all patches. `now` is in RFC 3339 with whole seconds. */
export interface StatusContext {
  readonly pod: DeepReadonly<Pod>;
  readonly now: string;
}

const CONTAINERS_NOT_READY = "ContainersNotReady";

/** The node has accepted the pod: it is Pending, and its containers are being created. */
export function acceptedStatus(context: StatusContext, hostIP: string): PodStatusPatch {
  const { pod, now } = context;
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const initializing = initContainers.length > 0;
  const waiting: ContainerState = { waiting: { reason: initializing ? "PodInitializing" : "ContainerCreating" } };
  const unready = `containers with unready status: [${names(containers)}]`;
  return patch(pod, {
    observedGeneration: generationOf(pod),
    phase: "Pending",
    startTime: now,
    hostIP,
    hostIPs: [{ ip: hostIP }],
    conditions: [
      condition(context, "PodReadyToStartContainers", "False"),
      initializing
        ? condition(
            context,
            "Initialized",
            "False",
            "ContainersNotInitialized",
            `containers with incomplete status: [${names(initContainers)}]`,
          )
        : condition(context, "Initialized", "True"),
      condition(context, "Ready", "False", CONTAINERS_NOT_READY, unready),
      condition(context, "ContainersReady", "False", CONTAINERS_NOT_READY, unready),
      condition(context, "PodScheduled", "True"),
    ],
    containerStatuses: containers.map((container) => notReady(container, waiting)),
    ...(initializing && { initContainerStatuses: initContainers.map((container) => notReady(container, waiting)) }),
  });
}

/** The containers run, for the first time or after a restart. */
export function runningStatus(context: StatusContext, podIP: string, restarts: number, last?: Ending): PodStatusPatch {
  const { pod, now } = context;
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const containerStatuses = containers.map((container): ContainerStatus => ({
    name: container.name,
    image: container.image ?? "",
    imageID: imageId(container),
    ready: true,
    restartCount: restarts,
    started: true,
    state: { running: { startedAt: now } },
    lastState: last === undefined ? {} : { terminated: ofContainer(pod, container, restarts - 1, last) },
    containerID: containerId(pod, container, restarts),
  }));
  return patch(pod, {
    observedGeneration: generationOf(pod),
    phase: "Running",
    podIP,
    podIPs: [{ ip: podIP }],
    conditions: [
      condition(context, "PodReadyToStartContainers", "True"),
      condition(context, "Initialized", "True"),
      condition(context, "Ready", "True"),
      condition(context, "ContainersReady", "True"),
    ],
    containerStatuses,
    ...(initContainers.length > 0 && restarts === 0
      ? { initContainerStatuses: initContainers.map((container) => completedInitContainer(pod, container, now)) }
      : {}),
  });
}

/** The containers crashed, and wait for the restart. */
export function backOffStatus(context: StatusContext, restarts: number, delayMs: number, last: Ending): PodStatusPatch {
  const { pod } = context;
  const containers = pod.spec?.containers ?? [];
  const unready = `containers with unready status: [${names(containers)}]`;
  return patch(pod, {
    observedGeneration: generationOf(pod),
    conditions: [
      condition(context, "Ready", "False", CONTAINERS_NOT_READY, unready),
      condition(context, "ContainersReady", "False", CONTAINERS_NOT_READY, unready),
    ],
    containerStatuses: containers.map((container) => {
      const message = `back-off ${duration(delayMs)} restarting failed container=${container.name} pod=${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`;
      const waiting = { waiting: { reason: "CrashLoopBackOff", message } };
      return stopped(pod, container, restarts, waiting, { terminated: ofContainer(pod, container, restarts, last) });
    }),
  });
}

/** The pod has ended, and its phase is final. */
export function finishedStatus(
  context: StatusContext,
  end: PodEnd,
  restarts: number,
  ended: Ending | undefined,
): PodStatusPatch {
  const { pod } = context;
  const succeeded = end.cause === "exited" && end.exitCode === 0;
  const reason = succeeded ? "PodCompleted" : "PodFailed";
  const conditions = [condition(context, "PodReadyToStartContainers", "False")];
  if (succeeded) conditions.push(condition(context, "Initialized", "True", reason));
  conditions.push(condition(context, "Ready", "False", reason), condition(context, "ContainersReady", "False", reason));
  const containers = pod.spec?.containers ?? [];
  return patch(pod, {
    observedGeneration: generationOf(pod),
    phase: succeeded ? "Succeeded" : "Failed",
    conditions,
    containerStatuses: containers.map((container) =>
      ended === undefined
        ? notReady(container, { terminated: NOT_STARTED })
        : stopped(pod, container, restarts, { terminated: ofContainer(pod, container, restarts, ended) }),
    ),
    ...(end.cause === "deadlineExceeded" && DEADLINE_EXCEEDED),
  });
}

/** Returns the common end of all containers. */
export function ending(end: PodEnd, startedAt: string, finishedAt: string): Ending {
  return termination(end.cause === "exited" ? end.exitCode : 137, startedAt, finishedAt);
}

/**
 * Adds the containers that exited before the others: each keeps its own end.
 *
 * @param timeAfter - Returns the wall time this number of milliseconds after the start.
 */
export function endingPerContainer(
  common: Ending,
  { containers = [] }: PodExecution,
  ranMs: number,
  timeAfter: (ms: number) => string,
): Ending {
  const { startedAt = "" } = common;
  const exited = containers.filter(({ durationMs }) => durationMs <= ranMs);
  if (exited.length === 0) return common;
  const perContainer = exited.map(
    ({ name, durationMs, exitCode }) => [name, termination(exitCode, startedAt, timeAfter(durationMs))] as const,
  );
  return { ...common, perContainer: new Map(perContainer) };
}

function termination(exitCode: number, startedAt: string, finishedAt: string): Termination {
  return { exitCode, reason: exitCode === 0 ? "Completed" : "Error", startedAt, finishedAt };
}

const DEADLINE_EXCEEDED = {
  reason: "DeadlineExceeded",
  message: "Pod was active on the node longer than the specified deadline",
};

const NOT_STARTED: Termination = {
  exitCode: 137,
  reason: "ContainerStatusUnknown",
  message: "The container could not be located when the pod was terminated",
};

function patch(pod: DeepReadonly<Pod>, status: Readonly<Record<string, unknown>>): PodStatusPatch {
  // The UID prevents a patch of a later pod with the same name.
  return {
    metadata: { uid: pod.metadata.uid ?? "" },
    status,
  };
}

function generationOf(pod: DeepReadonly<Pod>): number {
  return pod.metadata.generation ?? 1;
}

function condition(
  { pod, now }: StatusContext,
  type: string,
  status: "True" | "False",
  reason: string | null = null,
  message: string | null = null,
): ConditionPatch {
  const before = findCondition(pod.status?.conditions, type);
  const change: { -readonly [Member in keyof ConditionPatch]: ConditionPatch[Member] } = {
    type,
    status,
    observedGeneration: generationOf(pod),
  };
  if (before?.status !== status) change.lastTransitionTime = now;
  if (reason !== null || before?.reason !== undefined) change.reason = reason;
  if (message !== null || before?.message !== undefined) change.message = message;
  return change;
}

/** The status of a container that was not started. */
function notReady({ name, image = "" }: DeepReadonly<Container>, state: ContainerState): ContainerStatus {
  return { name, image, imageID: "", ready: false, restartCount: 0, started: false, state, lastState: {} };
}

/** The status of a container that was started and does not run. */
function stopped(
  pod: DeepReadonly<Pod>,
  container: DeepReadonly<Container>,
  restartCount: number,
  state: ContainerState,
  lastState: ContainerState = {},
): ContainerStatus {
  return {
    name: container.name,
    image: container.image ?? "",
    imageID: imageId(container),
    ready: false,
    restartCount,
    started: false,
    state,
    lastState,
    containerID: containerId(pod, container, restartCount),
  };
}

function completedInitContainer(
  pod: DeepReadonly<Pod>,
  container: DeepReadonly<Container>,
  now: string,
): ContainerStatus {
  const startedAt = pod.status?.startTime ?? now;
  const terminated = ofContainer(pod, container, 0, termination(0, startedAt, now));
  return { ...stopped(pod, container, 0, { terminated }), ready: true };
}

function ofContainer(
  pod: DeepReadonly<Pod>,
  container: DeepReadonly<Container>,
  restarts: number,
  ending: Ending,
): Termination {
  const containerID = containerId(pod, container, restarts);
  if (ending.perContainer === undefined) return { ...ending, containerID };
  const { perContainer, ...common } = ending;
  return { ...(perContainer.get(container.name) ?? common), containerID };
}

function containerId(pod: DeepReadonly<Pod>, { name }: DeepReadonly<Container>, restarts: number): string {
  return `simulated://${pod.metadata.uid}/${name}/${restarts}`;
}

function imageId({ image = "" }: DeepReadonly<Container>): string {
  return `simulated://${image}`;
}

function names(containers: readonly DeepReadonly<Container>[]): string {
  return containers.map(({ name }) => name).join(" ");
}

/** Formats a duration as Go does: `10s`, `1m20s`, `5m0s`. */
function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

import {
  type ContainerStatus,
  type DeepReadonly,
  JOB_COMPLETION_INDEX_ANNOTATION,
  JOB_TRACKING_FINALIZER,
  type Pod,
  parseTime,
} from "@kubewright/api";

/** State of a pod of a Job. */
export interface PodFact {
  readonly name: string;
  readonly phase: string;
  readonly index?: number;
  readonly node?: string;
  readonly createdMs: number;
  readonly startMs?: number;
  readonly endMs?: number;
  /** Exit code of the failed container, or else of the first. */
  readonly exitCode?: number;
  readonly restarts: number;
  /** Why the pod waits or failed: `Unschedulable`, `ImagePullBackOff`, `OOMKilled`, `Evicted`. */
  readonly reason?: string;
  readonly message?: string;
  readonly deleting: boolean;
  /** Whether the Job's status counts the pod. Until then a finalizer protects it. */
  readonly counted: boolean;
}

export function podFact(pod: DeepReadonly<Pod>): PodFact {
  const { metadata, spec, status } = pod;
  const containers = status?.containerStatuses ?? [];
  const states = containers.map(({ state }) => state);
  const ended = containers.filter(({ state }) => state?.terminated !== undefined);
  const decisive = ended.find(({ state }) => state?.terminated?.exitCode !== 0) ?? ended[0];
  const index = metadata.annotations?.[JOB_COMPLETION_INDEX_ANNOTATION];
  const startsMs = times(states.map((state) => state?.running?.startedAt ?? state?.terminated?.startedAt));
  const endsMs = times(states.map((state) => state?.terminated?.finishedAt));
  const hasEnded = status?.phase === "Succeeded" || status?.phase === "Failed";
  const reasonAndMessage = reasonOf(pod, decisive);
  return {
    name: metadata.name ?? "",
    phase: status?.phase ?? "Pending",
    ...(index === undefined ? {} : { index: Number(index) }),
    ...(spec?.nodeName === undefined ? {} : { node: spec.nodeName }),
    createdMs: parseTime(metadata.creationTimestamp) ?? 0,
    ...(startsMs.length > 0 ? { startMs: Math.min(...startsMs) } : {}),
    ...(hasEnded && endsMs.length > 0 ? { endMs: Math.max(...endsMs) } : {}),
    ...(decisive?.state?.terminated === undefined ? {} : { exitCode: decisive.state.terminated.exitCode }),
    restarts: containers.reduce((sum, { restartCount }) => sum + restartCount, 0),
    ...reasonAndMessage,
    deleting: metadata.deletionTimestamp != null,
    counted: !(metadata.finalizers?.includes(JOB_TRACKING_FINALIZER) ?? false),
  };
}

function times(texts: readonly (string | undefined)[]): number[] {
  return texts.map((text) => parseTime(text)).filter((timeMs) => timeMs !== undefined);
}

function reasonOf(
  { status }: DeepReadonly<Pod>,
  decisive: DeepReadonly<ContainerStatus> | undefined,
): { reason?: string; message?: string } {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const waiting = all.find(({ state }) => state?.waiting?.reason && !STARTING.has(state.waiting.reason))?.state
    ?.waiting;
  const unscheduled = status?.conditions?.find(
    ({ type, status: conditionStatus }) => type === "PodScheduled" && conditionStatus === "False",
  );
  const disrupted = status?.conditions?.find(
    ({ type, status: conditionStatus }) => type === "DisruptionTarget" && conditionStatus === "True",
  );
  const terminated = decisive?.state?.terminated;
  const failedTermination = terminated !== undefined && terminated.exitCode !== 0 ? terminated : undefined;
  const source = status?.reason
    ? status
    : (waiting ?? disrupted ?? failedTermination ?? (status?.phase === "Pending" ? unscheduled : undefined));
  const { reason, message } = source ?? {};
  return { ...(reason ? { reason } : {}), ...(message ? { message } : {}) };
}

/** Waiting reasons of a container that is starting normally. */
const STARTING: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing"]);

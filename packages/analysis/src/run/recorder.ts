import {
  CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION,
  type CronJob,
  type DeepReadonly,
  type Event,
  JOB_COMPLETION_INDEX_ANNOTATION,
  type Job,
  type KubernetesObject,
  type Pod,
  type ResourceDefinition,
  cronJobs,
  events,
  findCondition,
  finishedCondition,
  formatTime,
  getControllerOf,
  jobs,
  pods,
} from "@kubewright/api";
import { errorMessage } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import type { Decision } from "@kubewright/cluster";
import { type InformerFactory, deletedObject } from "@kubewright/informer";
import { explainJobReason } from "@kubewright/job";

import { requestedCpuMillis } from "../resources/requested-cpu.js";
import { requestedMemoryBytes } from "../resources/requested-memory.js";
import type { CronJobState, DecisionRecord, JobState, ObjectRecord, PodState, TraceRecord } from "./trace.js";

/** Converts the changes, events and decisions of a cluster into trace records, and emits each immediately. */
export class Recorder {
  readonly #clock: Pick<Clock, "now">;
  readonly #emit: (record: TraceRecord) => void;
  /** The time of the last record. Most records have the time of the previous one. */
  #atMs = Number.NaN;
  #atText = "";

  constructor(options: { clock: Pick<Clock, "now">; emit: (record: TraceRecord) => void }) {
    this.#clock = options.clock;
    this.#emit = options.emit;
  }

  /** Follows the objects of a cluster from now on. */
  follow(informers: InformerFactory): void {
    this.#followKind(informers, cronJobs, "CronJob", cronJobState);
    this.#followKind(informers, jobs, "Job", jobState);
    this.#followKind(informers, pods, "Pod", podState);
    // Not cached: an event is read only once, and most objects are events.
    informers.follow(events, (type, event) => {
      // A repeated event has a higher count; other updates are not recorded.
      if (type !== "MODIFIED" || (event.count ?? 1) > 1) this.#event(event);
    });
  }

  decision(decision: Decision): void {
    const at = this.#at();
    if (decision.controller !== "job-controller") {
      const { controller, decision: controllerDecision } = decision;
      return this.#emit({ type: "decision", at, controller, decision: controllerDecision } as DecisionRecord);
    }
    const { key, uid, action, statusWrites, reasons, error } = decision.decision;
    const creating = error === undefined ? undefined : reasons.find((reason) => reason.type === "Creating")?.count;
    const summary = { key, uid, action, statusWrites, reasons: reasons.map(explainJobReason) };
    this.#emit({
      type: "decision",
      at,
      controller: "job-controller",
      decision: {
        ...summary,
        ...(error === undefined ? {} : { error: errorMessage(error) }),
        ...(creating === undefined ? {} : { creating }),
      },
    });
  }

  #followKind<T extends KubernetesObject, Kind extends ObjectRecord["kind"]>(
    informers: InformerFactory,
    definition: ResourceDefinition<T>,
    kind: Kind,
    stateOf: (object: DeepReadonly<T>) => Extract<ObjectRecord, { kind: Kind }>["state"],
  ): void {
    const emit = (
      change: ObjectRecord["change"],
      object: DeepReadonly<T>,
      state: ObjectRecord["state"],
      isInInitialList = false,
    ): void => {
      const { namespace = "", name = "", uid = "", creationTimestamp } = object.metadata;
      const isNewPod = change === "ADDED" && kind === "Pod";
      const cpuMillis = isNewPod ? requestedCpuMillis(object) : 0;
      const memoryBytes = isNewPod ? requestedMemoryBytes(object) : 0;
      const owner = getControllerOf(object);
      const record: Record<string, unknown> = { type: "object", at: this.#at(), change, kind, namespace, name, uid };
      if (isInInitialList && creationTimestamp !== undefined) record["createdAt"] = creationTimestamp;
      if (owner !== undefined) record["owner"] = { kind: owner.kind, name: owner.name, uid: owner.uid };
      record["state"] = state;
      if (cpuMillis !== 0) record["cpuMillis"] = cpuMillis;
      if (memoryBytes !== 0) record["memoryBytes"] = memoryBytes;
      this.#emit(record as unknown as ObjectRecord);
    };
    informers.informerFor(definition).addEventHandler({
      onAdd: (object, isInInitialList) => emit("ADDED", object, stateOf(object), isInInitialList),
      onUpdate: (old, object) => {
        if (old.metadata.resourceVersion === object.metadata.resourceVersion) return;
        // Omits writes that do not change the timeline, for example heartbeats.
        const isReplacement = old.metadata.uid !== object.metadata.uid;
        const state = stateOf(object);
        if (!isReplacement && isSameState(stateOf(old), state)) return;
        emit("MODIFIED", object, state);
      },
      onDelete: (deleted) => {
        const object = deletedObject(deleted);
        if (object !== undefined) emit("DELETED", object, stateOf(object));
      },
    });
  }

  #event(event: DeepReadonly<Event>): void {
    const { kind = "", namespace = "", name = "" } = event.involvedObject;
    this.#emit({
      type: "event",
      at: this.#at(),
      eventType: event.type ?? "Normal",
      reason: event.reason ?? "",
      message: event.message ?? "",
      count: event.count ?? 1,
      involved: { kind, namespace, name },
    });
  }

  #at(): string {
    const nowMs = this.#clock.now();
    if (nowMs !== this.#atMs) {
      this.#atMs = nowMs;
      // Same result as `toISOString`, in less than half the time.
      const ms = Math.floor(nowMs) % 1000;
      this.#atText = `${formatTime(nowMs).slice(0, -1)}.${ms < 10 ? "00" : ms < 100 ? "0" : ""}${ms}Z`;
    }
    return this.#atText;
  }
}

/** Compares two states of one kind. Most members are scalars. */
function isSameState(a: object, b: object): boolean {
  const before = a as Readonly<Record<string, unknown>>;
  const after = b as Readonly<Record<string, unknown>>;
  let memberBalance = 0;
  for (const key in before) {
    const beforeValue = before[key];
    const afterValue = after[key];
    if (
      beforeValue !== afterValue &&
      !(typeof beforeValue === "object" && JSON.stringify(beforeValue) === JSON.stringify(afterValue))
    )
      return false;
    memberBalance--;
  }
  for (const _ in after) memberBalance++;
  return memberBalance === 0;
}

function cronJobState({ spec, status }: DeepReadonly<CronJob>): CronJobState {
  const { timeZone, concurrencyPolicy, startingDeadlineSeconds } = spec ?? {};
  const { active, lastScheduleTime } = status ?? {};
  const state: Mutable<CronJobState> = { schedule: spec?.schedule ?? "" } as Mutable<CronJobState>;
  if (timeZone !== undefined) state.timeZone = timeZone;
  if (concurrencyPolicy !== undefined) state.concurrencyPolicy = concurrencyPolicy;
  if (spec?.suspend) state.suspend = true;
  if (startingDeadlineSeconds !== undefined) state.startingDeadlineSeconds = startingDeadlineSeconds;
  state.active = active?.map((reference) => reference.name ?? "") ?? [];
  if (lastScheduleTime !== undefined) state.lastScheduleTime = lastScheduleTime;
  return state;
}

function jobState({ metadata, spec, status }: DeepReadonly<Job>): JobState {
  const { completions, parallelism } = spec ?? {};
  const { completedIndexes, failedIndexes, startTime, completionTime } = status ?? {};
  const end = finishedCondition({ status });
  const scheduledFor = metadata.annotations?.[CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION];
  const state: Mutable<JobState> = {} as Mutable<JobState>;
  if (completions !== undefined) state.completions = completions;
  if (parallelism !== undefined) state.parallelism = parallelism;
  state.active = status?.active ?? 0;
  state.succeeded = status?.succeeded ?? 0;
  state.failed = status?.failed ?? 0;
  if (completedIndexes) state.completedIndexes = completedIndexes;
  if (failedIndexes) state.failedIndexes = failedIndexes;
  if (startTime !== undefined) state.startTime = startTime;
  if (completionTime !== undefined) state.completionTime = completionTime;
  if (scheduledFor !== undefined) state.scheduledFor = scheduledFor;
  if (spec?.suspend) state.suspended = true;
  if (end !== undefined)
    state.outcome = {
      type: end.type,
      ...(end.reason === undefined ? {} : { reason: end.reason }),
      ...(end.message === undefined ? {} : { message: end.message }),
      at: end.lastTransitionTime ?? "",
    };
  return state;
}

function podState({ metadata, spec, status }: DeepReadonly<Pod>): PodState {
  const containers = status?.containerStatuses ?? [];
  // The container that failed the pod, if there is one.
  const failed =
    containers.length < 2 ? undefined : containers.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  const container = failed ?? containers[0];
  const ended = container?.state?.terminated;
  // The times of a container that never started are null on the wire.
  const startedAt = container?.state?.running?.startedAt ?? ended?.startedAt ?? undefined;
  const finishedAt = ended?.finishedAt ?? undefined;
  const index = metadata.annotations?.[JOB_COMPLETION_INDEX_ANNOTATION];
  const state: Mutable<PodState> = { phase: status?.phase ?? "Pending" };
  if (spec?.nodeName !== undefined) state.node = spec.nodeName;
  if (index !== undefined) state.index = Number(index);
  if (startedAt !== undefined) state.startedAt = startedAt;
  if (finishedAt !== undefined) state.finishedAt = finishedAt;
  if (ended !== undefined) state.exitCode = ended.exitCode;
  if (status?.reason !== undefined) state.reason = status.reason;
  if (metadata.deletionTimestamp !== undefined) state.deleting = true;
  if (spec?.nodeName === undefined && status?.phase === "Pending") {
    const scheduled = findCondition(status.conditions, "PodScheduled");
    if (scheduled?.status === "False" && scheduled.reason === "Unschedulable" && scheduled.message !== undefined)
      state.unschedulable = scheduled.message;
  }
  return state;
}

type Mutable<T> = { -readonly [Member in keyof T]: T[Member] };

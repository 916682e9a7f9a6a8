import {
  CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION,
  type DeepReadonly,
  type Event,
  type Job,
  NEWEST_VERSION,
  type Pod,
  type VersionBehaviours,
  behavioursOf,
  isConditionTrue,
  secondsAsDurationMs,
  finishedCondition,
  getControllerOf,
  parseTime,
} from "@kubewright/api";
import {
  type PredictedJobSync,
  type JobReason,
  type PlannedJob,
  explainJobReason,
  predictJobSync,
} from "@kubewright/job";

import { type SimulatedVersion, versionName, versionRemark } from "../input/kubernetes-version.js";
import { ZonedClock } from "../time/zoned-clock.js";
import { type EventFact, eventFacts, relevantEvents } from "./explain-events.js";
import { skewNotes } from "./moments.js";
import { type PodFact, podFact } from "./pod-facts.js";

/** Observed state of a Job. */
export interface JobFacts {
  readonly job: DeepReadonly<Job>;
  /** Pods that its selector matches; `undefined` when they cannot be read. */
  readonly pods: readonly DeepReadonly<Pod>[] | undefined;
  /** Events of the Job and its pods; `undefined` when they cannot be read. */
  readonly events: readonly DeepReadonly<Event>[] | undefined;
  readonly nowMs: number;
  /** Release whose controller explains the Job. Default: the newest. */
  readonly kubernetes?: SimulatedVersion;
}

export type JobState = "Complete" | "Failed" | "Running" | "Suspended" | "Ending" | "Deleting" | "ManagedElsewhere";

/** Explanation of a Job's state and next steps, as data. Members ending in `Ms` are instants. */
export interface JobExplanation {
  readonly kind: "Job";
  readonly namespace: string;
  readonly name: string;
  readonly atMs: number;
  /** Release whose controller decides, such as `1.33`. Absent: the newest. */
  readonly kubernetes?: string;
  readonly state: JobState;
  /** Condition that determines how the Job ends or ended. */
  readonly condition?: {
    readonly type: string;
    readonly reason: string;
    readonly message: string;
    readonly sinceMs?: number;
  };
  readonly cronJob?: { readonly name: string; readonly slotMs?: number };
  readonly createdMs: number;
  readonly startMs?: number;
  readonly endMs?: number;
  readonly counts: JobCounts;
  /** Actions of the controller now with their reasons, the most important first. */
  readonly now: readonly ActionReason[];
  /** Time of the controller's next sync. Absent: not before a change. */
  readonly wakeMs?: number;
  /** Time at which `activeDeadlineSeconds` fails it. */
  readonly deadlineMs?: number;
  /** Time at which `ttlSecondsAfterFinished` deletes it. */
  readonly deletionMs?: number;
  /** Pods, newest first, at most 20; `undefined` when they cannot be read. */
  readonly pods?: readonly PodFact[];
  readonly podsNotShown: number;
  readonly events: readonly EventFact[];
  readonly notes: readonly string[];
}

export interface ActionReason {
  readonly reason:
    JobReason["type"] | "managedElsewhere" | "unreadable" | "finished" | "unknownCompletionMode" | "unknown";
  readonly message: string;
}

export interface JobCounts {
  readonly completions?: number;
  readonly parallelism?: number;
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly backoffLimit?: number;
  readonly backoffLimitPerIndex?: number;
  readonly maxFailedIndexes?: number;
  readonly completedIndexes?: string;
  readonly failedIndexes?: string;
}

const MAX_PODS = 20;

/** Explains a Job from the objects of the cluster, with the decisions of the controller's own code. */
export function explainJob({ job, pods, events, nowMs, kubernetes = NEWEST }: JobFacts): JobExplanation {
  const { metadata, spec, status } = job;
  const clock = new ZonedClock("UTC");
  const behaviours = behavioursOf(kubernetes.version);
  const predicted = predictJobSync(job, pods ?? [], nowMs, { behaviours });
  const planned = predicted.type === "planned" ? predicted : undefined;
  const facts = eventFacts(events ?? []);
  const allPods = (planned?.pods ?? pods ?? [])
    .map(podFact)
    .sort((a, b) => b.createdMs - a.createdMs || compare(a.name, b.name));
  const createdMs = parseTime(metadata.creationTimestamp) ?? 0;
  const startMs = parseTime(status?.startTime);
  const deadlineMs =
    spec?.activeDeadlineSeconds == null || startMs === undefined || spec.suspend === true || finishedCondition(job)
      ? undefined
      : startMs + secondsAsDurationMs(spec.activeDeadlineSeconds);
  const known = pods === undefined ? undefined : planned;
  const wakeMs = pods === undefined ? deadlineMs : planned?.wakeMs;
  return {
    kind: "Job",
    namespace: metadata.namespace ?? "",
    name: metadata.name ?? "",
    atMs: nowMs,
    ...(versionRemark(kubernetes.version) === "" ? {} : { kubernetes: versionName(kubernetes.version) }),
    state: stateOf(job, predicted),
    ...decisiveCondition(job),
    ...cronJobOf(job),
    createdMs,
    ...(startMs === undefined ? {} : { startMs }),
    ...endOf(job),
    counts: countsOf(job),
    now: reasoning(job, predicted, pods !== undefined),
    ...(wakeMs === undefined ? {} : { wakeMs }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...deletionOf(job),
    ...(pods === undefined ? {} : { pods: allPods.slice(0, MAX_PODS) }),
    podsNotShown: Math.max(0, allPods.length - MAX_PODS),
    events: relevantEvents(facts),
    notes: [
      ...(kubernetes.note === undefined ? [] : [kubernetes.note]),
      ...notesOf(job, known, allPods, { clock, nowMs, behaviours }),
      ...skewNotes(
        [createdMs, ...facts.map(({ lastMs }) => lastMs), ...allPods.map((pod) => pod.createdMs)],
        clock,
        nowMs,
      ),
      ...(pods === undefined ? ["pods cannot be read: what the controller decides about them is missing here"] : []),
      ...(events === undefined ? ["events cannot be read: the explanation does not use them"] : []),
    ],
  };
}

function stateOf(job: DeepReadonly<Job>, predicted: PredictedJobSync): JobState {
  const end = finishedCondition(job);
  if (end !== undefined) return end.type;
  if (predicted.type === "skipped" && predicted.reason === "managedElsewhere") return "ManagedElsewhere";
  if (job.metadata.deletionTimestamp) return "Deleting";
  if (interimCondition(job) !== undefined) return "Ending";
  return job.spec?.suspend === true ? "Suspended" : "Running";
}

function interimCondition({ status }: DeepReadonly<Job>) {
  return status?.conditions?.find(
    ({ type, status: conditionStatus }) =>
      (type === "FailureTarget" || type === "SuccessCriteriaMet") && conditionStatus === "True",
  );
}

function decisiveCondition(job: DeepReadonly<Job>): Pick<JobExplanation, "condition"> {
  const found = finishedCondition(job) ?? interimCondition(job);
  if (found === undefined) return {};
  const { type, reason = "", message = "", lastTransitionTime } = found;
  const sinceMs = parseTime(lastTransitionTime);
  return { condition: { type, reason, message, ...(sinceMs === undefined ? {} : { sinceMs }) } };
}

function cronJobOf(job: DeepReadonly<Job>): Pick<JobExplanation, "cronJob"> {
  const owner = getControllerOf(job);
  if (owner?.kind !== "CronJob") return {};
  const slotMs = parseTime(job.metadata.annotations?.[CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION]);
  return { cronJob: { name: owner.name, ...(slotMs === undefined ? {} : { slotMs }) } };
}

function endOf(job: DeepReadonly<Job>): Pick<JobExplanation, "endMs"> {
  const end = finishedCondition(job);
  const endMs = parseTime(job.status?.completionTime) ?? parseTime(end?.lastTransitionTime);
  return end === undefined || endMs === undefined ? {} : { endMs };
}

/** Returns when the TTL deletes a finished Job. */
function deletionOf(job: DeepReadonly<Job>): Pick<JobExplanation, "deletionMs"> {
  const seconds = job.spec?.ttlSecondsAfterFinished;
  const finishedMs = parseTime(finishedCondition(job)?.lastTransitionTime);
  return seconds == null || finishedMs === undefined ? {} : { deletionMs: finishedMs + seconds * 1000 };
}

function countsOf({ spec, status }: DeepReadonly<Job>): JobCounts {
  const optional = {
    completions: spec?.completions,
    parallelism: spec?.parallelism,
    backoffLimit: spec?.backoffLimit,
    backoffLimitPerIndex: spec?.backoffLimitPerIndex,
    maxFailedIndexes: spec?.maxFailedIndexes,
    completedIndexes: status?.completedIndexes || undefined,
    failedIndexes: status?.failedIndexes || undefined,
  };
  return {
    active: status?.active ?? 0,
    ready: status?.ready ?? 0,
    terminating: status?.terminating ?? 0,
    succeeded: status?.succeeded ?? 0,
    failed: status?.failed ?? 0,
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value != null)) as Partial<JobCounts>),
  };
}

function reasoning(job: DeepReadonly<Job>, predicted: PredictedJobSync, podsKnown: boolean): ActionReason[] {
  if (predicted.type === "skipped") {
    const { reason: why, detail } = predicted;
    switch (why) {
      case "finished":
        return [{ reason: why, message: "nothing: the Job has finished" }];
      case "managedElsewhere":
        return [{ reason: why, message: `nothing: spec.managedBy leaves the Job to ${detail}` }];
      case "unknownCompletionMode":
        return [{ reason: why, message: `nothing: completionMode ${JSON.stringify(detail)} is not known` }];
      default:
        return [{ reason: why, message: `nothing: the Job cannot be read: ${detail}` }];
    }
  }
  if (!podsKnown) return [{ reason: "unknown", message: "unknown without its pods" }];
  return predicted.reasons.map((reason) => ({ reason: reason.type, message: explainJobReason(reason) }));
}

/** Reasons that a running controller acts on within two seconds. If they persist, no controller is running. */
const IMMEDIATE_REASONS: ReadonlySet<string> = new Set(["Creating", "TooManyActive", "UselessIndexes", "Finished"]);

interface NoteContext {
  readonly clock: ZonedClock;
  readonly nowMs: number;
  readonly behaviours: VersionBehaviours;
}

const NEWEST: SimulatedVersion = { version: NEWEST_VERSION };

function notesOf(
  job: DeepReadonly<Job>,
  planned: PlannedJob | undefined,
  pods: readonly PodFact[],
  { clock, nowMs, behaviours }: NoteContext,
): string[] {
  const notes: string[] = [];
  const { metadata } = job;
  if (metadata.deletionTimestamp) {
    const finalizers = metadata.finalizers ?? [];
    const waits = finalizers.length > 0 ? `: waiting for ${finalizers.join(", ")} to be removed` : "";
    notes.push(`being deleted since ${clock.brief(parseTime(metadata.deletionTimestamp) ?? nowMs)}${waits}`);
  }
  notes.push(...keptStartTimeNotes(job, clock, nowMs));
  if (planned === undefined) return notes;
  notes.push(...unreportedPodsNotes(planned, behaviours));
  const { failuresAfterLastSuccess, lastFailureMs } = planned.backoff;
  if (planned.reasons.some(({ type }) => type === "Backoff") && lastFailureMs !== undefined) {
    notes.push(
      `${failuresAfterLastSuccess} failed since the last success, the last at ${clock.brief(lastFailureMs)}; the controller keeps this in memory only, one restarted since does not wait`,
    );
  }
  const uncounted = pods.filter(({ phase, counted }) => !counted && (phase === "Succeeded" || phase === "Failed"));
  if (uncounted.length > 0) {
    const [first] = uncounted;
    notes.push(
      `${uncounted.length === 1 ? `pod ${first!.name} has` : `${uncounted.length} pods have`} ended and ${uncounted.length === 1 ? "is" : "are"} not in the Job's counts yet`,
    );
  }
  if (planned.reasons.some(({ type }) => IMMEDIATE_REASONS.has(type)))
    notes.push(
      "a working controller does this within seconds; if this persists, no controller is running, or its requests are refused",
    );
  const finished = planned.plan.end;
  if (finished?.recorded === true && pods.some(({ deleting }) => deleting))
    notes.push(
      `the end is decided and waits for ${terminatingPodsText(pods.filter(({ deleting }) => deleting).length)} to go`,
    );
  return notes;
}

/** Notes for a Job that a controller of 1.35 or earlier suspended. The release that resumes it does not matter. */
function keptStartTimeNotes({ spec, status }: DeepReadonly<Job>, clock: ZonedClock, nowMs: number): string[] {
  const startMs = parseTime(status?.startTime);
  const seconds = spec?.activeDeadlineSeconds;
  if (spec?.suspend !== true || startMs === undefined || seconds == null) return [];
  if (!isConditionTrue(status?.conditions, "Suspended")) return [];
  const deadlineMs = startMs + secondsAsDurationMs(seconds);
  const when = deadlineMs <= nowMs ? "has passed" : `passes at ${clock.brief(deadlineMs)}`;
  return [
    `its activeDeadlineSeconds keep counting while it is suspended, because startTime was kept (up to Kubernetes 1.35), and the deadline ${when}: resumed after that it fails with DeadlineExceeded`,
  ];
}

function unreportedPodsNotes({ plan }: PlannedJob, { jobManagedBy }: VersionBehaviours): string[] {
  const { pods: podPlan, observed } = plan;
  const active = observed.active.length;
  if (podPlan?.reportedActive === undefined || podPlan.reportedActive === active) return [];
  const discrepancy = `while it waits, the controller reports ${podPlan.reportedActive} active pods instead of ${active}`;
  if (!jobManagedBy || observed.ready <= podPlan.reportedActive)
    return [`${discrepancy} (kubernetes#139428, fixed in Kubernetes 1.36.3)`];
  return [
    `${discrepancy}, which the API server refuses (422, cannot set more ready pods than active): until then failures are not counted and ended pods keep their finalizer (kubernetes#139428, fixed in Kubernetes 1.36.3)`,
  ];
}

function terminatingPodsText(count: number): string {
  return `${count} terminating pod${count === 1 ? "" : "s"}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

import { type Job, type Pod, finishedCondition, isConditionTrue } from "@kubewright/api";

import type { Invariant, InvariantChecks } from "./invariant.js";
import {
  CRON_JOBS,
  CRON_JOB_CONTROLLER,
  GARBAGE_COLLECTOR,
  JOBS,
  JOB_CONTROLLER,
  PODS,
  POD_GC_CONTROLLER,
  TTL_CONTROLLER,
  isBeingDeleted,
  isFromController,
} from "./invariants/stored-objects.js";
import { hasEnded, hasFailed, isActive, isTerminating, isTracked } from "./invariants/job-state.js";
import type { AnsweredRequest, CacheEvent, Stored, StoredChange, ReportedDecision } from "./world.js";

/**
 * A state that a campaign has to cover at least once: code that depends on a state that is never covered is untested.
 */
export interface Sometimes {
  /** Name of the state: `cap reached`. */
  readonly name: string;
  /** Description, in a sentence. */
  readonly sentence: string;
}

/** Predicates that recognise a state; any of them is sufficient. */
interface StatePredicates {
  readonly change?: (change: StoredChange) => boolean;
  readonly answer?: (request: AnsweredRequest) => boolean;
  readonly decision?: (decision: ReportedDecision) => boolean;
  readonly cache?: (event: CacheEvent) => boolean;
}

/** Matches a decision of a controller. */
const decided = <Controller extends ReportedDecision["controller"]>(
  controller: Controller,
  test: (decision: DecisionOf<Controller>) => boolean,
): StatePredicates => ({
  decision: (reported) => reported.controller === controller && test(reported.decision as DecisionOf<Controller>),
});

type DecisionOf<Controller> = Extract<ReportedDecision, { controller: Controller }>["decision"];
type JobDecision = DecisionOf<"job-controller">;

const job = (test: (decision: JobDecision) => boolean): StatePredicates => decided(JOB_CONTROLLER, test);

/** Matches a sync of a Job with a reason of that type. */
const reason = (type: JobDecision["reasons"][number]["type"]): StatePredicates =>
  job(({ reasons }) => reasons.some((each) => each.type === type));

const ends = (why: string): StatePredicates => job(({ plan: { end } }) => end?.reason === why);

/** Matches a response to a component's request. */
const answered = (
  component: string,
  verb: string,
  resource: string,
  test: (request: AnsweredRequest) => boolean,
): StatePredicates => ({
  answer: (request) =>
    request.component === component && request.verb === verb && request.resource === resource && test(request),
});

const refused = ({ code }: AnsweredRequest): boolean => code === 0 || code > 299;
const lost = (request: AnsweredRequest): boolean => request.tookEffect && refused(request);

/** Matches a component's change of a pod. */
const podChanged = (component: string, test: (pod: Stored<Pod>, before: Stored<Pod>) => boolean): StatePredicates => ({
  change: ({ resource, request, object, previous }) =>
    resource === PODS && request?.component === component && previous !== undefined && test(object, previous),
});

const jobStatus = (test: (job: Stored<Job>, before: Stored<Job>) => boolean): StatePredicates => ({
  change: ({ resource, object, previous }) => resource === JOBS && previous !== undefined && test(object, previous),
});

const isOwned = ({ metadata }: Stored): boolean => (metadata.ownerReferences ?? []).length > 0;

const STATES: Readonly<Record<string, readonly [sentence: string, signs: StatePredicates]>> = {
  // The Job controller's plans.
  "creates pods": ["A sync creates pods.", reason("Creating")],
  "creates many": [
    "One sync creates more than two pods, so that slow start has batches.",
    job(({ plan }) => (plan.pods?.create.length ?? 0) > 2),
  ],
  "too many active": ["A Job has more active pods than it wants, and deletes some.", reason("TooManyActive")],
  "useless indexes": ["Pods are deleted because their index is out of range or taken.", reason("UselessIndexes")],
  "waits for terminating pods": ["A replacement waits until a terminating pod has ended.", reason("Terminating")],
  "back-off": ["A replacement waits for the Job's back-off.", reason("Backoff")],
  "back-off beside running pods": [
    "A replacement waits while other pods run.",
    job(({ plan }) => plan.pods?.retryAfterMs !== undefined && plan.observed.active.length > 0),
  ],
  "long back-off": [
    "A replacement waits longer than a minute.",
    job(({ plan }) => (plan.pods?.retryAfterMs ?? 0) > 60_000),
  ],
  "index back-off": ["A replacement waits for the back-off of its index.", reason("IndexBackoff")],
  "two indexes waiting": [
    "Two indexes wait for their back-off at once.",
    job(({ plan }) => (plan.indexes?.awaitingReplacement.size ?? 0) > 1),
  ],
  "no pending index": ["Fewer pods are active than wanted, and no index is left to start.", reason("NoPendingIndex")],
  suspended: [
    "A sync deletes the pods of a Job that was suspended.",
    job(({ reasons }) => reasons.some((each) => each.type === "Suspended" && each.deleting > 0)),
  ],
  resumed: ["A Job is resumed.", reason("Resumed")],
  "expectations pending": [
    "A sync leaves pods alone until the cache shows those created or deleted last.",
    reason("ExpectationsPending"),
  ],
  "Job being deleted": ["A sync looks at a Job that is being deleted.", reason("JobBeingDeleted")],
  "end postponed by expectations": [
    "An end waits until the cache shows pods created last.",
    job(({ reasons }) =>
      reasons.some((each) => each.type === "EndPostponed" && each.because === "ExpectationsPending"),
    ),
  ],
  "end postponed by a deletion": [
    "An end waits because a pod could not be deleted.",
    job(({ reasons }) => reasons.some((each) => each.type === "EndPostponed" && each.because === "DeletionFailed")),
  ],
  "end waits for termination": ["An end is decided while pods terminate.", reason("WaitingForTermination")],
  "cap reached": ["One sync has more ended pods than it may account for.", reason("PodsLeftToCount")],
  "ends with BackoffLimitExceeded": ["A Job fails by its limit.", ends("BackoffLimitExceeded")],
  "ends with DeadlineExceeded": ["A Job fails by its deadline.", ends("DeadlineExceeded")],
  "ends with PodFailurePolicy": ["A Job fails by a rule of its policy.", ends("PodFailurePolicy")],
  "ends with MaxFailedIndexesExceeded": [
    "A Job fails by its number of failed indexes.",
    ends("MaxFailedIndexesExceeded"),
  ],
  "ends with FailedIndexes": [
    "A Job fails as all of its indexes have ended, some of them failed.",
    ends("FailedIndexes"),
  ],
  "ends with SuccessPolicy": ["A Job succeeds by its policy.", ends("SuccessPolicy")],
  "ends with active pods": [
    "A Job ends that has pods to be deleted for it.",
    job(({ plan }) => plan.end !== undefined && plan.observed.active.length > 0),
  ],
  completes: [
    "A Job completes.",
    jobStatus((is, was) => finishedCondition(is)?.type === "Complete" && finishedCondition(was) === undefined),
  ],
  // The Job controller's counting of pods.
  "recorded, finalizer kept": [
    "A pod has the tracking finalizer although the status has recorded it, at the end of a sync.",
    job(
      ({ error, plan }) =>
        error !== undefined &&
        plan.observed.tracked.length > plan.observed.newlySucceeded.length + plan.observed.newlyFailed.length,
    ),
  ],
  "finalizer removed, not counted": [
    "A status lists a pod whose finalizer is removed.",
    jobStatus(
      (is) =>
        (is.status?.uncountedTerminatedPods?.succeeded?.length ?? 0) +
          (is.status?.uncountedTerminatedPods?.failed?.length ?? 0) >
        1,
    ),
  ],
  "FailureTarget with terminating pods": [
    "FailureTarget is stored, and the Job waits for pods to end.",
    jobStatus(({ status }) => isConditionTrue(status?.conditions, "FailureTarget") && (status?.terminating ?? 0) > 0),
  ],
  "SuccessCriteriaMet with terminating pods": [
    "SuccessCriteriaMet is stored, and the Job waits for pods to end.",
    jobStatus(
      ({ status }) => isConditionTrue(status?.conditions, "SuccessCriteriaMet") && (status?.terminating ?? 0) > 0,
    ),
  ],
  "more successes than completions": [
    "More pods have succeeded than the Job asks for.",
    jobStatus(({ spec, status }) => spec?.completions != null && (status?.succeeded ?? 0) > spec.completions),
  ],
  "fewer completions": [
    "An indexed Job is scaled down.",
    jobStatus((is, was) => (is.spec?.completions ?? 0) < (was.spec?.completions ?? 0)),
  ],
  // Changes of pods.
  adoption: ["The Job controller adopts a pod.", podChanged(JOB_CONTROLLER, (is, was) => isOwned(is) && !isOwned(was))],
  release: [
    "The Job controller releases a pod that its selector does not match.",
    podChanged(JOB_CONTROLLER, (is, was) => !isOwned(is) && isOwned(was)),
  ],
  "orphan finalizer removed": [
    "The Job controller removes the finalizer of a pod without an owner.",
    podChanged(JOB_CONTROLLER, (is, was) => !isOwned(was) && isTracked(was) && !isTracked(is)),
  ],
  "finalizer of a running pod removed": [
    "The Job controller removes the finalizer of a running pod, to delete it.",
    podChanged(JOB_CONTROLLER, (is, was) => isActive(was) && isTracked(was) && !isTracked(is)),
  ],
  "terminating pod ends": [
    "A pod ends after it was asked to.",
    podChanged("kubelet", (is, was) => isTerminating(was) && hasEnded(is)),
  ],
  "terminating pod fails": [
    "A pod that was asked to end fails.",
    podChanged("kubelet", (is, was) => isTerminating(was) && hasFailed(is)),
  ],
  "phase flips": [
    "A pod changes its phase after it ended.",
    {
      change: ({ resource, object, previous }) =>
        resource === PODS &&
        previous !== undefined &&
        hasEnded(previous) &&
        (object as Stored<Pod>).status?.phase !== (previous as Stored<Pod>).status?.phase,
    },
  ],
  // Responses to the Job controller.
  "create refused": [
    "The creation of a pod is refused.",
    answered(JOB_CONTROLLER, "create", PODS, (request) => refused(request) && !request.tookEffect),
  ],
  "create lost": ["A pod is created, and the answer is lost.", answered(JOB_CONTROLLER, "create", PODS, lost)],
  "create over quota": [
    "A quota refuses a pod.",
    answered(JOB_CONTROLLER, "create", PODS, ({ message = "" }) => message.includes("exceeded quota")),
  ],
  "finalizer patch refused": [
    "The removal of a finalizer is refused.",
    answered(JOB_CONTROLLER, "patch", PODS, refused),
  ],
  "finalizer patch of a pod that is gone": [
    "The removal of a finalizer meets 404.",
    answered(JOB_CONTROLLER, "patch", PODS, ({ code }) => code === 404),
  ],
  "pod deletion refused": ["The deletion of a pod is refused.", answered(JOB_CONTROLLER, "delete", PODS, refused)],
  "conflict on a Job's status": [
    "Another client changed a Job between a read and a write of its status.",
    answered(JOB_CONTROLLER, "update", JOBS, ({ code, injected }) => code === 409 && !injected),
  ],
  "status lost": ["A Job's status is written, and the answer is lost.", answered(JOB_CONTROLLER, "update", JOBS, lost)],
  // CronJobs.
  "CronJob starts": ["A CronJob starts a Job.", decided(CRON_JOB_CONTROLLER, ({ outcome }) => outcome === "ran")],
  "CronJob replaces": [
    "A CronJob replaces an active Job.",
    decided(CRON_JOB_CONTROLLER, ({ outcome }) => outcome === "replaced"),
  ],
  "AlreadyExists, adopted": [
    "The Job of a slot exists already, and belongs to the CronJob.",
    decided(CRON_JOB_CONTROLLER, ({ outcome }) => outcome === "adopted"),
  ],
  "AlreadyExists, foreign": [
    "The Job of a slot exists already, and belongs to another owner.",
    decided(CRON_JOB_CONTROLLER, ({ reason: why }) => why === "ownedByAnother"),
  ],
  "Forbid blocks": [
    "A slot is not started because a Job is active.",
    decided(CRON_JOB_CONTROLLER, ({ reason: why }) => why === "stillActive"),
  ],
  "100 missed": [
    "A CronJob has missed more than a hundred slots.",
    decided(CRON_JOB_CONTROLLER, ({ missed }) => missed.some(({ count }) => count > 100)),
  ],
  "slot too late": [
    "A slot is missed because its deadline has passed.",
    decided(CRON_JOB_CONTROLLER, ({ missed }) => missed.some(({ reason: why }) => why === "deadlinePassed")),
  ],
  "slot superseded": [
    "A slot is missed because a later one is due as well.",
    decided(CRON_JOB_CONTROLLER, ({ missed }) => missed.some(({ reason: why }) => why === "superseded")),
  ],
  "conflict on a CronJob's status": [
    "Another client changed a CronJob between a read and a write of its status.",
    answered(CRON_JOB_CONTROLLER, "update", CRON_JOBS, ({ code }) => code === 409),
  ],
  "history cleaned": [
    "A CronJob deletes a Job beyond its limit.",
    answered(CRON_JOB_CONTROLLER, "delete", JOBS, ({ tookEffect }) => tookEffect),
  ],
  // Garbage collection.
  "conflict on garbage": [
    "What the garbage collector deletes was changed meanwhile.",
    {
      answer: ({ component, verb, code }) => component === GARBAGE_COLLECTOR && verb === "delete" && code === 409,
    },
  ],
  "virtual owner": [
    "The garbage collector looks for an owner that it has not seen.",
    {
      answer: ({ component, verb, code }) => component === GARBAGE_COLLECTOR && verb === "get" && code === 404,
    },
  ],
  "reference removed": [
    "The garbage collector removes a reference to an owner that is gone, beside another that is not.",
    decided(GARBAGE_COLLECTOR, ({ action }) => action === "referencesRemoved"),
  ],
  "foreground deletion ends": [
    "The garbage collector ends a foreground deletion, or orphaning.",
    decided(GARBAGE_COLLECTOR, ({ action }) => action === "released"),
  ],
  "TTL deletes": ["The TTL controller deletes a Job.", decided(TTL_CONTROLLER, ({ outcome }) => outcome === "deleted")],
  "PodGC, node gone": [
    "PodGC deletes a pod of a node that is gone.",
    decided(POD_GC_CONTROLLER, ({ reason: why }) => why === "orphaned"),
  ],
  "PodGC, threshold": [
    "PodGC deletes ended pods beyond its threshold.",
    decided(POD_GC_CONTROLLER, ({ reason: why }) => why === "terminated"),
  ],
  "PodGC, out of service": [
    "PodGC deletes a pod of a node that is out of service.",
    decided(POD_GC_CONTROLLER, ({ reason: why }) => why === "out-of-service"),
  ],
  "PodGC, unscheduled": [
    "PodGC deletes a pod without a node.",
    decided(POD_GC_CONTROLLER, ({ reason: why }) => why === "unscheduled"),
  ],
  // Caches and leaders.
  "name taken again": [
    "An informer delivers another object of the same name as an update.",
    {
      cache: ({ type, object, previous }) =>
        type === "update" && previous !== undefined && previous.metadata.uid !== object.metadata.uid,
    },
  ],
  "deletion not observed": [
    "An informer delivers a deletion that its watch missed.",
    {
      cache: ({ type, object }) => type === "delete" && !isBeingDeleted(object) && object.kind === "Pod",
    },
  ],
  "restarted controller": [
    "A controller that was killed is shown what is stored.",
    {
      cache: ({ incarnation }) => incarnation > 1,
    },
  ],
  "second leader": [
    "The controllers of another controller manager write.",
    {
      change: ({ request }) => request !== undefined && isFromController(request) && request.process.endsWith("-2"),
    },
  ],
};

/** All states; the order has no meaning. */
export const sometimes: readonly Sometimes[] = Object.entries(STATES).map(([name, [sentence]]) => ({ name, sentence }));

/** The covered states of the runs that check {@link CoveredStates.invariant}. */
export interface CoveredStates {
  /** An invariant that is never violated; add it to the others. */
  readonly invariant: Invariant;
  /** Names in {@link sometimes}, in the order in which they were covered. */
  readonly names: ReadonlySet<string>;
}

/** Returns a collector of the states that runs cover; one collector may serve several runs. */
export function collectStates(): CoveredStates {
  const names = new Set<string>();
  return {
    names,
    invariant: {
      name: "sometimes",
      sentence: "Records which states were covered.",
      watch: (): InvariantChecks => {
        const look = <Reported>(
          sign: (signs: StatePredicates) => ((reported: Reported) => boolean) | undefined,
        ): ((reported: Reported) => void) => {
          const open = new Map(
            Object.entries(STATES).flatMap(([name, [, signs]]) => {
              const matches = names.has(name) ? undefined : sign(signs);
              return matches === undefined ? [] : [[name, matches]];
            }),
          );
          return (reported) => {
            for (const [name, matches] of open) {
              if (!matches(reported)) continue;
              names.add(name);
              open.delete(name);
            }
          };
        };
        return {
          onChange: look(({ change }) => change),
          onAnswer: look(({ answer }) => answer),
          onDecision: look(({ decision }) => decision),
          onCacheEvent: look(({ cache }) => cache),
        };
      },
    },
  };
}

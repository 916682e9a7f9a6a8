import type { Job, CronJob } from "@kubewright/api";

import type { FaultPlan } from "./fault-plan.js";
import type { InvariantViolation } from "./invariant.js";
import type { Outcome, SettledObject } from "./outcome.js";
import type { Effect } from "./faults/event-definition.js";
import { type ScenarioEventEntry, effectsOf } from "./faults/registry.js";
import type { Target } from "./scenario/schema.js";

const INVARIANT = "L1 Jobs end as without faults";

type Settled = Outcome["settled"];

/**
 * Returns the Jobs whose end in a run with faults differs from their end without faults, beyond what the plan's events
 * permit. A Job has to end in the same way, for the same reason, with the same counts and indexes.
 *
 * | Event, or property of the Job                                                | Permitted difference                                     |
 * | ---------------------------------------------------------------------------- | -------------------------------------------------------- |
 * | a user edits, suspends or deletes the Job or its CronJob                     | everything                                               |
 * | its pods are deleted, evicted or lost with a node                            | more failures, and their effects: end and failed count   |
 * | the Job has `activeDeadlineSeconds`                                          | whether the deadline is exceeded                         |
 * | the response to a pod creation is lost (X4)                                  | more successes, more failures                            |
 * | syncs do not wait for their own writes, and watches fail (X4)                | more successes, more failures                            |
 * | containers restart in place (`OnFailure`)                                    | whether the limit is reached before the pod succeeds     |
 * | several pods at a time, some of which fail                                   | which end comes first, and how many pods have ended then |
 * | no `completions` (X5), or a `successPolicy`                                  | how many pods succeed, and which                         |
 * | stale lists after a restart (X7)                                             | the counts                                               |
 * | another client changes its pods (X3)                                         | whether observed successes are counted                   |
 * | wrong controller clocks                                                      | deadlines, TTLs, and whether a back-off is over          |
 *
 * Two effects also permit an unfinished Job. A clock that was set back sees failures in the future, which extends the
 * back-off. Where syncs do not wait for their own writes and watches fail, a sync may wait forever for a pod that was
 * created and deleted unobserved (X4).
 *
 * Objects that only one of the runs has are not compared: a TTL, a CronJob's history limit or a user may have deleted
 * them.
 *
 * @param faultFree - Settled objects of the plan without faults.
 * @param withFaults - Settled objects of the run to check.
 * @param plan - Plan of the run to check.
 */
export function compareSettled(faultFree: Settled, withFaults: Settled, plan: FaultPlan): InvariantViolation[] {
  const effects = new PlanEffects(plan);
  const violations: InvariantViolation[] = [];
  const atMs = Date.parse(plan.start);
  for (const { subject, job, actual } of comparedJobs(withFaults, plan, effects)) {
    const expected = faultFree[subject];
    if (expected === undefined || expected.end === "") continue;
    for (const message of differences(expected, actual, job, effects))
      violations.push({ invariant: INVARIANT, subject, message, atMs });
  }
  return violations;
}

/** Reports whether {@link compareSettled} can return a violation for this run, for any result of the fault-free run. */
export function mayDiffer(withFaults: Settled, plan: FaultPlan): boolean {
  const effects = new PlanEffects(plan);
  for (const { job, actual } of comparedJobs(withFaults, plan, effects))
    // The fault-free result can only permit more differences, never fewer.
    if (
      !hasEnd(actual) ||
      permittedFields(actual, actual, job, effects).size < FIELDS.length ||
      isIncomplete(actual, job, effects)
    )
      return true;
  return false;
}

/** Yields the plan's Jobs whose end is determined by the plan. */
function* comparedJobs(
  withFaults: Settled,
  { manifests }: FaultPlan,
  effects: PlanEffects,
): Generator<{ readonly subject: string; readonly job: Job; readonly actual: SettledObject }, void> {
  for (const manifest of manifests) {
    if (manifest.kind !== "Job") continue;
    const job = manifest as unknown as Job;
    if (job.spec?.suspend === true || isManagedElsewhere(job) || effects.isEdited(job)) continue;
    const subject = `Job ${job.metadata.namespace ?? "default"}/${job.metadata.name}`;
    const actual = withFaults[subject];
    if (actual === undefined || (!hasEnd(actual) && effects.mayKeepWaiting(job))) continue;
    yield { subject, job, actual };
  }
}

function* differences(
  expected: SettledObject,
  actual: SettledObject,
  job: Job,
  effects: PlanEffects,
): Generator<string, void> {
  if (!hasEnd(actual)) {
    yield `does not end, and is ${expected.end} (${expected.reason}) without faults`;
    return;
  }
  const permitted = permittedFields(expected, actual, job, effects);
  for (const field of FIELDS) {
    if (permitted.has(field) || (actual[field] ?? "") === (expected[field] ?? "")) continue;
    yield `${field} is ${actual[field] ?? "absent"}, and ${expected[field] ?? "absent"} without faults`;
  }
  if (isIncomplete(actual, job, effects))
    yield `is Complete with ${actual.succeeded} of ${job.spec?.completions} successes`;
}

function hasEnd({ end }: SettledObject): boolean {
  return end !== "" && end !== undefined;
}

/**
 * Reports whether the Job is Complete without all its completions, although no client changed pods that had succeeded.
 */
function isIncomplete({ end, reason, succeeded }: SettledObject, { spec }: Job, effects: PlanEffects): boolean {
  const completions = spec?.completions;
  return (
    end === "Complete" &&
    reason === "CompletionsReached" &&
    completions != null &&
    Number(succeeded) < completions &&
    !effects.changesPods
  );
}

type Field = "end" | "reason" | "succeeded" | "failed" | "completedIndexes" | "failedIndexes";

const END: readonly Field[] = ["end", "reason"];
const COUNTS: readonly Field[] = ["succeeded", "failed", "completedIndexes", "failedIndexes"];
const FIELDS: readonly Field[] = [...END, ...COUNTS];

/** Returns the fields of a Job that may differ. */
function permittedFields(
  expected: SettledObject,
  actual: SettledObject,
  job: Job,
  effects: PlanEffects,
): ReadonlySet<Field> {
  const { spec } = job;
  const permitted = new Set<Field>();
  const permit = (fields: readonly Field[]): void => {
    for (const field of fields) permitted.add(field);
  };
  const hasFailures = Number(expected.failed) > 0 || Number(actual.failed) > 0;
  const isOneByOne = (spec?.parallelism ?? 1) <= 1;
  if (effects.losesPods(job)) permit([...END, ...COUNTS]);
  if (spec?.activeDeadlineSeconds != null) permit([...END, ...COUNTS]);
  if (effects.losesCreations) permit(["succeeded", "failed"]);
  if (effects.losesCreations && hasFailures) permit([...END, ...COUNTS]);
  if (spec?.template.spec?.restartPolicy === "OnFailure") permit([...END, ...COUNTS]);
  if (!isOneByOne && hasFailures) permit([...END, ...COUNTS]);
  if (spec?.completions == null || spec.successPolicy != null) permit(["succeeded", "failed", "completedIndexes"]);
  if (effects.hasStaleLists) permit(COUNTS);
  // A failing Job stops all its running pods.
  if (actual.end === "Failed" && !isOneByOne) permit(COUNTS);
  return permitted;
}

function isManagedElsewhere({ spec }: Job): boolean {
  return spec?.managedBy != null && spec.managedBy !== "kubernetes.io/job-controller";
}

/** Possible effects of a plan's events. */
class PlanEffects {
  readonly #entries: readonly ScenarioEventEntry[];
  readonly #effects: ReadonlySet<Effect>;
  readonly #waitsForWrites: boolean;

  constructor({ events = [], controllers }: FaultPlan) {
    this.#entries = events;
    this.#effects = effectsOf(events);
    this.#waitsForWrites = controllers?.consistencyGate !== false;
  }

  /**
   * Reports whether a user changes or deletes the Job, or applies an object. The deletion of its namespace counts too.
   */
  isEdited({ metadata }: Job): boolean {
    return this.#entries.some((entry) => {
      if (entry.apply !== undefined) return true;
      const targets = [entry.patch, entry.suspend, entry.resume, entry.delete];
      return targets.some(
        (target) =>
          target !== undefined && target.kind !== "Pod" && target.kind !== "Node" && matchesTarget(target, metadata),
      );
    });
  }

  /** Reports whether pods of the Job may end that would not end without faults. */
  losesPods({ metadata }: Job): boolean {
    if (this.#effects.has("losesPods")) return true;
    return this.#entries.some(({ podEvicted, patch, delete: deletion }) => {
      if (podEvicted !== undefined) return podEvicted.job === undefined || podEvicted.job === metadata.name;
      return [patch?.kind, deletion?.kind].some((kind) => kind === "Pod" || kind === "Node");
    });
  }

  /** Reports whether another client may change the result or the owner of pods. */
  get changesPods(): boolean {
    return this.#entries.some(({ patch }) => patch?.kind === "Pod");
  }

  /**
   * Reports whether a pod may exist that its creator does not know about: a sync with a stale cache counts pods twice
   * and creates them twice.
   */
  get losesCreations(): boolean {
    return this.#effects.has("losesCreations") || (!this.#waitsForWrites && this.#effects.has("delaysCaches"));
  }

  /** Reports whether the Job's next pods may be delayed until the run is over. */
  mayKeepWaiting({ spec }: Job): boolean {
    const ignores = spec?.podFailurePolicy?.rules.some(({ action }) => action === "Ignore") ?? false;
    // No event ends the wait for pods that were created and deleted while a watch was interrupted.
    const hidesPods = !this.#waitsForWrites && this.#effects.has("hidesPods");
    // Each sync that cannot remove the finalizer of an ignored failure counts the failure for the back-off again.
    const keepsFinalizers = ignores && this.#effects.has("refusesRequests");
    return this.#effects.has("changesClocks") || hidesPods || this.#deletesNodes || keepsFinalizers;
  }

  /** Reports whether all nodes may be deleted. */
  get #deletesNodes(): boolean {
    return this.#entries.some((entry) => entry.delete?.kind === "Node");
  }

  get hasStaleLists(): boolean {
    return this.#effects.has("returnsOldLists");
  }
}

function matchesTarget({ kind, namespace, name, labels }: Target, metadata: CronJob["metadata"]): boolean {
  if (kind === "Namespace") return true;
  if (namespace !== undefined && namespace !== (metadata.namespace ?? "default")) return false;
  return labels !== undefined || name === undefined || name === metadata.name;
}

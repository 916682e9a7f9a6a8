import type { Job, CronJob } from "@kubewright/api";

import type { FaultPlan } from "./fault-plan.js";
import type { Violation } from "./invariant.js";
import type { Outcome, SettledObject } from "./outcome.js";
import type { ScenarioEventEntry, Target } from "./scenario/scenario-file.js";

const INVARIANT = "L1 Jobs end as without faults";

type Settled = Outcome["settled"];

/**
 * What a run with faults came to and must not have, given what the same workload comes to without any: a Job ends in the same
 * way, for the same reason, with the same counts and indexes, except for what the plan's happenings leave open.
 *
 * | What happens, or what the Job is like          | Leaves open                                                    |
 * | ---------------------------------------------- | -------------------------------------------------------------- |
 * | a user edits, suspends or deletes it or its CronJob | everything                                                |
 * | its pods are deleted, evicted or lost with a node | more failures, and what follows: how it ends, how many failed |
 * | it has `activeDeadlineSeconds`                 | whether it is met                                              |
 * | the answer to a pod's creation is lost (X4)    | more successes, more failures                                  |
 * | it does not wait for its own writes, and its watches fail (X4) | more successes, more failures                   |
 * | containers are restarted in place (OnFailure)  | whether the limit is noticed before the pod succeeds           |
 * | several pods at a time, of which some fail     | which end comes first, and how many pods have ended by then    |
 * | no `completions` (X5), or `successPolicy`      | how many succeed, and which                                    |
 * | old lists after a restart (X7)                 | the counts                                                     |
 * | somebody changes its pods (X3)                 | whether those that it has seen to succeed are counted          |
 * | clocks of controllers are wrong                | deadlines, times to live, and whether its back-off is over     |
 *
 * Two things leave open whether it ends: back-off, as failures lie in the future to a clock that was set back, and watches that
 * fail where it does not wait for its own writes, as it may wait for ever to see a pod that came and went (X4). Objects that
 * only one of the runs has are compared by nobody: a time to live, a CronJob's history and a user may have removed them.
 *
 * @param faultFree - What a run of the plan without faults settled to.
 * @param withFaults - What the run in question settled to.
 * @param plan - Of that run.
 */
export function compareSettled(faultFree: Settled, withFaults: Settled, plan: FaultPlan): Violation[] {
  const effects = new PlanEffects(plan);
  const violations: Violation[] = [];
  const atMs = Date.parse(plan.start);
  for (const { subject, job, actual } of comparedJobs(withFaults, plan, effects)) {
    const expected = faultFree[subject];
    if (expected === undefined || expected.end === "") continue;
    for (const message of differences(expected, actual, job, effects))
      violations.push({ invariant: INVARIANT, subject, message, atMs });
  }
  return violations;
}

/** Whether there is something that {@link compareSettled} could tell of, whatever the run without faults comes to. */
export function mayDiffer(withFaults: Settled, plan: FaultPlan): boolean {
  const effects = new PlanEffects(plan);
  for (const { job, actual } of comparedJobs(withFaults, plan, effects))
    // What a run comes to leaves more open, never less.
    if (
      !hasEnd(actual) ||
      permittedFields(actual, actual, job, effects).size < FIELDS.length ||
      isIncomplete(actual, job, effects)
    )
      return true;
  return false;
}

/** The plan's Jobs of which it is known how they must end. */
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

/** Whether it is Complete without all its completions, and nobody has changed pods that had succeeded by then. */
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

/** What of a Job may be otherwise. */
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
  // Who fails stops all that it runs.
  if (actual.end === "Failed" && !isOneByOne) permit(COUNTS);
  return permitted;
}

function isManagedElsewhere({ spec }: Job): boolean {
  return spec?.managedBy != null && spec.managedBy !== "kubernetes.io/job-controller";
}

/** What a plan's happenings may have done. */
class PlanEffects {
  readonly #entries: readonly ScenarioEventEntry[];
  readonly #waitsForWrites: boolean;

  constructor({ events = [], controllers }: FaultPlan) {
    this.#entries = events;
    this.#waitsForWrites = controllers?.consistencyGate !== false;
  }

  /** Whether a user does something to the Job, or applies something: its namespace may be gone with it. */
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

  /** Whether pods may end that would not have. */
  losesPods({ metadata }: Job): boolean {
    return this.#entries.some((entry) => {
      const { nodeLost, nodeDrained, nodeTainted, podEvicted, patch } = entry;
      if (nodeLost !== undefined || nodeDrained !== undefined || nodeTainted !== undefined) return true;
      if (podEvicted !== undefined) return podEvicted.job === undefined || podEvicted.job === metadata.name;
      return (
        entry.delete?.kind === "Pod" || entry.delete?.kind === "Node" || patch?.kind === "Pod" || patch?.kind === "Node"
      );
    });
  }

  /** Whether somebody from outside has a say in how pods have ended, and whose they are. */
  get changesPods(): boolean {
    return this.#entries.some(({ patch }) => patch?.kind === "Pod");
  }

  /** Whether pods may be there that whoever made them does not know of. */
  get losesCreations(): boolean {
    return this.#entries.some(
      ({ requestFails, apiServerDown, controllerCrashes, paused, staleCache, watchSilent, watchCut, leaseLost }) =>
        requestFails?.effect === "kept" ||
        // Who is behind counts anew what it has counted, and makes what it has made.
        (!this.#waitsForWrites && (requestFails !== undefined || watchCut !== undefined)) ||
        apiServerDown !== undefined ||
        controllerCrashes !== undefined ||
        paused !== undefined ||
        leaseLost !== undefined ||
        // Creations that no cache shows for five minutes are given up.
        staleCache !== undefined ||
        watchSilent !== undefined,
    );
  }

  /** Whether a controller may take what has been for what is yet to come, and wait for that much longer. */
  get changesClocks(): boolean {
    return this.#entries.some(({ clockJump, clockSkew }) => clockJump !== undefined || clockSkew !== undefined);
  }

  /** Whether a controller may wait for ever to see pods that came and went while its watch was cut: nothing tells it when it gives up. */
  get hidesPods(): boolean {
    return (
      !this.#waitsForWrites &&
      this.#entries.some(
        ({ watchCut, watchSilent, apiServerDown, apiServerRestart }) =>
          (watchCut ?? watchSilent ?? apiServerDown ?? apiServerRestart) !== undefined,
      )
    );
  }

  /** Whether a Job may have its next pods put off until the run is over. */
  mayKeepWaiting({ spec }: Job): boolean {
    const ignores = spec?.podFailurePolicy?.rules.some(({ action }) => action === "Ignore") ?? false;
    // A failure that is ignored counts for the back-off with each sync that may not let go of its pod.
    return this.changesClocks || this.hidesPods || this.#deletesNodes || (ignores && this.#refusesRequests);
  }

  /** Whether there may be no node left. */
  get #deletesNodes(): boolean {
    return this.#entries.some((entry) => entry.delete?.kind === "Node");
  }

  get #refusesRequests(): boolean {
    return this.#entries.some(
      ({ requestFails, apiServerDown, apiServerRestart }) =>
        (requestFails ?? apiServerDown ?? apiServerRestart) !== undefined,
    );
  }

  get hasStaleLists(): boolean {
    return this.#entries.some(({ staleList }) => staleList !== undefined);
  }
}

function matchesTarget({ kind, namespace, name, labels }: Target, metadata: CronJob["metadata"]): boolean {
  if (kind === "Namespace") return true;
  if (namespace !== undefined && namespace !== (metadata.namespace ?? "default")) return false;
  return labels !== undefined || name === undefined || name === metadata.name;
}

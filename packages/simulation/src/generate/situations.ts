import type { FaultKind, ScenarioEventKind } from "../faults/registry.js";
import type { Draw } from "./draw.js";
import type { DrawEvents, Situation } from "./situation.js";
import {
  changedSchedule,
  manyMissedSlots,
  missedSlots,
  overlappingRuns,
  refusedAgain,
  takenName,
  vanishedRuns,
} from "./situations/cron-jobs.js";
import { shortLivedObject, blockedDeletions, quickDeletions } from "./situations/deletions.js";
import { lostLease } from "./situations/leaders.js";
import { changedPhase, succeededAfterDeletion, extendedTtl, shortenedTtl } from "./situations/ends.js";
import { endsTogether } from "./situations/ends-together.js";
import { lingeringIndex } from "./situations/lingering-index.js";
import { crowdedNode, lostNode, noNode, outOfService } from "./situations/nodes.js";
import {
  blockedOwner,
  lateDependent,
  changedOwner,
  partiallyOrphaned,
  ownedByNode,
  ownershipCycle,
  replacedOwner,
} from "./situations/owners.js";
import { interruptedWrites, refusedMeanwhile, interruptedSuccess } from "./situations/refusals.js";
import { relabelledPods } from "./situations/relabelled.js";
import { scaledTogether } from "./situations/scaling.js";
import { slowPodController, slowMeanwhile } from "./situations/slow-controllers.js";
import { steppedClock, wokenEarly } from "./situations/waiting.js";
import { unobserved } from "./unobserved-objects.js";

/** A row of the table of situations. */
export type SituationRow = {
  /** Share of the drawn situations, relative to the other rows. */
  readonly weight: number;
  /** Kinds of fault and user actions that it may have. */
  readonly faults: readonly FaultKind[];
  readonly actions: readonly ScenarioEventKind[];
  /** Mutants that it catches sooner, or issues of Kubernetes. Empty: none is known, and the row may be unnecessary. */
  readonly because: readonly string[];
} & (Situation | { /** Draws one of several variants. */ readonly vary: (draw: Draw) => Situation });

const noEvents: DrawEvents = () => [];

// prettier-ignore
export const SITUATIONS: readonly SituationRow[] = [
  { vary: unobserved, weight: 66,
    faults: ["staleCache", "watchCut", "watchSilent", "staleList", "requestFails"],
    actions: ["apply", "delete", "patch", "suspend"], because: ["informer-missed-delete", "informer-ghosts-stay"] },
  { draw: shortLivedObject, weight: 10, faults: ["watchCut", "requestFails"], actions: ["apply", "delete"],
    because: ["gc-virtual-node-stranded"],
    shapes: ["jobs"], without: ["quota", "managedBy", "foreignFinalizers", "suspend"] },
  { draw: quickDeletions, weight: 19, faults: ["requestFails"], actions: ["delete"],
    because: ["job-orphans-not-cleaned", "job-orphan-error-swallowed"],
    shapes: ["jobs"], without: ["quota", "managedBy"] },
  { draw: refusedMeanwhile, weight: 20, faults: ["requestFails"], actions: ["patch", "suspend", "delete"],
    because: ["expectations-failed-delete", "expectations-skipped-creates"],
    shapes: ["jobs", "longPods"], without: ["quota", "managedBy", "activeDeadline"] },
  { draw: slowMeanwhile, weight: 12, faults: ["apiServerSlow"], actions: ["delete", "apply"],
    because: ["job-uid-recreated"],
    shapes: ["jobs", "ttl"], without: ["quota", "managedBy", "foreignFinalizers", "failures", "suspend"] },
  { draw: slowPodController, weight: 14, faults: ["apiServerSlow"], actions: ["delete", "apply"],
    because: ["podgc-delete-by-name", "job-uid-recreated"],
    shapes: ["jobs", "ownPods", "overlappingSelectors"],
    without: ["quota", "managedBy", "foreignFinalizers", "failures", "suspend"] },
  { draw: interruptedWrites, weight: 10, faults: ["controllerCrashes", "requestFails"], actions: [],
    because: ["job-uncounted-dropped-early"],
    shapes: ["jobs", "manyPods", "lowLimits"], without: ["quota", "managedBy", "slowPods", "longPods"] },
  { vary: steppedClock, weight: 19, faults: ["clockJump", "clockSkew"], actions: [], because: ["ttl-future-finish"] },
  { vary: wokenEarly, weight: 14, faults: ["controllerDown"], actions: ["patch"],
    because: ["cron-every-from-now", "job-backoff-not-honoured"] },
  { draw: lostNode, weight: 15, faults: ["nodeLost", "nodeDrained"], actions: ["delete", "apply", "patch"],
    because: ["job-failure-policy-running-container", "job-failure-policy-missing-exit-code"],
    shapes: ["jobs", "longPods", "podFailurePolicy"],
    without: ["quota", "managedBy", "suspend", "activeDeadline", "nodes", "onFailure"] },
  { draw: noNode, weight: 5, faults: [], actions: ["delete", "apply"], because: ["podgc-unscheduled-kept"],
    shapes: ["jobs", "podReplacementPolicy"], without: ["quota", "managedBy", "suspend", "activeDeadline", "nodes"] },
  { draw: changedOwner, weight: 10, faults: ["apiServerSlow"], actions: ["apply", "delete"], because: [],
    shapes: ["jobs"], without: ["quota", "managedBy", "foreignFinalizers"] },
  { draw: ownershipCycle, weight: 5, faults: [], actions: ["apply", "delete"], because: ["gc-foreground-cycle"],
    shapes: ["jobs"], without: ["quota", "managedBy", "ownership", "foreignFinalizers"] },
  { draw: blockedDeletions, weight: 4, faults: [], actions: ["apply", "delete", "patch"],
    because: ["gc-foreground-twice"],
    shapes: ["jobs"], without: ["quota", "managedBy", "ownership", "foreignFinalizers"] },
  { draw: takenName, weight: 12, faults: [], actions: ["apply", "delete"],
    because: ["cron-foreign-job", "cron-delete-by-name"],
    shapes: ["cronJobs", "cronRuns"], without: ["quota", "suspend"] },
  { draw: missedSlots, weight: 10, faults: ["controllerDown"], actions: ["suspend"], because: ["cron-negative-requeue"],
    shapes: ["cronJobs", "unevenSchedules"], without: ["quota", "suspend", "relativeSchedules"] },
  { draw: manyMissedSlots, weight: 5, faults: ["controllerDown"], actions: ["suspend"],
    because: ["cron-too-many-missed"],
    shapes: ["cronJobs"], without: ["quota", "suspend", "unevenSchedules", "timeZones"] },
  { draw: noEvents, weight: 12, faults: [], actions: [], because: ["cron-quota-deadlock"],
    shapes: ["cronJobs", "quota", "tightQuota", "tightHistory"], without: ["suspend", "managedBy", "ttl"] },
  { draw: lostLease, weight: 10, faults: ["leaseLost", "paused"], actions: [],
    because: ["lease-lead-after-deadline", "lease-own-duration", "lease-release-foreign"],
    shapes: ["replicas"], without: ["cronJobs"] },
  { draw: changedPhase, weight: 12, faults: ["requestFails"], actions: ["patch"],
    because: ["job-succeeded-then-failed"],
    shapes: ["jobs"], without: ["quota", "managedBy", "suspend", "slowPods"] },
  { draw: shortenedTtl, weight: 6, faults: [], actions: ["patch"], because: ["ttl-only-at-end"],
    shapes: ["jobs"], without: ["quota", "managedBy", "suspend", "slowPods", "foreignFinalizers", "ttl"] },
  { draw: replacedOwner, weight: 6, faults: ["controllerDown"], actions: ["apply", "delete"], because: [],
    shapes: ["jobs", "longPods"], without: ["quota", "managedBy", "foreignFinalizers", "suspend"] },
  { draw: outOfService, weight: 7, faults: ["nodeTainted", "nodeLost"], actions: ["delete"],
    because: ["podgc-out-of-service-ready"],
    shapes: ["jobs", "longPods", "ignoreSigterm"],
    without: ["quota", "managedBy", "suspend", "activeDeadline", "nodes"] },
  { draw: crowdedNode, weight: 6, faults: [], actions: ["patch"], because: [],
    shapes: ["jobs", "podGC"], without: ["quota", "managedBy", "suspend", "nodes"] },
  { draw: overlappingRuns, weight: 11, faults: ["requestFails"], actions: ["patch"],
    because: ["cron-replace-first-only"],
    shapes: ["cronJobs", "longRuns"], without: ["quota", "suspend", "managedBy", "failures", "activeDeadline"] },
  { draw: changedSchedule, weight: 9, faults: [], actions: ["patch"], because: ["queue-not-brought-forward"],
    shapes: ["cronJobs", "unevenSchedules"], without: ["quota", "suspend", "relativeSchedules", "longRuns"] },
  { draw: scaledTogether, weight: 14, faults: [], actions: ["patch"],
    because: ["job-repeated-index", "job-deletes-best-first", "job-removed-count-failed"],
    shapes: ["jobs", "indexed"], without: ["quota", "managedBy", "activeDeadline"] },
  { draw: noEvents, weight: 11, faults: [], actions: [], because: [],
    shapes: ["cronJobs", "timeZones"], without: ["quota", "suspend", "managedBy", "jobs"] },
  { draw: vanishedRuns, weight: 9, faults: [], actions: ["delete"], because: [],
    shapes: ["cronJobs", "cronRuns", "longRuns", "unevenSchedules"],
    without: ["quota", "suspend", "relativeSchedules", "timeZones", "failures", "activeDeadline"] },
  { draw: refusedAgain, weight: 6, faults: ["requestFails"], actions: [], because: ["queue-never-forgets"],
    shapes: ["cronJobs", "unevenSchedules"],
    without: ["quota", "suspend", "relativeSchedules", "longRuns", "timeZones"] },
  { draw: partiallyOrphaned, weight: 6, faults: ["requestFails"], actions: ["delete"], because: [],
    shapes: ["jobs", "manyPods", "longPods"],
    without: ["quota", "managedBy", "foreignFinalizers", "suspend", "activeDeadline"] },
  { draw: blockedOwner, weight: 5, faults: [], actions: ["apply", "delete", "patch"], because: ["gc-orphan-strips-all"],
    shapes: ["jobs"], without: ["quota", "managedBy", "ownership", "foreignFinalizers", "ttl"] },
  { draw: ownedByNode, weight: 5, faults: [], actions: ["apply", "delete"], because: ["gc-cluster-scoped-owner-absent"],
    shapes: ["jobs"], without: ["quota", "nodes"] },
  { draw: lateDependent, weight: 5, faults: [], actions: ["delete", "apply"], because: [],
    shapes: ["jobs", "longPods", "ignoreSigterm"], without: ["quota", "managedBy", "suspend", "activeDeadline"] },
  { draw: extendedTtl, weight: 6, faults: ["staleCache"], actions: ["patch"], because: [],
    shapes: ["jobs"], without: ["quota", "managedBy", "suspend", "slowPods", "foreignFinalizers", "ttl"] },
  { vary: endsTogether, weight: 14, faults: ["staleCache", "requestFails"], actions: ["patch"],
    because: ["job-success-keeps-older-failures", "job-max-failed-indexes-plus-one"] },
  { draw: relabelledPods, weight: 11, faults: [], actions: ["patch", "delete"],
    because: ["job-orphan-pods-not-queued", "job-adopt-from-cache"],
    shapes: ["jobs", "longPods", "overlappingSelectors"],
    without: ["quota", "managedBy", "activeDeadline", "suspend"] },
  { draw: noEvents, weight: 8, faults: [], actions: [],
    because: ["job-ignored-failure-forgets-others", "job-ignored-failures-not-delayed"],
    shapes: ["jobs", "indexed", "backoffLimitPerIndex", "podFailurePolicy", "failures", "mixedFailures"],
    without: ["quota", "managedBy", "suspend", "activeDeadline", "longPods", "slowPods", "successPolicy"] },
  { draw: interruptedSuccess, weight: 6, faults: ["controllerCrashes", "requestFails"], actions: [],
    because: ["job-success-deletes-once"],
    shapes: ["jobs", "indexed", "successPolicy"], without: ["quota", "managedBy", "slowPods", "longPods"] },
  { draw: succeededAfterDeletion, weight: 5, faults: ["requestFails"], actions: ["delete"], because: [],
    shapes: ["jobs", "ignoreSigterm"],
    without: ["quota", "managedBy", "suspend", "slowPods", "podFailurePolicy", "podReplacementPolicy", "failures"] },
  { draw: lingeringIndex, weight: 6, faults: [], actions: ["patch", "delete"], because: [],
    shapes: ["jobs", "indexed", "podReplacementPolicy", "ignoreSigterm", "longPods"],
    without: ["quota", "managedBy", "suspend", "activeDeadline", "onFailure"] },
];

/** Draws one to three compatible situations, so that combinations of two rare conditions are not too rare. */
export function drawSituations(draw: Draw): Situation[] {
  const count = draw.fork("count").weighted([
    [1, 45],
    [2, 40],
    [3, 15],
  ]);
  const drawn: Situation[] = [];
  for (let number = 0; number < count; number++) {
    const situation = drawSituation(draw.fork(String(number)));
    if (drawn.every((other) => areCompatible(situation, other))) drawn.push(situation);
  }
  return drawn;
}

/** Reports whether neither situation prevents the other. */
function areCompatible(one: Situation, other: Situation): boolean {
  return (
    !one.shapes.some((shape) => other.without.includes(shape)) &&
    !other.shapes.some((shape) => one.without.includes(shape))
  );
}

/** Draws one situation by weight. */
function drawSituation(draw: Draw): Situation {
  const row = draw.weighted(SITUATIONS.map((each) => [each, each.weight]));
  return "vary" in row ? row.vary(draw.fork("which")) : row;
}

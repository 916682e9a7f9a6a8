import type { Invariant } from "../invariant.js";
import { backOff } from "./backoff.js";
import { adoptedPodsAreTracked, noLateAdoption } from "./adoption.js";
import { cachesAreMonotonic } from "./caches.js";
import { cachesRecover } from "./cache-recovery.js";
import { podsAreClaimed } from "./claims.js";
import { cronJobsProgress, historyLimitsConverge } from "./cron-liveness.js";
import { failedSyncsAreRetried } from "./cron-retries.js";
import { oneJobPerSlot } from "./cron-slots.js";
import { cronJobStatus, historyLimits } from "./cron-status.js";
import { jobsMatchTemplate } from "./cron-template.js";
import { terminationReasonsAreTrue } from "./end-reasons.js";
import { garbageIsCollected, ownedObjectsAreKept } from "./garbage.js";
import { countedOnce, recordedBeforeRemoval } from "./job-counts.js";
import { noPodAfterTermination, terminalStatusIsFinal } from "./job-end.js";
import { retriesContinue, jobsProgress, noStuckFinalizer } from "./job-liveness.js";
import { ownersWaitForDependents } from "./owners-wait.js";
import { oneLeader, failover } from "./leaders.js";
import { limitsAreEnforced } from "./limit-enforcement.js";
import { noOverDeletion, statusMatchesObservedPods } from "./sync-plans.js";
import { managedByIsRespected } from "./managed-elsewhere.js";
import { podGCActs, podGCReasons } from "./pod-garbage.js";
import { boundedPods } from "./pods-bounded.js";
import { podCountMatchesSpec } from "./pod-count.js";
import { clusterQuiesces, noHotLoop } from "./quiet.js";
import { noCrash, noInvalidWrite } from "./requests.js";
import { sameObject } from "./same-object.js";
import { everyBucketHasOwner, everyBucketIsActive, liveMembersKeepBuckets, oneWriter } from "./sharding.js";
import { suspensionIsReported } from "./suspension.js";
import { ttlActs, ttlReason } from "./ttl.js";

/** Invariants of Jobs and their pods. */
export const jobInvariants: readonly Invariant[] = [
  countedOnce,
  recordedBeforeRemoval,
  terminalStatusIsFinal,
  statusMatchesObservedPods,
  noPodAfterTermination,
  boundedPods,
  terminationReasonsAreTrue,
  limitsAreEnforced,
  backOff,
  noOverDeletion,
  podCountMatchesSpec,
  suspensionIsReported,
  managedByIsRespected,
  adoptedPodsAreTracked,
  jobsProgress,
  noStuckFinalizer,
  podsAreClaimed,
  retriesContinue,
];

/** Invariants of CronJobs and their Jobs. */
export const cronJobInvariants: readonly Invariant[] = [
  oneJobPerSlot,
  jobsMatchTemplate,
  cronJobStatus,
  historyLimits,
  cronJobsProgress,
  historyLimitsConverge,
  failedSyncsAreRetried,
];

/** Invariants of the garbage collector, the TTL controller and PodGC. */
export const garbageInvariants: readonly Invariant[] = [
  ownedObjectsAreKept,
  ownersWaitForDependents,
  noLateAdoption,
  podGCReasons,
  ttlReason,
  garbageIsCollected,
  ttlActs,
  podGCActs,
];

/** Invariants of informers. */
export const cacheInvariants: readonly Invariant[] = [cachesAreMonotonic, cachesRecover];

/** Invariants of controller managers with leader election. */
export const leaderInvariants: readonly Invariant[] = [oneLeader, failover];

/** Invariants of controller managers that share work. */
export const shardingInvariants: readonly Invariant[] = [
  oneWriter,
  liveMembersKeepBuckets,
  everyBucketIsActive,
  everyBucketHasOwner,
];

/** Invariants of any controller. */
export const genericInvariants: readonly Invariant[] = [
  noInvalidWrite,
  noCrash,
  ...cacheInvariants,
  sameObject,
  noHotLoop,
  clusterQuiesces,
];

/** All built-in invariants. */
export const builtInInvariants: readonly Invariant[] = [
  ...jobInvariants,
  ...cronJobInvariants,
  ...garbageInvariants,
  ...leaderInvariants,
  ...shardingInvariants,
  ...genericInvariants,
];

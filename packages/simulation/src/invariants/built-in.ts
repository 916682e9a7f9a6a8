import type { Invariant } from "../invariant.js";
import { backOff } from "./backoff.js";
import { adoptedToBeCounted, noLateAdoption } from "./adoption.js";
import { cachesGoForward } from "./caches.js";
import { cachesHeal } from "./caches-heal.js";
import { podsAreClaimed } from "./claims.js";
import { cronJobsGoOn, historyHolds } from "./cron-liveness.js";
import { triedAgain } from "./cron-retries.js";
import { oneJobPerSlot } from "./cron-slots.js";
import { cronJobStatus, historyLimits } from "./cron-status.js";
import { madeByTemplate } from "./cron-template.js";
import { trueReasons } from "./end-reasons.js";
import { garbageIsCollected, ownedIsSpared } from "./garbage.js";
import { countedOnce, recordedBeforeFreed } from "./job-counts.js";
import { noPodAfterTheEnd, theEndIsTheEnd } from "./job-end.js";
import { dampedNotStalled, jobsGoOn, noStuckFinalizer } from "./job-liveness.js";
import { ownersWait } from "./kept-waiting.js";
import { oneLeader, takeover } from "./leaders.js";
import { limitsAreKept } from "./limits-kept.js";
import { noOverDeletion, statusIsWhatWasSeen } from "./plans.js";
import { leftToItsManager } from "./managed-elsewhere.js";
import { podGCActs, podGCReasons } from "./pod-garbage.js";
import { boundedPods } from "./pods-bounded.js";
import { asManyAsWanted } from "./pods-wanted.js";
import { everythingSettles, noHotLoop } from "./quiet.js";
import { noCrash, noInvalidWrite } from "./requests.js";
import { sameObject } from "./same-object.js";
import { allWorkedFor, livingKeepTheirs, oneWriter } from "./sharing.js";
import { suspensionIsTold } from "./suspension.js";
import { ttlActs, ttlReason } from "./ttl.js";

/** Of Jobs and their pods. */
export const jobInvariants: readonly Invariant[] = [
  countedOnce,
  recordedBeforeFreed,
  theEndIsTheEnd,
  statusIsWhatWasSeen,
  noPodAfterTheEnd,
  boundedPods,
  trueReasons,
  limitsAreKept,
  backOff,
  noOverDeletion,
  asManyAsWanted,
  suspensionIsTold,
  leftToItsManager,
  adoptedToBeCounted,
  jobsGoOn,
  noStuckFinalizer,
  podsAreClaimed,
  dampedNotStalled,
];

/** Of CronJobs and their Jobs. */
export const cronJobInvariants: readonly Invariant[] = [
  oneJobPerSlot,
  madeByTemplate,
  cronJobStatus,
  historyLimits,
  cronJobsGoOn,
  historyHolds,
  triedAgain,
];

/** Of the garbage collector, the TTL controller and PodGC. */
export const garbageInvariants: readonly Invariant[] = [
  ownedIsSpared,
  ownersWait,
  noLateAdoption,
  podGCReasons,
  ttlReason,
  garbageIsCollected,
  ttlActs,
  podGCActs,
];

/** Of informers. */
export const cacheInvariants: readonly Invariant[] = [cachesGoForward, cachesHeal];

/** Of controller managers of which one leads. */
export const leaderInvariants: readonly Invariant[] = [oneLeader, takeover];

/** Of controller managers that share work. */
export const sharingInvariants: readonly Invariant[] = [oneWriter, livingKeepTheirs, allWorkedFor];

/** Of anybody's controllers. */
export const genericInvariants: readonly Invariant[] = [
  noInvalidWrite,
  noCrash,
  ...cacheInvariants,
  sameObject,
  noHotLoop,
  everythingSettles,
];

/** All of them. */
export const builtInInvariants: readonly Invariant[] = [
  ...jobInvariants,
  ...cronJobInvariants,
  ...garbageInvariants,
  ...leaderInvariants,
  ...sharingInvariants,
  ...genericInvariants,
];

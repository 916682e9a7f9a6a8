import type { Invariant } from "../invariant.js";
import { backOff } from "./backoff.js";
import { cachesGoForward } from "./caches.js";
import { trueReasons } from "./end-reasons.js";
import { countedOnce, recordedBeforeFreed } from "./job-counts.js";
import { noPodAfterTheEnd, theEndIsTheEnd } from "./job-end.js";
import { noOverDeletion, statusIsWhatWasSeen } from "./plans.js";
import { boundedPods } from "./pods-bounded.js";
import { noCrash, noInvalidWrite } from "./requests.js";

/** Of Jobs and their pods. */
export const jobInvariants: readonly Invariant[] = [
  countedOnce,
  recordedBeforeFreed,
  theEndIsTheEnd,
  statusIsWhatWasSeen,
  noPodAfterTheEnd,
  boundedPods,
  trueReasons,
  backOff,
  noOverDeletion,
];

/** Of informers. */
export const cacheInvariants: readonly Invariant[] = [cachesGoForward];

/** Of anybody's controllers. */
export const genericInvariants: readonly Invariant[] = [noInvalidWrite, noCrash, ...cacheInvariants];

/** All of them. */
export const builtInInvariants: readonly Invariant[] = [...jobInvariants, ...genericInvariants];

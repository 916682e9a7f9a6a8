import type { Invariant } from "../invariant.js";
import { cachesGoForward } from "./caches.js";
import { countedOnce, recordedBeforeFreed } from "./job-counts.js";
import { noPodAfterTheEnd, theEndIsTheEnd } from "./job-end.js";
import { noCrash, noInvalidWrite } from "./requests.js";

/** Of Jobs and their pods. */
export const jobInvariants: readonly Invariant[] = [countedOnce, recordedBeforeFreed, theEndIsTheEnd, noPodAfterTheEnd];

/** Of informers. */
export const cacheInvariants: readonly Invariant[] = [cachesGoForward];

/** Of anybody's controllers. */
export const genericInvariants: readonly Invariant[] = [noInvalidWrite, noCrash, ...cacheInvariants];

/** All of them. */
export const builtInInvariants: readonly Invariant[] = [...jobInvariants, ...genericInvariants];

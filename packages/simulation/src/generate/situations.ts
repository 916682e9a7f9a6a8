import type { Draw } from "./draw.js";
import type { Situation } from "./situation.js";
import {
  changedClocks,
  changedSchedule,
  fullQuota,
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
import { failsPerIndex } from "./situations/fails-per-index.js";
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
import { HIDDEN, drawUnobserved } from "./unobserved-objects.js";

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
  return draw.weighted<(draw: Draw) => Situation>([
    [unobserved, 66],
    [() => shortLivedObject, 10],
    [() => quickDeletions, 19],
    [() => refusedMeanwhile, 20],
    [() => slowMeanwhile, 12],
    [() => slowPodController, 14],
    [() => interruptedWrites, 10],
    [steppedClock, 19],
    [wokenEarly, 14],
    [() => lostNode, 15],
    [() => noNode, 5],
    [() => changedOwner, 10],
    [() => ownershipCycle, 5],
    [() => blockedDeletions, 4],
    [() => takenName, 12],
    [() => missedSlots, 10],
    [() => manyMissedSlots, 5],
    [() => fullQuota, 12],
    [() => lostLease, 10],
    [() => changedPhase, 12],
    [() => shortenedTtl, 6],
    [() => replacedOwner, 6],
    [() => outOfService, 7],
    [() => crowdedNode, 6],
    [() => overlappingRuns, 11],
    [() => changedSchedule, 9],
    [() => scaledTogether, 14],
    [() => changedClocks, 11],
    [() => vanishedRuns, 9],
    [() => refusedAgain, 6],
    [() => partiallyOrphaned, 6],
    [() => blockedOwner, 5],
    [() => ownedByNode, 5],
    [() => lateDependent, 5],
    [() => extendedTtl, 6],
    [endsTogether, 14],
    [() => relabelledPods, 11],
    [() => failsPerIndex, 8],
    [() => interruptedSuccess, 6],
    [() => succeededAfterDeletion, 5],
    [() => lingeringIndex, 6],
  ])(draw.fork("which"));
}

/** One controller does not observe changes of one kind of object. */
function unobserved(draw: Draw): Situation {
  const hidden = draw.weighted(HIDDEN);
  return {
    name: "unseen",
    shapes: hidden.shapes,
    without: hidden.without ?? [],
    draw: (fork, context) => drawUnobserved(fork, hidden, context),
  };
}

import type { Draw } from "./draw.js";
import type { Situation } from "./situation.js";
import {
  changedClocks,
  changedSchedule,
  fullQuota,
  missedSlots,
  overlappingRuns,
  takenName,
  vanishedRuns,
} from "./situations/cron-jobs.js";
import { cameAndWent, heldDeletions, quickDeletions } from "./situations/deletions.js";
import { lostLease } from "./situations/leaders.js";
import { changedEnd, prolongedLife, shortenedLife } from "./situations/ends.js";
import { endsTogether } from "./situations/ends-together.js";
import { crowdedNode, goneNode, outOfService } from "./situations/nodes.js";
import { heldOwner, movedOwner, orphanedInPart, ownedInCircle, succeededOwner } from "./situations/owners.js";
import { cutShort, refusedMeanwhile } from "./situations/refusals.js";
import { relabelledPods } from "./situations/relabelled.js";
import { scaledTogether } from "./situations/scaling.js";
import { slowAboutPods, slowMeanwhile } from "./situations/slow-controllers.js";
import { steppedClock, wokenEarly } from "./situations/waiting.js";
import { HIDDEN, drawUnseen } from "./unseen.js";

/** One of them, each as often as its weight says. */
export function drawSituation(draw: Draw): Situation {
  return draw.weighted<(draw: Draw) => Situation>([
    [unseen, 66],
    [() => cameAndWent, 10],
    [() => quickDeletions, 19],
    [() => refusedMeanwhile, 14],
    [() => slowMeanwhile, 12],
    [() => slowAboutPods, 14],
    [() => cutShort, 10],
    [steppedClock, 19],
    [wokenEarly, 14],
    [() => goneNode, 15],
    [() => movedOwner, 10],
    [() => ownedInCircle, 5],
    [() => heldDeletions, 4],
    [() => takenName, 9],
    [() => missedSlots, 10],
    [() => fullQuota, 10],
    [() => lostLease, 10],
    [() => changedEnd, 12],
    [() => shortenedLife, 6],
    [() => succeededOwner, 6],
    [() => outOfService, 7],
    [() => crowdedNode, 6],
    [() => overlappingRuns, 11],
    [() => changedSchedule, 9],
    [() => scaledTogether, 14],
    [() => changedClocks, 11],
    [() => vanishedRuns, 7],
    [() => orphanedInPart, 6],
    [() => heldOwner, 5],
    [() => prolongedLife, 6],
    [endsTogether, 14],
    [() => relabelledPods, 11],
  ])(draw.fork("which"));
}

/** One controller does not see what becomes of one kind of object. */
function unseen(draw: Draw): Situation {
  const hidden = draw.weighted(HIDDEN);
  return {
    name: "unseen",
    shapes: hidden.shapes,
    without: hidden.without ?? [],
    draw: (lots, ground) => drawUnseen(lots, hidden, ground),
  };
}

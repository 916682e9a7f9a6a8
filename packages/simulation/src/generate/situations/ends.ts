import type { HappeningEntry } from "../../scenario/scenario-file.js";
import { durationText, offsetText } from "../duration-text.js";
import type { Situation } from "../situation.js";
import { podsOf, target } from "../user-actions.js";
import { pickJob } from "./pick-job.js";

/** A Job that has ended, and was to be kept, is not to be kept any more. */
export const shortenedLife: Situation = {
  name: "shortened life",
  shapes: ["jobs"],
  without: ["quota", "managedBy", "suspend", "slowPods", "foreignFinalizers", "ttl"],
  draw(draw, ground) {
    const job = pickJob(draw, ground);
    if (job === undefined) return [];
    const lives = (at: string, ttlSecondsAfterFinished: number): HappeningEntry => ({
      at,
      patch: { ...target(job), with: { spec: { ttlSecondsAfterFinished } } },
    });
    const atMs = job.moments.at(-1)! + draw.fork("after").whole(500, 60_000);
    return [
      ...(draw.fork("limited").chance(0.5) ? [lives("+0s", 3_600)] : []),
      lives(offsetText(atMs), draw.fork("ttl").pick([0, 5, 60])),
    ];
  },
};

/** A pod that has ended is found to have ended otherwise, while its end is recorded and the Job controller has not let go of it. */
export const changedEnd: Situation = {
  name: "changed end",
  shapes: ["jobs"],
  without: ["quota", "managedBy", "suspend", "slowPods"],
  draw(draw, ground) {
    const job = pickJob(draw, ground);
    if (job === undefined) return [];
    // When its first pods end, or later ones; of a Job whose run tells of no end, when it began.
    const ends = job.moments.filter((_, index) => index >= 2 && index % 2 === 0);
    const endMs = draw.fork("end").pick(ends.length === 0 ? job.moments.slice(-1) : [...ends.slice(0, 1), ...ends]);
    return [
      {
        at: offsetText(Math.max(0, endMs - 1_000)),
        for: durationText(draw.fork("for").whole(10_000, 40_000)),
        requestFails: { components: ["job-controller"], verbs: ["patch"], resources: ["pods"] },
      },
      {
        at: offsetText(endMs + draw.fork("after").whole(1_500, 8_000)),
        patch: {
          ...podsOf(job),
          subresource: "status",
          with: { status: { phase: draw.fork("phase").chance(0.7) ? "Failed" : "Succeeded" } },
        },
      },
    ];
  },
};

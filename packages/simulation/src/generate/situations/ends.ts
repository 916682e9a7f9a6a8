import type { ScenarioEventEntry } from "../../faults/registry.js";
import { durationText, offsetText } from "../duration-text.js";
import { podsOf, target } from "../user-actions.js";
import { ofJob } from "./pick-job.js";

/** The TTL of a finished Job is set or shortened. */
export const shortenedTtl = ofJob((draw, job) => {
  const lives = (at: string, ttlSecondsAfterFinished: number): ScenarioEventEntry => ({
    at,
    patch: { ...target(job), with: { spec: { ttlSecondsAfterFinished } } },
  });
  const atMs = job.moments.at(-1)! + draw.fork("after").integer(500, 60_000);
  return [
    ...(draw.fork("limited").chance(0.5) ? [lives("+0s", 3_600)] : []),
    lives(offsetText(atMs), draw.fork("ttl").pick([0, 5, 60])),
  ];
});

/** The TTL of a Job is extended or removed shortly before it expires, and the TTL controller does not observe that. */
export const extendedTtl = ofJob((draw, job) => {
  const seconds = draw.fork("ttl").pick([30, 60]);
  const goesMs = job.moments.at(-1)! + seconds * 1_000;
  const editedMs = goesMs - draw.fork("before").integer(0, 15_000);
  const lives = (at: string, ttlSecondsAfterFinished: number | null): ScenarioEventEntry => ({
    at,
    patch: { ...target(job), with: { spec: { ttlSecondsAfterFinished } } },
  });
  return [
    lives("+0s", seconds),
    {
      at: offsetText(editedMs - draw.fork("unseen").integer(0, 10_000)),
      for: durationText(goesMs - editedMs + draw.fork("longer").integer(10_000, 90_000)),
      staleCache: { kind: "Job", controller: "ttl-after-finished-controller" },
    },
    lives(offsetText(editedMs), draw.fork("then").pick([3_600, null])),
  ];
});

/**
 * A deleted pod counts as failed immediately; its finalizer cannot be removed before it ends, and it may have succeeded
 * by then.
 */
export const succeededAfterDeletion = ofJob((draw, job) => {
  const [, startMs = 0, endMs = startMs] = job.moments;
  const atMs = startMs + draw.fork("after").integer(1_000, Math.max(1_500, endMs - startMs));
  const forMs = Math.max(0, endMs - atMs) + draw.fork("for").integer(3_000, 30_000);
  return [
    {
      at: offsetText(atMs - 500),
      for: durationText(forMs),
      requestFails: { components: ["job-controller"], verbs: ["patch"], resources: ["pods"] },
    },
    { at: offsetText(atMs), delete: podsOf(job) },
  ];
});

/** The phase of an ended pod changes while its end is recorded and the Job controller has not removed its finalizer. */
export const changedPhase = ofJob((draw, job) => {
  // The end of the first pods, or of later ones; the start of a Job whose workload has no such moment.
  const ends = job.moments.filter((_, index) => index >= 2 && index % 2 === 0);
  const endMs = draw.fork("end").pick(ends.length === 0 ? job.moments.slice(-1) : [...ends.slice(0, 1), ...ends]);
  return [
    {
      at: offsetText(Math.max(0, endMs - 1_000)),
      for: durationText(draw.fork("for").integer(10_000, 40_000)),
      requestFails: { components: ["job-controller"], verbs: ["patch"], resources: ["pods"] },
    },
    {
      at: offsetText(endMs + draw.fork("after").integer(1_500, 8_000)),
      patch: {
        ...podsOf(job),
        subresource: "status",
        with: { status: { phase: draw.fork("phase").chance(0.7) ? "Failed" : "Succeeded" } },
      },
    },
  ];
});

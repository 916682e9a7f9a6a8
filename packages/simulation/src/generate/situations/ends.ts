import { at, deletesPods, during, edits, editsPodStatus, podsOf, refuses } from "../plan-events.js";
import { ofJob } from "./pick-job.js";

/** The TTL of a finished Job is set or shortened. */
export const shortenedTtl = ofJob((draw, job) => {
  const atMs = job.moments.at(-1)! + draw.fork("after").integer(500, 60_000);
  return [
    ...(draw.fork("limited").chance(0.5) ? [at(0, edits(job, { ttlSecondsAfterFinished: 3_600 }))] : []),
    at(atMs, edits(job, { ttlSecondsAfterFinished: draw.fork("ttl").pick([0, 5, 60]) })),
  ];
});

/** The TTL of a Job is extended or removed shortly before it expires, and the TTL controller does not observe that. */
export const extendedTtl = ofJob((draw, job) => {
  const seconds = draw.fork("ttl").pick([30, 60]);
  const goesMs = job.moments.at(-1)! + seconds * 1_000;
  const editedMs = goesMs - draw.fork("before").integer(0, 15_000);
  const forMs = goesMs - editedMs + draw.fork("longer").integer(10_000, 90_000);
  return [
    at(0, edits(job, { ttlSecondsAfterFinished: seconds })),
    during(editedMs - draw.fork("unseen").integer(0, 10_000), forMs, {
      staleCache: { kind: "Job", controller: "ttl-after-finished-controller" },
    }),
    at(editedMs, edits(job, { ttlSecondsAfterFinished: draw.fork("then").pick([3_600, null]) })),
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
  return [during(atMs - 500, forMs, refuses("job-controller", "patch", "pods")), at(atMs, deletesPods(podsOf(job)))];
});

/** The phase of an ended pod changes while its end is recorded and the Job controller has not removed its finalizer. */
export const changedPhase = ofJob((draw, job) => {
  // The end of the first pods, or of later ones; the start of a Job whose workload has no such moment.
  const ends = job.moments.filter((_, index) => index >= 2 && index % 2 === 0);
  const endMs = draw.fork("end").pick(ends.length === 0 ? job.moments.slice(-1) : [...ends.slice(0, 1), ...ends]);
  const phase = draw.fork("phase").chance(0.7) ? "Failed" : "Succeeded";
  return [
    during(endMs - 1_000, draw.fork("for").integer(10_000, 40_000), refuses("job-controller", "patch", "pods")),
    at(endMs + draw.fork("after").integer(1_500, 8_000), editsPodStatus(job, { phase })),
  ];
});

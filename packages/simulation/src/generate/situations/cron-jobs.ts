import type { ScenarioEventEntry } from "../../faults/registry.js";
import { PROPAGATIONS, at, deletes, during, edits, refuses, target } from "../plan-events.js";
import type { DrawEvents } from "../situation.js";
import type { Subject } from "../workload.js";
import { ofOne } from "./pick-job.js";

const isCronJob = ({ kind }: Subject): boolean => kind === "CronJob";

/** A foreign Job has the name of a CronJob's next Job. */
export const takenName = ofOne(
  "run",
  ({ isRun }) => isRun === true,
  (draw, run) => {
    const atMs = Math.max(0, run.moments[1]! - draw.fork("before").integer(0, 20_000));
    const goesMs = atMs + 20_000 + draw.fork("later").delayMs();
    const goes = at(goesMs, deletes(run, draw.fork("propagation").pick(PROPAGATIONS)));
    return [at(atMs, { apply: run.manifest }), ...(draw.fork("goes").chance(0.3) ? [goes] : [])];
  },
);

/** A CronJob with unevenly spaced slots is not synced, or is suspended, for a while. */
export const missedSlots = ofOne("cron job", isCronJob, (draw, cronJob) => {
  const firstMs = draw.fork("from").pick(cronJob.moments);
  const down = draw.fork("all").chance(0.5) ? "all" : "cronjob-controller";
  const way = draw.fork("way").pickBy({ suspend: 50, controllerDown: 50 });
  return [
    during(
      firstMs - draw.fork("before").integer(100, 20_000),
      draw.fork("length").integer(150, 900) * 1_000,
      way === "suspend" ? { suspend: target(cronJob) } : { controllerDown: down },
    ),
  ];
});

/** A CronJob misses more slots than its controller counts: a hundred. */
export const manyMissedSlots = ofOne(
  "cron job",
  (subject) => isCronJob(subject) && gapMs(subject) <= 90_000,
  (draw, cronJob) => [
    during(
      draw.fork("from").integer(0, cronJob.moments[0] ?? 0),
      gapMs(cronJob) * draw.fork("slots").integer(100, 115),
      draw.fork("suspended").chance(0.7) ? { suspend: target(cronJob) } : { controllerDown: "cronjob-controller" },
    ),
  ],
);

function gapMs({ moments: [first = 0, second = Infinity] }: Subject): number {
  return second - first;
}

/** Jobs of a CronJob overlap, and the concurrency policy changes, or deletions of active Jobs are refused. */
export const overlappingRuns = ofOne("cron job", isCronJob, (draw, cronJob) => {
  const slotMs = draw.fork("slot").pick(cronJob.moments.slice(1));
  const atMs = Math.max(1_000, slotMs - draw.fork("before").integer(0, 30_000));
  const first = draw.fork("first").pick(["Allow", "Replace"]);
  const then = draw.fork("then").pick(["Replace", "Replace", "Replace", "Forbid"]);
  const times = draw.fork("times").integer(1, 3);
  const refused = refuses("cronjob-controller", "delete", "jobs", { nth: 1, times });
  return [
    at(0, edits(cronJob, { concurrencyPolicy: first })),
    at(atMs, edits(cronJob, { concurrencyPolicy: then })),
    ...(draw.fork("refused").chance(0.6) ? [during(atMs, draw.fork("for").integer(30_000, 90_000), refused)] : []),
  ];
});

/** Creations of a CronJob's Jobs are refused until the back-off is long; much later another one is refused. */
export const refusedAgain: DrawEvents = (draw, { subjects }) => {
  const cronJob = subjects.find(isCronJob);
  if (cronJob === undefined) return [];
  const failure = { with: draw.fork("with").pick([500, 503, 429] as const) };
  const again = { ...failure, nth: 1, times: draw.fork("times").integer(1, 3) };
  const firstMs = cronJob.moments[1]! - 1_000;
  const lengthMs = draw.fork("for").integer(120, 180) * 1_000;
  return [
    during(firstMs, lengthMs, refuses("cronjob-controller", "create", "jobs", failure)),
    during(firstMs + 8 * 60_000, 31 * 60_000, refuses("cronjob-controller", "create", "jobs", again)),
  ];
};

/** A user changes a CronJob's schedule or time zone while it waits for a distant slot. */
export const changedSchedule = ofOne("cron job", isCronJob, (draw, cronJob) => {
  const atMs = draw.fork("moment").pick(cronJob.moments) + draw.fork("after").integer(5_000, 90_000);
  const schedule = draw.fork("schedule").pick(cronJob.schedules);
  // The zone differs from UTC by half an hour more than whole hours.
  const isZoned = draw.fork("in another zone").chance(0.4);
  return [at(atMs, edits(cronJob, isZoned ? { timeZone: "Asia/Kolkata" } : { schedule }))];
});

/** Active Jobs of a CronJob are deleted, among them the last one before a long gap. */
export const vanishedRuns: DrawEvents = (draw, { subjects }) => {
  const run = subjects.find(({ isRun }) => isRun === true);
  if (run === undefined) return [];
  const [, prefix = "", minute = ""] = /^(.*-)(\d+)$/.exec(run.name) ?? [];
  const startMinute = Number(minute) - run.moments[1]! / 60_000;
  const afterMs = draw.fork("after").integer(3_000, 45_000);
  const propagation = draw.fork("propagation").pickBy({ Background: 70, Foreground: 15, Orphan: 15 });
  return [2, 3, 4].map((slot): ScenarioEventEntry =>
    at(slot * 60_000 + afterMs, deletes(run, propagation, `${prefix}${startMinute + slot}`)),
  );
};

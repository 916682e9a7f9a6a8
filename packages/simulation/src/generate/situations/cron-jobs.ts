import type { ScenarioEventEntry } from "../../faults/registry.js";
import { durationText, offsetText } from "../duration-text.js";
import type { DrawEvents } from "../situation.js";
import { PROPAGATIONS, target } from "../user-actions.js";
import type { Subject } from "../workload.js";

/** A foreign Job has the name of a CronJob's next Job. */
export const takenName: DrawEvents = (draw, { subjects }) => {
  const runs = subjects.filter(({ isRun }) => isRun === true);
  if (runs.length === 0) return [];
  const run = draw.fork("run").pick(runs);
  const atMs = Math.max(0, run.moments[1]! - draw.fork("before").integer(0, 20_000));
  const goes = draw.fork("goes").chance(0.3);
  return [
    { at: offsetText(atMs), apply: run.manifest },
    ...(goes
      ? [
          {
            at: offsetText(atMs + 20_000 + draw.fork("later").delayMs()),
            delete: { ...target(run), propagation: draw.fork("propagation").pick(PROPAGATIONS) },
          },
        ]
      : []),
  ];
};

/** A CronJob with unevenly spaced slots is not synced, or is suspended, for a while. */
export const missedSlots: DrawEvents = (draw, { subjects }) => {
  const cronJobs = subjects.filter(({ kind }) => kind === "CronJob");
  if (cronJobs.length === 0) return [];
  const cronJob = draw.fork("cron job").pick(cronJobs);
  const firstMs = draw.fork("from").pick(cronJob.moments);
  const atMs = Math.max(0, firstMs - draw.fork("before").integer(100, 20_000));
  const lengthMs = draw.fork("length").integer(150, 900) * 1_000;
  const length = { at: offsetText(atMs), for: durationText(lengthMs) };
  return [
    draw.fork("way").weighted<ScenarioEventEntry>([
      [{ ...length, suspend: target(cronJob) }, 50],
      [{ ...length, controllerDown: draw.fork("all").chance(0.5) ? "all" : "cronjob-controller" }, 50],
    ]),
  ];
};

/** A CronJob misses more slots than its controller counts: a hundred. */
export const manyMissedSlots: DrawEvents = (draw, { subjects }) => {
  const frequent = subjects.filter((subject) => subject.kind === "CronJob" && gapMs(subject) <= 90_000);
  if (frequent.length === 0) return [];
  const cronJob = draw.fork("cron job").pick(frequent);
  const [firstMs = 0] = cronJob.moments;
  const length = {
    at: offsetText(draw.fork("from").integer(0, firstMs)),
    for: durationText(gapMs(cronJob) * draw.fork("slots").integer(100, 115)),
  };
  return [
    draw.fork("suspended").chance(0.7)
      ? { ...length, suspend: target(cronJob) }
      : { ...length, controllerDown: "cronjob-controller" },
  ];
};

function gapMs({ moments: [first = 0, second = Infinity] }: Subject): number {
  return second - first;
}

/** Jobs of a CronJob overlap, and the concurrency policy changes, or deletions of active Jobs are refused. */
export const overlappingRuns: DrawEvents = (draw, { subjects }) => {
  const cronJobs = subjects.filter(({ kind }) => kind === "CronJob");
  if (cronJobs.length === 0) return [];
  const cronJob = draw.fork("cron job").pick(cronJobs);
  const policy = (concurrencyPolicy: string): NonNullable<ScenarioEventEntry["patch"]> => ({
    ...target(cronJob),
    with: { spec: { concurrencyPolicy } },
  });
  const slotMs = draw.fork("slot").pick(cronJob.moments.slice(1));
  const atMs = Math.max(1_000, slotMs - draw.fork("before").integer(0, 30_000));
  const asks = { components: ["cronjob-controller"], verbs: ["delete"], resources: ["jobs"] };
  const refused: ScenarioEventEntry = {
    at: offsetText(atMs),
    for: durationText(draw.fork("for").integer(30_000, 90_000)),
    requestFails: { ...asks, nth: 1, times: draw.fork("times").integer(1, 3) },
  };
  return [
    { at: "+0s", patch: policy(draw.fork("first").pick(["Allow", "Replace"])) },
    { at: offsetText(atMs), patch: policy(draw.fork("then").pick(["Replace", "Replace", "Replace", "Forbid"])) },
    ...(draw.fork("refused").chance(0.6) ? [refused] : []),
  ];
};

/** Creations of a CronJob's Jobs are refused until the back-off is long; much later another one is refused. */
export const refusedAgain: DrawEvents = (draw, { subjects }) => {
  const cronJob = subjects.find(({ kind }) => kind === "CronJob");
  if (cronJob === undefined) return [];
  const creates = { components: ["cronjob-controller"], verbs: ["create"], resources: ["jobs"] };
  const refused = { ...creates, with: draw.fork("with").pick([500, 503, 429] as const) };
  const firstMs = cronJob.moments[1]! - 1_000;
  const lengthMs = draw.fork("for").integer(120, 180) * 1_000;
  return [
    { at: offsetText(firstMs), for: durationText(lengthMs), requestFails: refused },
    {
      at: offsetText(firstMs + 8 * 60_000),
      for: "31m",
      requestFails: { ...refused, nth: 1, times: draw.fork("times").integer(1, 3) },
    },
  ];
};

/** A user changes a CronJob's schedule or time zone while it waits for a distant slot. */
export const changedSchedule: DrawEvents = (draw, { subjects }) => {
  const cronJobs = subjects.filter(({ kind }) => kind === "CronJob");
  if (cronJobs.length === 0) return [];
  const cronJob = draw.fork("cron job").pick(cronJobs);
  const atMs = draw.fork("moment").pick(cronJob.moments) + draw.fork("after").integer(5_000, 90_000);
  const schedule = draw.fork("schedule").pick(cronJob.schedules);
  // The zone differs from UTC by half an hour more than whole hours.
  const spec = draw.fork("in another zone").chance(0.4) ? { timeZone: "Asia/Kolkata" } : { schedule };
  return [{ at: offsetText(atMs), patch: { ...target(cronJob), with: { spec } } }];
};

/** Active Jobs of a CronJob are deleted, among them the last one before a long gap. */
export const vanishedRuns: DrawEvents = (draw, { subjects }) => {
  const run = subjects.find(({ isRun }) => isRun === true);
  if (run === undefined) return [];
  const [, prefix = "", minute = ""] = /^(.*-)(\d+)$/.exec(run.name) ?? [];
  const startMinute = Number(minute) - run.moments[1]! / 60_000;
  const afterMs = draw.fork("after").integer(3_000, 45_000);
  const propagation = draw.fork("propagation").weighted([
    ["Background", 70],
    ["Foreground", 15],
    ["Orphan", 15],
  ] as const);
  return [2, 3, 4].map((slot) => ({
    at: offsetText(slot * 60_000 + afterMs),
    delete: { ...target(run), name: `${prefix}${startMinute + slot}`, propagation },
  }));
};

import { type CronJob, cronJobs, events, jobs } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { CronJobController } from "@kubewright/cronjob";
import { InformerFactory } from "@kubewright/informer";
import { expect, onTestFinished, test } from "vitest";

import { type Cluster, type ClusterOptions, createCluster } from "./index.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

interface Running {
  readonly clock: SimulatedClock;
  readonly cluster: Cluster;
  /** Slots of the started runs, by CronJob. */
  readonly runs: Map<string, number[]>;
}

async function start(startTime: string, options: Partial<ClusterOptions> = {}): Promise<Running> {
  const clock = new SimulatedClock(startTime);
  const runs = new Map<string, number[]>();
  const cluster = createCluster({
    clock,
    random: seededRandom(1),
    onDecision: (made) => {
      if (made.controller !== "cronjob-controller" || !["ran", "replaced"].includes(made.decision.outcome)) return;
      const name = made.decision.key.split("/")[1]!;
      runs.set(name, [...(runs.get(name) ?? []), made.decision.slotMs!]);
    },
    ...options,
  });
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await clock.advance(0);
    await running;
  });
  await clock.settle();
  return { clock, cluster, runs };
}

function cronJob(name: string, schedule: string, spec: Partial<CronJob["spec"]> = {}): CronJob {
  const template = {
    metadata: { annotations: { "sim.kubewright.dev/duration": "1s" } },
    spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] },
  };
  return {
    metadata: { namespace: "default", name },
    spec: { schedule, successfulJobsHistoryLimit: 1, jobTemplate: { spec: { template } }, ...spec },
  };
}

/** Returns the wall clock of a zone according to Intl, in minutes since 1970 as if it were UTC. */
function wallMinutes(timeZone: string): (timeMs: number) => number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  const offsets = new Map<number, number>();
  return (timeMs) => {
    // Zones change their offset only at quarters of an hour.
    const quarter = Math.floor(timeMs / (15 * MINUTE));
    let offset = offsets.get(quarter);
    if (offset === undefined) {
      const parts = Object.fromEntries(
        format.formatToParts(quarter * 15 * MINUTE).map(({ type, value }) => [type, Number(value)]),
      );
      const wallMs = Date.UTC(parts["year"]!, parts["month"]! - 1, parts["day"], parts["hour"], parts["minute"]);
      offset = wallMs / MINUTE - quarter * 15;
      offsets.set(quarter, offset);
    }
    return timeMs / MINUTE + offset;
  };
}

/**
 * Returns each minute of the window whose wall clock shows one of these times of day: twice in an overlap, never in a
 * gap.
 */
function predicted(timeZone: string, timesOfDay: readonly number[], fromMs: number, toMs: number): number[] {
  const wall = wallMinutes(timeZone);
  const slots: number[] = [];
  for (let timeMs = fromMs + MINUTE; timeMs <= toMs; timeMs += MINUTE) {
    if (timesOfDay.includes(wall(timeMs) % (24 * 60))) slots.push(timeMs);
  }
  return slots;
}

test("a year of CronJobs runs through both DST changes of five zones when their wall clocks say so", async () => {
  const from = "2026-01-01T00:00:00Z";
  const zones = ["America/New_York", "Europe/Berlin", "Europe/London", "Africa/Cairo", "Pacific/Auckland"];
  const schedules = [
    ["daily", "30 2 * * *", [2 * 60 + 30]],
    ["twice", "15,45 1 * * *", [60 + 15, 60 + 45]],
  ] as const;
  // No controller runs the Jobs: each is replaced by the next, which makes a year fast.
  const { clock, cluster, runs } = await start(from, { controllers: ["cronjob-controller"], kubelet: "none" });
  const client = cluster.client("test").resource(cronJobs);
  for (const timeZone of zones) {
    for (const [name, schedule] of schedules) {
      await client.create(
        cronJob(`${name}-${timeZone.toLowerCase().replaceAll(/[/_]/g, "-")}`, schedule, {
          timeZone,
          concurrencyPolicy: "Replace",
        }),
      );
    }
  }
  await clock.advance(365 * DAY);
  const startMs = Date.parse(from);
  for (const timeZone of zones) {
    for (const [name, , timesOfDay] of schedules) {
      const key = `${name}-${timeZone.toLowerCase().replaceAll(/[/_]/g, "-")}`;
      expect([key, runs.get(key)]).toEqual([key, predicted(timeZone, timesOfDay, startMs, startMs + 365 * DAY)]);
    }
  }
  // The prediction includes the clock changes: a night without a run, and a night with two.
  expect(runs.get("daily-america-new-york")).toHaveLength(364);
  expect(runs.get("daily-europe-berlin")).toHaveLength(365);
  expect(runs.get("twice-america-new-york")).toHaveLength(2 * 365 + 2);
});

test("after a weekend without its controller a CronJob starts its latest run only, and says that it missed too many", async () => {
  const { clock, cluster } = await start("2026-01-02T18:00:00Z", { controllers: ["job-controller"] });
  const client = cluster.client("test");
  const work = async (durationMs: number): Promise<void> => {
    const stop = new AbortController();
    const random = seededRandom(2);
    const informers = new InformerFactory({ client, clock, random });
    const controller = new CronJobController({ client, clock, random, informers });
    const running = Promise.all([informers.run(stop.signal), controller.run(stop.signal)]);
    await clock.advance(durationMs);
    stop.abort();
    await clock.advance(0);
    await running;
  };
  await client.resource(cronJobs).create(cronJob("often", "*/10 * * * *"));
  await work(25 * MINUTE);
  await clock.advance(2 * DAY + 12 * HOUR);
  const slots = async (): Promise<string[]> =>
    (await client.resource(jobs).list()).items.map(
      ({ metadata }) => metadata.annotations!["batch.kubernetes.io/cronjob-scheduled-timestamp"]!,
    );
  const before = await slots();
  await work(MINUTE);
  expect((await slots()).filter((slot) => !before.includes(slot))).toEqual(["2026-01-05T06:20:00Z"]);
  const warnings = (await client.resource(events).list()).items.filter(({ type }) => type === "Warning");
  expect(warnings.map(({ reason }) => reason)).toEqual(["TooManyMissedTimes"]);
});

test("a wall clock that is set back two hours neither repeats runs nor loses the next one", async () => {
  const { clock, cluster, runs } = await start("2026-01-01T09:30:00Z");
  await cluster.client("test").resource(cronJobs).create(cronJob("hourly", "0 * * * *"));
  await clock.advance(3 * HOUR);
  expect(runs.get("hourly")!.map((slotMs) => new Date(slotMs).getUTCHours())).toEqual([10, 11, 12]);
  clock.jump(-2 * HOUR);
  await clock.advance(3 * HOUR);
  expect(runs.get("hourly")!.map((slotMs) => new Date(slotMs).getUTCHours())).toEqual([10, 11, 12, 13]);
});

test("five thousand CronJobs due in the same minute start once each", async () => {
  const { clock, cluster } = await start("2026-01-01T00:30:00Z", {
    controllers: ["cronjob-controller"],
    kubelet: "none",
  });
  const client = cluster.client("test");
  for (let index = 0; index < 5_000; index++)
    await client.resource(cronJobs).create(cronJob(`c-${index}`, "0 * * * *"));
  await clock.advance(45 * MINUTE);
  const started = (await client.resource(jobs).list()).items;
  expect(new Set(started.map(ownerName)).size).toBe(5_000);
  expect(started).toHaveLength(5_000);
  const skews = started.map(
    ({ metadata }) => Date.parse(metadata.creationTimestamp!) - Date.parse("2026-01-01T01:00:00Z"),
  );
  console.log(`creation skew of 5,000 CronJobs due at once: at most ${Math.max(...skews) / 1000} s`);
  expect(Math.max(...skews)).toBeLessThan(5_000);
});

function ownerName({
  metadata,
}: {
  readonly metadata: { readonly ownerReferences?: readonly { readonly name: string }[] };
}): string | undefined {
  return metadata.ownerReferences?.[0]?.name;
}

test.each([
  ["an unknown zone", { timeZone: "Mars/Olympus" }, "UnknownTimeZone"],
  ["an unparsable schedule", { schedule: "every day" }, "UnparseableSchedule"],
])("%s that is stored already gets its warning, and other CronJobs run on", async (_title, broken, reason) => {
  // An object that an older server accepted, restored without validation.
  const stored = { ...cronJob("broken", "* * * * *", broken), apiVersion: "batch/v1", kind: "CronJob" };
  Object.assign(stored.metadata, {
    uid: "11111111-1111-4111-8111-111111111111",
    resourceVersion: "150",
    creationTimestamp: "2026-01-01T00:00:00Z",
  });
  const { clock, cluster, runs } = await start("2026-01-01T00:00:00Z", {
    restore: { resourceVersion: "200", objects: { "batch/cronjobs": [stored] } },
  });
  const client = cluster.client("test");
  await client.resource(cronJobs).create(cronJob("sound", "* * * * *"));
  await clock.advance(3 * MINUTE + 1_000);
  expect(runs.get("sound")).toHaveLength(3);
  expect(runs.has("broken")).toBe(false);
  const warnings = (await client.resource(events).list()).items.filter(
    ({ involvedObject }) => involvedObject.name === "broken",
  );
  expect(warnings.map((event) => event.reason)).toEqual([reason]);
});

test("a calendar date that its zone skipped does not stop the clock", async () => {
  const { clock, cluster, runs } = await start("2011-12-28T00:00:00Z");
  await cluster
    .client("test")
    .resource(cronJobs)
    .create(cronJob("apia", "0 12 30 * *", { timeZone: "Pacific/Apia" }));
  await clock.advance(40 * DAY);
  expect(runs.get("apia")!.map((slotMs) => new Date(slotMs).toISOString())).toEqual(["2012-01-29T22:00:00.000Z"]);
});

test("history limits of zero keep no finished Job, and a name at the length limit works", async () => {
  const { clock, cluster, runs } = await start("2026-01-01T00:00:30Z");
  const client = cluster.client("test");
  const name = "n".repeat(52);
  await client
    .resource(cronJobs)
    .create(cronJob(name, "* * * * *", { successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0 }));
  await clock.advance(5 * MINUTE + 20_000);
  expect(runs.get(name)).toHaveLength(5);
  expect((await client.resource(jobs).list()).items).toHaveLength(0);
});

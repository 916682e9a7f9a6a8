import { expect, test } from "vitest";

import { type CronJob, type DeepReadonly, type KubernetesObject, type ResourceDefinition, jobs } from "@kubewright/api";
import { InformerFactory, type SharedInformer } from "@kubewright/informer";

import { Harness, NAMESPACE, at } from "../test/harness.js";
import { CronJobController, type CronJobControllerOptions } from "./cron-job-controller.js";
import type { CronJobDecision } from "./decision.js";

interface StartOptions extends Partial<CronJobControllerOptions> {
  readonly resyncMs?: number;
}

/** The controller against a real API server, in virtual time. */
class RunHarness extends Harness {
  readonly decisions: CronJobDecision[] = [];

  start({ resyncMs, informers, ...options }: StartOptions = {}): Promise<void> {
    const onDecision = (decision: CronJobDecision): void => void this.decisions.push(decision);
    const caches = informers ?? { resyncMs, transform: showOtherSchedule };
    return this.runController((deps) => new CronJobController({ ...deps, onDecision, ...options }), caches);
  }

  async advanceTo(time: string): Promise<void> {
    await this.clock.advance(at(time) - this.clock.now());
  }

  /** Outcomes since the last call, with the time of day of each decision. */
  outcomes(): string[] {
    return this.decisions.splice(0).map(({ atMs, outcome, reason }) => {
      const time = new Date(atMs).toISOString().slice(11, 23);
      return `${time} ${outcome} ${reason}`;
    });
  }

  async patchSpec(spec: Partial<NonNullable<CronJob["spec"]>>): Promise<void> {
    await this.cronJobs.patch("n", { type: "merge", body: { spec } }, { namespace: NAMESPACE });
    await this.clock.settle();
  }
}

/**
 * Shows the controller a schedule that differs from the API server's. An older API server may have accepted such a
 * schedule.
 */
function showOtherSchedule<T extends KubernetesObject>(object: DeepReadonly<T>): DeepReadonly<T> {
  const schedule = object.metadata.annotations?.["test/schedule"];
  if (schedule === undefined) return object;
  const { spec } = object as { readonly spec?: object };
  return { ...object, spec: { ...spec, schedule } };
}

test("a CronJob runs hour by hour, its history is trimmed, and the clock holds one timer for it", async () => {
  const harness = new RunHarness();
  await harness.start();
  await harness.createCronJob();
  for (let hour = 10; hour <= 15; hour++) {
    await harness.advanceTo(`${hour}:00:01`);
    const [name] = (await harness.getCronJob()).status?.active?.map((job) => job.name) ?? [];
    await harness.advanceTo(`${hour}:05:00`);
    await harness.finishJob(name!);
    await harness.clock.settle();
    expect(harness.clock.pendingTimers).toBe(1);
  }
  const ran = harness.decisions.filter(({ outcome }) => outcome === "ran").map(({ slotMs }) => slotMs);
  expect(ran).toEqual([10, 11, 12, 13, 14, 15].map((hour) => at(`${hour}:00:00`)));
  expect(harness.decisions.every(({ missed }) => missed.length === 0)).toBe(true);
  expect(await harness.jobNames()).toEqual(["n-29540940", "n-29541000", "n-29541060"]);
  expect((await harness.getCronJob()).status).toEqual({
    lastScheduleTime: "2026-03-02T15:00:00Z",
    lastSuccessfulTime: "2026-03-02T15:05:00Z",
  });
  await harness.stop();
  expect(harness.clock.pendingTimers).toBe(0);
});

test("a CronJob is synced for every change of it and its Jobs, and starts nothing while no slot is due", async () => {
  const harness = new RunHarness();
  await harness.start();
  const cronJob = await harness.createCronJob({ successfulJobsHistoryLimit: 0 });
  const nothing = /^\d\d:\d\d:\d\d\.\d{3} notDue notDue$/;
  const expectNothingDue = (outcomes: readonly string[]): void => {
    expect(outcomes.length).toBeGreaterThan(0);
    for (const outcome of outcomes) expect(outcome).toMatch(nothing);
  };
  await harness.advanceTo("09:59:59");
  harness.outcomes();
  await harness.advanceTo("10:05:00");
  const [started, ...echoes] = harness.outcomes();
  expect(started).toBe("10:00:00.100 ran due");
  expectNothingDue(echoes);
  const [name] = await harness.jobNames();
  const job = await harness.jobs.get(name!, { namespace: NAMESPACE });
  await harness.jobs.updateStatus({ ...job, status: { active: 1 } });
  await harness.clock.settle();
  expectNothingDue(harness.outcomes());
  await harness.finishJob(name!);
  await harness.clock.settle();
  expect(await harness.jobNames()).toEqual([]);
  expectNothingDue(harness.outcomes());
  await harness.createJob("by-hand", cronJob);
  await harness.clock.settle();
  expectNothingDue(harness.outcomes());
  expect(harness.events.at(-1)).toContain("Saw a job that the controller did not create or forgot: by-hand");
  await harness.stop();
});

test("an unlisted Job is reported at every sync, also those for the Job and the status that the last one wrote", async () => {
  const harness = new RunHarness();
  await harness.start();
  await harness.createJob("by-hand", await harness.createCronJob());
  await harness.clock.settle();
  harness.events.length = 0;
  await harness.advanceTo("10:05:00");
  const unexpected = "Warning UnexpectedJob Saw a job that the controller did not create or forgot: by-hand";
  // One at the slot, then one for the written Job and status.
  expect(harness.events.filter((event) => event === unexpected)).toHaveLength(2);
  await harness.stop();
});

test("a finished Job that could not be deleted is tried again when the status comes back", async () => {
  const harness = new RunHarness();
  await harness.start();
  await harness.createCronJob({ successfulJobsHistoryLimit: 0 });
  await harness.advanceTo("10:05:00");
  const [name] = await harness.jobNames();
  harness.refuse(/^DELETE jobs\//, { code: 500, reason: "InternalError", message: "no" });
  await harness.finishJob(name!);
  await harness.advanceTo("10:06:00");
  expect(await harness.jobNames()).toEqual([]);
  expect(harness.events.slice(1)).toEqual([
    "Warning FailedDelete Deleted job: no",
    `Normal SawCompletedJob Saw completed job: ${name}, condition: Complete`,
    `Normal SuccessfulDelete Deleted job ${name}`,
  ]);
  await harness.stop();
});

test("a Job that a user deletes while it runs enqueues its CronJob", async () => {
  const harness = new RunHarness();
  await harness.start();
  await harness.createCronJob();
  await harness.advanceTo("10:05:00");
  const [name] = await harness.jobNames();
  harness.outcomes();
  await harness.client.resource(jobs).delete(name!, { namespace: NAMESPACE, propagationPolicy: "Background" });
  await harness.clock.settle();
  expect(new Set(harness.outcomes())).toEqual(new Set(["10:05:00.000 notDue notDue"]));
  expect((await harness.getCronJob()).status?.active ?? []).toEqual([]);
  await harness.stop();
});

test("57: a changed label syncs the CronJob at once", async () => {
  const harness = new RunHarness();
  await harness.start();
  await harness.createCronJob();
  await harness.clock.settle();
  harness.outcomes();
  await harness.cronJobs.patch(
    "n",
    { type: "merge", body: { metadata: { labels: { a: "b" } } } },
    { namespace: NAMESPACE },
  );
  await harness.clock.settle();
  expect(harness.outcomes()).toEqual(["09:59:30.000 notDue notDue"]);
  await harness.stop();
});

test("58, 59: a changed schedule or zone only sets a timer for the new next slot", async () => {
  const harness = new RunHarness();
  await harness.start();
  await harness.createCronJob({ schedule: "0 0 1 1 *" });
  await harness.advanceTo("10:02:00");
  harness.outcomes();
  await harness.patchSpec({ schedule: "*/5 * * * *" });
  expect(harness.outcomes()).toEqual([]);
  await harness.advanceTo("10:05:00.200");
  expect(harness.outcomes()[0]).toBe("10:05:00.100 ran due");
  await harness.patchSpec({ timeZone: "Asia/Kolkata" });
  expect(harness.outcomes()).toEqual([]);
  await harness.stop();
});

test("60: a schedule changed to something unreadable is reported, and nothing else", async () => {
  const harness = new RunHarness();
  await harness.start();
  await harness.createCronJob();
  await harness.clock.settle();
  harness.outcomes();
  const body = { metadata: { annotations: { "test/schedule": "garbage" } } };
  await harness.cronJobs.patch("n", { type: "merge", body }, { namespace: NAMESPACE });
  await harness.clock.settle();
  expect(harness.events).toEqual(["Warning UnParseableCronJobSchedule unparseable schedule for cronjob: garbage"]);
  expect(harness.outcomes()).toEqual([]);
  await harness.stop();
});

test("61: a resync syncs every CronJob", async () => {
  const harness = new RunHarness();
  await harness.start({ resyncMs: 600_000 });
  await harness.createCronJob({ suspend: true });
  await harness.advanceTo("09:59:31");
  harness.outcomes();
  await harness.advanceTo("10:20:00");
  const outcomes = harness.outcomes();
  expect(outcomes.length).toBeGreaterThan(0);
  expect(outcomes.length).toBeLessThan(4);
  await harness.stop();
});

test("62: a resync of Jobs enqueues no CronJob", async () => {
  const harness = new RunHarness();
  const { client, clock, random } = harness;
  class ResyncingJobs extends InformerFactory {
    readonly resyncing = new InformerFactory({ client, clock, random, resyncMs: 600_000 });
    override informerFor<T extends KubernetesObject>(definition: ResourceDefinition<T>): SharedInformer<T> {
      return definition.resource === "jobs" ? this.resyncing.informerFor(definition) : super.informerFor(definition);
    }
  }
  const informers = new ResyncingJobs({ client, clock, random });
  let resyncs = 0;
  informers.informerFor(jobs).addEventHandler({ onUpdate: () => void resyncs++ });
  const stop = new AbortController();
  const running = informers.resyncing.run(stop.signal);
  await harness.start({ informers });
  await harness.createJob("job", await harness.createCronJob({ suspend: true }));
  await harness.clock.settle();
  harness.outcomes();
  await harness.advanceTo("11:00:00");
  expect(resyncs).toBeGreaterThan(2);
  expect(harness.outcomes()).toEqual([]);
  await harness.stop();
  stop.abort();
  await running;
});

test("63: a Job that changes hands wakes both CronJobs", async () => {
  const harness = new RunHarness();
  await harness.start();
  const [a, b] = [await harness.createCronJob({}, "a"), await harness.createCronJob({}, "b")];
  await harness.createJob("job", a);
  await harness.clock.settle();
  harness.decisions.length = 0;
  const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "b", uid: b.metadata.uid!, controller: true };
  await harness.jobs.patch(
    "job",
    { type: "merge", body: { metadata: { ownerReferences: [owner] } } },
    { namespace: NAMESPACE },
  );
  await harness.clock.settle();
  expect(harness.decisions.map(({ key }) => key)).toEqual(["default/a", "default/b"]);
  await harness.stop();
});

test("63: a Job whose controller is named otherwise wakes the CronJob it was named for", async () => {
  const harness = new RunHarness();
  await harness.start();
  const cronJob = await harness.createCronJob();
  await harness.createJob("job", cronJob);
  await harness.clock.settle();
  harness.outcomes();
  const { uid } = cronJob.metadata;
  const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "m", uid: uid!, controller: true };
  await harness.jobs.patch(
    "job",
    { type: "merge", body: { metadata: { ownerReferences: [owner] } } },
    { namespace: NAMESPACE },
  );
  await harness.clock.settle();
  expect(harness.outcomes()).toEqual(["09:59:30.000 notDue notDue"]);
  await harness.stop();
});

test("a stranger's Job that has the name of a run costs that run, and none of those after it", async () => {
  const harness = new RunHarness();
  await harness.start();
  await harness.createJob("n-29540760", undefined);
  await harness.createCronJob();
  await harness.advanceTo("09:59:59");
  harness.outcomes();
  await harness.advanceTo("10:59:59");
  expect(harness.outcomes()).toEqual(["10:00:00.100 alreadyExists ownedByAnother"]);
  await harness.advanceTo("11:00:01");
  expect(await harness.jobNames()).toEqual(["n-29540760", "n-29540820"]);
  expect(harness.decisions.find(({ outcome }) => outcome === "ran")?.missed).toEqual([
    { reason: "ownedByAnother", count: 1, exact: true, slotsMs: [at("10:00:00")] },
  ]);
  await harness.stop();
});

test("49, 64: Jobs whose owner has another UID or kind enqueue no CronJob", async () => {
  const harness = new RunHarness();
  await harness.start();
  const cronJob = await harness.createCronJob();
  await harness.clock.settle();
  harness.outcomes();
  await harness.createJob("kind", cronJob, "Foo");
  await harness.createJob("uid", { metadata: { name: "n", uid: "another" } });
  await harness.finishJob("uid");
  await harness.clock.settle();
  expect(harness.outcomes()).toEqual([]);
  await harness.stop();
});

test("65: failures stay counted over a sync that asks for nothing", async () => {
  const harness = new RunHarness();
  await harness.start();
  await harness.createCronJob();
  const refused = { code: 500, reason: "InternalError", message: "no" } as const;
  harness.refuse(/^POST jobs$/, refused, 3);
  await harness.advanceTo("10:00:00.120");
  // At 100 ms, then 5 and 10 ms later; the fourth attempt would be due 20 ms after the third.
  expect(harness.outcomes().slice(-3)).toEqual([
    "10:00:00.100 failed createFailed",
    "10:00:00.105 failed createFailed",
    "10:00:00.115 failed createFailed",
  ]);
  await harness.patchSpec({ suspend: true });
  expect(harness.outcomes()).toEqual(["10:00:00.120 skipped suspended"]);
  await harness.advanceTo("10:01:00");
  harness.outcomes();
  harness.refuse(/^POST jobs$/, refused, 1);
  await harness.patchSpec({ suspend: false });
  await harness.advanceTo("10:01:00.041");
  expect(harness.outcomes().slice(0, 2)).toEqual(["10:01:00.000 failed createFailed", "10:01:00.040 ran due"]);
  await harness.stop();
});

test("33: a CronJob that is resumed runs its latest slot at once, and says what it missed", async () => {
  const harness = new RunHarness();
  await harness.start();
  await harness.createCronJob({ suspend: true });
  await harness.advanceTo("12:30:00");
  expect(harness.clock.pendingTimers).toBe(0);
  await harness.patchSpec({ suspend: false });
  const ran = harness.decisions.find(({ outcome }) => outcome === "ran");
  expect(ran).toMatchObject({ atMs: at("12:30:00"), slotMs: at("12:00:00") });
  expect(ran?.missed).toEqual([
    { reason: "suspended", count: 2, exact: true, slotsMs: [at("10:00:00"), at("11:00:00")] },
  ]);
  await harness.stop();
});

test("slots that an earlier controller has reported are not listed as missed again, even when Forbid still holds one back", async () => {
  const harness = new RunHarness();
  const cronJob = await harness.createCronJob({ concurrencyPolicy: "Forbid" });
  const job = await harness.createJob("n-29540760", cronJob);
  const active = [{ kind: "Job", name: job.metadata.name!, namespace: NAMESPACE, uid: job.metadata.uid! }];
  await harness.setStatus(cronJob, { active, lastScheduleTime: "2026-03-02T10:00:00Z" });
  await harness.advanceTo("12:10:00");
  await harness.start({ missedSince: at("12:10:00") });
  await harness.advanceTo("14:10:00");
  expect(harness.decisions.flatMap(({ missed }) => missed)).toEqual([
    { reason: "superseded", count: 1, exact: true, slotsMs: [at("13:00:00")] },
  ]);
  expect(harness.decisions[0]).toMatchObject({ outcome: "skipped", slotMs: at("12:00:00") });
  await harness.stop();
});

test("runs of @every that a deadline has moved go on an interval apart", async () => {
  const harness = new RunHarness();
  await harness.start();
  await harness.createCronJob({ schedule: "@every 1h", startingDeadlineSeconds: 5400, suspend: true });
  await harness.advanceTo("16:00:00");
  await harness.patchSpec({ suspend: false });
  await harness.advanceTo("18:31:00");
  const ran = harness.decisions.filter(({ outcome }) => outcome === "ran");
  expect(ran.map(({ atMs, slotMs }) => [atMs, slotMs])).toEqual([
    [at("16:00:00"), at("15:30:00")],
    [at("16:30:00.1"), at("16:30:00")],
    [at("17:30:00.1"), at("17:30:00")],
    [at("18:30:00.1"), at("18:30:00")],
  ]);
  await harness.stop();
});

test("a deleted CronJob is forgotten", async () => {
  const harness = new RunHarness();
  await harness.start();
  await harness.createCronJob();
  await harness.clock.settle();
  await harness.cronJobs.delete("n", { namespace: NAMESPACE });
  await harness.advanceTo("12:00:00");
  expect(harness.outcomes()).toEqual(["09:59:30.000 notDue notDue"]);
  expect(await harness.jobNames()).toEqual([]);
  await harness.stop();
});

test("without a zone of their own CronJobs run in the controller's", async () => {
  const harness = new RunHarness();
  await harness.start({ localTimeZone: "America/New_York" });
  await harness.createCronJob({ schedule: "0 5 * * *" });
  await harness.advanceTo("10:00:01");
  expect(await harness.jobNames()).toEqual(["n-29540760"]);
  await harness.stop();
});

test("a controller that is stopped finishes the sync it is in", async () => {
  const harness = new RunHarness();
  await harness.start();
  await harness.createCronJob();
  let stopped: Promise<void> | undefined;
  harness.intercept = (write) => {
    if (write === "POST jobs") stopped = harness.stop();
  };
  await harness.advanceTo("10:00:01");
  await stopped;
  expect(harness.writes).toEqual(["POST jobs", "PUT cronjobs/n/status"]);
  expect(harness.events).toEqual(["Normal SuccessfulCreate Created job n-29540760"]);
  expect((await harness.getCronJob()).status?.active?.map(({ name }) => name)).toEqual(["n-29540760"]);
});

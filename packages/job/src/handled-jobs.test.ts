import {
  JOB_TRACKING_FINALIZER,
  type Job,
  type JobSpec,
  type Pod,
  formatTime,
  getControllerOf,
  jobs,
  keyOf,
  pods,
} from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom, silentLogger } from "@kubewright/clock";
import { discardEvents } from "@kubewright/controller";
import { InformerFactory, Store } from "@kubewright/informer";
import { expect, test } from "vitest";

import { CountedMetrics } from "../test/counted-metrics.js";
import { handledJobs } from "./handled-jobs.js";
import { JobController } from "./job-controller.js";
import { hasTrackingFinalizer } from "./pod-state.js";

const INSTANCES = 3;
const NAMESPACE = "default";

const instanceOf = (uid = ""): number => Number.parseInt(uid.slice(0, 8), 16) % INSTANCES;

interface Instance {
  readonly metrics: CountedMetrics;
  /** Writes such as `PATCH pods/a`. */
  readonly writes: string[];
  stop(): Promise<void>;
}

/** An API server with several controllers that share the Jobs of one namespace by UID. */
class SharedNamespace {
  readonly clock = new SimulatedClock("2026-01-01T00:00:00Z");
  readonly #random = seededRandom(1);
  readonly #server = createApiServer({ clock: this.clock, random: this.#random.fork("server"), freeze: true });
  readonly admin = new Client({ transport: this.#server.transport, clock: this.clock });
  readonly instances: Instance[] = [];

  async start(...indexes: number[]): Promise<void> {
    for (const index of indexes) this.instances.push(this.#instance(index));
    await this.clock.settle();
  }

  async close(): Promise<void> {
    for (const instance of this.instances) await instance.stop();
    await this.#server.close();
  }

  /**
   * Creates a Job, again if necessary until the given controller handles its UID. @param instance - Default: any
   * controller.
   */
  async createJob(name: string, { instance, spec = {} }: { instance?: number; spec?: Partial<JobSpec> } = {}) {
    const client = this.admin.resource(jobs);
    for (;;) {
      const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work:1" }] } };
      const created = await client.create({
        metadata: { name, namespace: NAMESPACE },
        spec: { completions: 2, parallelism: 2, suspend: true, template, ...spec },
      });
      if (instance === undefined || instanceOf(created.metadata.uid) === instance) {
        if (spec.suspend === undefined)
          await client.patch(name, { type: "merge", body: { spec: { suspend: false } } }, { namespace: NAMESPACE });
        return created;
      }
      await client.delete(name, { namespace: NAMESPACE, propagationPolicy: "Background" });
    }
  }

  async deleteJob(name: string): Promise<void> {
    await this.admin.resource(jobs).delete(name, { namespace: NAMESPACE, propagationPolicy: "Background" });
  }

  async jobs(): Promise<readonly Job[]> {
    return (await this.admin.resource(jobs).list({ namespace: NAMESPACE })).items as Job[];
  }

  async pods(): Promise<readonly Pod[]> {
    return (await this.admin.resource(pods).list({ namespace: NAMESPACE })).items as Pod[];
  }

  /** Reports success for all pods. */
  async endPods(): Promise<void> {
    const now = formatTime(this.clock.now());
    const terminated = { exitCode: 0, startedAt: now, finishedAt: now };
    const containerStatuses = [
      { name: "main", image: "work:1", imageID: "", ready: false, restartCount: 0, state: { terminated } },
    ];
    for (const { metadata, status } of await this.pods()) {
      if (status?.phase === "Succeeded") continue;
      await this.admin
        .resource(pods)
        .patch(
          metadata.name!,
          { type: "merge", body: { status: { phase: "Succeeded", containerStatuses } } },
          { namespace: NAMESPACE, subresource: "status" },
        );
    }
  }

  /** Returns the index in {@link instances} of the writer of each write that matches. */
  writersOf(what: RegExp): number[] {
    return this.instances.flatMap(({ writes }, index) => writes.filter((each) => what.test(each)).map(() => index));
  }

  #instance(index: number): Instance {
    const writes: string[] = [];
    const { clock } = this;
    const client = new Client({
      transport: (request) => {
        const what = `${request.method} ${request.path.replace(/^.*namespaces\/default\//, "").replace(/\?.*$/, "")}`;
        if (request.method !== "GET") writes.push(what);
        return this.#server.transport(request);
      },
      clock,
    });
    const random = this.#random.fork(`part ${index}`);
    const informers = new InformerFactory({ client, clock, random, namespace: NAMESPACE });
    const metrics = new CountedMetrics();
    const controller = new JobController({
      client,
      clock,
      random,
      informers,
      logger: silentLogger,
      events: discardEvents,
      metrics,
      handles: (uid) => instanceOf(uid) === index,
    });
    const stop = new AbortController();
    const ended = Promise.all([informers.run(stop.signal), controller.run(stop.signal)]);
    return {
      metrics,
      writes,
      stop: async () => {
        stop.abort(new Error("stopped"));
        await ended;
      },
    };
  }
}

const tracked = (all: readonly Pod[]): string[] => all.filter(hasTrackingFinalizer).map(keyOf);
const succeeded = (all: readonly Job[]): number[] => all.map(({ status }) => status?.succeeded ?? 0);

test("each of several controllers does its own Jobs, and everything is counted once", async () => {
  const world = new SharedNamespace();
  await world.start(0, 1, 2);
  for (let index = 0; index < 12; index++) await world.createJob(`job-${index}`);
  await world.createJob("external", { spec: { managedBy: "example.com/other", suspend: false } });
  await world.clock.advance(5_000);
  expect(await world.pods()).toHaveLength(24);
  await world.endPods();
  await world.clock.advance(10_000);
  const done = (await world.jobs()).filter(({ spec }) => spec?.managedBy === undefined);
  expect(succeeded(done)).toEqual(done.map(() => 2));
  expect(tracked(await world.pods())).toEqual([]);
  for (const { metadata } of done) {
    const writers = new Set(world.writersOf(new RegExp(`^PUT jobs/${metadata.name}/status$`)));
    expect([...writers]).toEqual([instanceOf(metadata.uid)]);
  }
  expect(new Set(world.writersOf(/^POST pods/))).toEqual(new Set([0, 1, 2]));
  expect(world.writersOf(/^POST pods/)).toHaveLength(24);
  expect(world.writersOf(/^PATCH pods/)).toHaveLength(24);
  const counts = world.instances.flatMap(({ metrics }) => Object.entries(metrics.counts));
  const sum = (name: string): number =>
    counts.filter(([what]) => what.startsWith(name)).reduce((total, [, count]) => total + count, 0);
  expect([sum("jobFinished"), sum("podsFinished"), sum("terminatedPodTracked"), sum("externalJobAdded")]).toEqual([
    12, 24, 48, 1,
  ]);
  await world.close();
});

test("the Jobs of a stopped controller are not synced, their pods keep their finalizers, and it continues after its restart", async () => {
  const world = new SharedNamespace();
  await world.start(0);
  await world.createJob("job", { instance: 0 });
  await world.clock.advance(2_000);
  await world.instances[0]!.stop();
  await world.start(1, 2);
  await world.endPods();
  await world.clock.advance(3_600_000);
  expect(tracked(await world.pods())).toHaveLength(2);
  expect(world.instances.slice(1).flatMap(({ writes }) => writes)).toEqual([]);
  await world.start(0);
  await world.clock.advance(5_000);
  expect([succeeded(await world.jobs()), tracked(await world.pods())]).toEqual([[2], []]);
  expect(await world.pods()).toHaveLength(2);
  await world.close();
});

test("pods whose Job is gone, and pods without a controller, lose their finalizer through exactly one controller", async () => {
  const world = new SharedNamespace();
  await world.start(0, 1, 2);
  for (const instance of [0, 1, 2]) await world.createJob(`job-${instance}`, { instance });
  await world.clock.advance(2_000);
  for (const instance of [0, 1, 2]) await world.deleteJob(`job-${instance}`);
  const client = world.admin.resource(pods);
  for (const { metadata } of await world.pods()) await client.delete(metadata.name!, { namespace: NAMESPACE });
  const spec = { containers: [{ name: "main", image: "work:1" }] };
  for (const index of Array.from({ length: 6 }, (_, each) => each))
    await client.create({
      metadata: { name: `stray-${index}`, namespace: NAMESPACE, finalizers: [JOB_TRACKING_FINALIZER] },
      spec,
    });
  await world.clock.advance(60_000);
  expect(tracked(await world.pods())).toEqual([]);
  const freed = world.writersOf(/^PATCH pods/);
  expect([freed.length, new Set(freed)]).toEqual([12, new Set([0, 1, 2])]);
  for (const instance of [0, 1, 2])
    expect(world.writersOf(new RegExp(`^PATCH pods/job-${instance}-`))).toEqual([instance, instance]);
  await world.close();
});

const MANUAL = {
  manualSelector: true,
  selector: { matchLabels: { app: "shared" } },
  template: {
    metadata: { labels: { app: "shared" } },
    spec: { restartPolicy: "Never" as const, containers: [{ name: "main", image: "work:1" }] },
  },
};

test("an ended pod that a Job selects keeps its finalizer when it belongs to a Job of another controller", async () => {
  const world = new SharedNamespace();
  await world.start(0, 1);
  await world.createJob("theirs", { instance: 0, spec: MANUAL });
  await world.createJob("ours", { instance: 1, spec: MANUAL });
  await world.clock.advance(2_000);
  await world.deleteJob("theirs");
  await world.clock.advance(60_000);
  const left = await world.pods();
  expect(tracked(left).filter((key) => key.includes("/ours-"))).toHaveLength(2);
  expect(world.writersOf(/^PATCH pods\/ours-/)).toEqual([]);
  await world.close();
});

test("an orphan pod is adopted by the controller whose Job matches it, and by no other", async () => {
  const world = new SharedNamespace();
  await world.start(0, 1, 2);
  await world.createJob("job", { instance: 2, spec: MANUAL });
  await world.clock.advance(5_000);
  await world.admin.resource(pods).create({
    metadata: { name: "stray", namespace: NAMESPACE, labels: { app: "shared" } },
    spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work:1" }] },
  });
  await world.clock.advance(5_000);
  expect(new Set(world.writersOf(/pods\/stray$/))).toEqual(new Set([2]));
  const left = await world.pods();
  expect(left).toHaveLength(2);
  expect(left.map((pod) => getControllerOf(pod)?.name)).toEqual(["job", "job"]);
  expect(tracked(left)).toHaveLength(2);
  await world.close();
});

test("a Job recreated under its name is handled by the controller that its new UID selects", async () => {
  const world = new SharedNamespace();
  await world.start(0, 1);
  await world.createJob("job", { instance: 0 });
  await world.clock.advance(2_000);
  await world.deleteJob("job");
  await world.createJob("job", { instance: 1 });
  await world.clock.advance(2_000);
  await world.endPods();
  await world.clock.advance(10_000);
  expect(succeeded(await world.jobs())).toEqual([2]);
  expect(new Set(world.writersOf(/^POST pods/).slice(0, 2))).toEqual(new Set([0]));
  expect(world.writersOf(/^POST pods/).slice(2)).toEqual([1, 1]);
  await world.close();
});

test("Jobs of others are as if they were not there", () => {
  const store = new Store<Job>();
  for (const uid of ["ours", "theirs"]) store.add({ metadata: { name: uid, namespace: NAMESPACE, uid } });
  const view = handledJobs(store, (uid) => uid === "ours");
  const keys = store.list().map(keyOf);
  expect(keys.map((key) => view.get(key)?.metadata.uid)).toEqual(["ours", undefined]);
  expect(view.listNamespace(NAMESPACE).map(({ metadata }) => metadata.uid)).toEqual(["ours"]);
});

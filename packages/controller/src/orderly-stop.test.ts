import { type ObjectKey, jobs, keyOf, leases, splitObjectKey } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { InformerFactory } from "@kubewright/informer";
import type { Transport } from "@kubewright/transport";
import { RateLimitingQueue, defaultControllerRateLimiter } from "@kubewright/workqueue";
import { expect, test } from "vitest";

import { EventRecorder } from "./event-recorder.js";
import { LeaderElector } from "./leader-elector.js";
import { leaderFence } from "./leader-fence.js";
import { ReconcileLoop } from "./reconcile-loop.js";
import { runInStages } from "./runnable.js";

const LEASE = { namespace: "kube-system", name: "greeter" };

/**
 * One process: an elector whose work is a controller that takes 3 s to greet a Job, with its event recorder and
 * informers.
 */
function greeter(world: World, identity: string, transport: Transport) {
  const { clock, log } = world;
  const random = seededRandom(identity.length).fork(identity);
  const say = (what: string): void => void log.push(`${clock.monotonic() / 1000}s ${identity} ${what}`);
  const elector = new LeaderElector({
    client: new Client({ transport, clock, userAgent: identity }),
    clock,
    random,
    ...LEASE,
    identity,
    releaseOnCancel: true,
    callbacks: { onStartedLeading: (signal) => lead(signal), onStoppedLeading: () => say("stopped leading") },
  });
  const lead = async (signal: AbortSignal): Promise<void> => {
    say("leads");
    const fenced = leaderFence(transport, () => elector.mayActAsLeader);
    const client = new Client({ transport: fenced, clock, userAgent: identity });
    const informers = new InformerFactory({ client, clock, random });
    const informer = informers.informerFor(jobs);
    const events = new EventRecorder({ client, clock, random, component: identity });
    const queue = new RateLimitingQueue<ObjectKey>({ clock, rateLimiter: defaultControllerRateLimiter({ clock }) });
    informer.addEventHandler({ onAdd: (job) => queue.add(keyOf(job)) });
    const loop = new ReconcileLoop({
      name: "greeter",
      queue,
      clock,
      workers: 1,
      waitForSync: (sync) => informer.waitForSync(sync),
      reconcile: async (key) => {
        const job = informer.store.get(key);
        if (job?.metadata.annotations?.["example.com/greeted"] !== undefined || job === undefined) return;
        say(`begins ${key}`);
        await clock.sleep(3_000);
        const { namespace, name } = splitObjectKey(key);
        const body = { metadata: { annotations: { "example.com/greeted": identity } } };
        await client.resource(jobs).patch(name, { type: "merge", body }, { namespace });
        events.event(job, jobs, "Normal", "Greeted", `Hello ${key}`);
        say(`ends ${key}`);
      },
    });
    await runInStages([[loop], [events, { name: "informers", run: (stop) => informers.run(stop) }]], signal);
    say("work ended");
  };
  const stop = new AbortController();
  const done = elector.run(stop.signal).then(
    () => say("run returned"),
    (error: Error) => say(`run rejected: ${error.message}`),
  );
  return { stop, done };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
}

class World {
  readonly clock = new SimulatedClock("2026-01-01T00:00:00Z");
  readonly server = createApiServer({ clock: this.clock, random: seededRandom(1), freeze: true });
  readonly client = new Client({ transport: this.server.transport, clock: this.clock, userAgent: "test" });
  readonly log: string[] = [];

  constructor() {
    this.server.observe(({ verb, resource, userAgent }) => {
      if (userAgent === "test" || !["create", "update", "patch", "delete"].includes(verb)) return;
      // Renewals every two seconds are irrelevant here.
      if (resource !== "leases") this.log.push(`${this.clock.monotonic() / 1000}s ${userAgent} ${verb} ${resource}`);
    });
  }

  createJob(name: string) {
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "x" }] } };
    return this.client.resource(jobs).create({ metadata: { namespace: "default", name }, spec: { template } });
  }

  async holder(): Promise<string | undefined> {
    const { namespace, name } = LEASE;
    return (await this.client.resource(leases).get(name, { namespace })).spec?.holderIdentity;
  }
}

test("on abort: the reconcile under way finishes, its events are written, the lease is released, run returns", async () => {
  const world = new World();
  const { clock, log, server } = world;
  await world.createJob("one");
  await world.createJob("two");
  const a = greeter(world, "a", server.transport);
  await clock.advance(1_000);
  const b = greeter(world, "b", server.transport);
  a.stop.abort();
  await clock.advance(1_900);
  expect(await world.holder()).toBe("a");
  await clock.advance(200);
  // Released, and acquired immediately by the watching candidate.
  expect(await world.holder()).toBe("b");
  await clock.advance(4_400);
  expect(log.filter((line) => line.includes(" a "))).toEqual([
    "0s a leads",
    "0s a begins default/one",
    "3s a patch jobs",
    "3s a ends default/one",
    "3s a create events",
    "3s a work ended",
    "3s a stopped leading",
    "3s a run returned",
  ]);
  // The queued key is left to the next leader, which need not wait until the lease expires.
  const next = log.find((line) => line.includes("b begins"))!;
  expect(next).toMatch(/b begins default\/two$/);
  expect(Number.parseFloat(next)).toBeLessThan(3 + 4.4);
  b.stop.abort();
  await clock.advance(60_000);
  await Promise.all([a.done, b.done]);
  expect(log.at(-1)).toMatch(/b run returned$/);
  expect(clock.pendingTimers).toBe(0);
});

test("events that cannot be written hold up the release for at most 5 s", async () => {
  const world = new World();
  const { clock, log, server } = world;
  await world.createJob("one");
  // The server accepts events and never responds.
  const a = greeter(world, "a", (request) =>
    request.path.includes("/events") ? untilAborted(request.signal!) : server.transport(request),
  );
  await clock.advance(1_000);
  a.stop.abort();
  await clock.advance(6_900);
  expect(await world.holder()).toBe("a");
  expect(log.at(-1)).toBe("3s a ends default/one");
  await clock.advance(1_200);
  await a.done;
  expect(log.slice(-3)).toEqual(["8s a work ended", "8s a stopped leading", "8s a run returned"]);
  expect(await world.holder()).toBe("");
});

test("when the lease is lost, what was begun under it is refused, and nothing is released", async () => {
  const world = new World();
  const { clock, log, server } = world;
  let cut = false;
  const a = greeter(world, "a", (request) =>
    cut && request.path.includes("/leases") ? Promise.reject(new Error("cut")) : server.transport(request),
  );
  await clock.advance(1_000);
  cut = true;
  // The reconcile starts at 9.5 s and would write at 12.5 s; the last renewal was at 0 s.
  await clock.advance(8_500);
  await world.createJob("one");
  await clock.advance(20_000);
  await a.done;
  expect(log.filter((line) => / (patch|create) /.test(line))).toEqual([]);
  // The work's signal aborted at 12 s, and run waits for the work.
  expect(log.slice(1)).toEqual([
    "9.5s a begins default/one",
    "12s a stopped leading",
    "12.5s a work ended",
    "12.5s a run rejected: failed to renew lease kube-system/greeter: timed out waiting for the condition",
  ]);
  expect(await world.holder()).toBe("a");
});

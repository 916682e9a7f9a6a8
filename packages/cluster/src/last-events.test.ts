import { cronJobs, events as eventResource, jobs, nodes, pods } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom, silentLogger } from "@kubewright/clock";
import { type Runnable, runInStages } from "@kubewright/controller";
import { CronJobController } from "@kubewright/cronjob";
import { GarbageCollector } from "@kubewright/garbage-collector";
import { InformerFactory } from "@kubewright/informer";
import { JobController } from "@kubewright/job";
import type { Transport } from "@kubewright/transport";
import { expect, test } from "vitest";

import { FakeScheduler } from "./scheduler/fake-scheduler.js";

// Events of a controller's last writes, when it runs alone with its own event recorder.

const WRITE_MS = 1_000;

class World {
  readonly clock = new SimulatedClock("2026-01-01T00:00:30Z");
  readonly random = seededRandom(1);
  readonly server = createApiServer({ clock: this.clock, random: seededRandom(2), freeze: true });
  readonly admin = new Client({ transport: this.server.transport, clock: this.clock });
  readonly client = new Client({ transport: this.#slowly(this.server.transport), clock: this.clock });
  readonly informers = new InformerFactory({ client: this.client, clock: this.clock, random: this.random });
  readonly context = {
    client: this.client,
    clock: this.clock,
    random: this.random,
    informers: this.informers,
    logger: silentLogger,
  };

  /** Delays each write by a second, even if it is aborted. Writes of events have no delay. */
  #slowly(transport: Transport): Transport {
    return async (request) => {
      if (request.method !== "GET" && !request.path.includes("/events")) {
        await this.clock.sleep(WRITE_MS);
        const { signal: _ignored, ...rest } = request;
        return transport(rest);
      }
      return transport(request);
    };
  }

  createPod(name: string, metadata: object = {}, namespace = "default") {
    const spec = { containers: [{ name: "main", image: "x" }] };
    return this.admin.resource(pods).create({ metadata: { name, namespace, ...metadata }, spec });
  }

  async reasons(): Promise<(string | undefined)[]> {
    return (await this.admin.resource(eventResource).list()).items.map(({ reason }) => reason);
  }
}

interface Case {
  readonly name: string;
  readonly controller: (world: World) => Runnable;
  /** Creates work for the controller. */
  readonly begin: (world: World) => Promise<unknown>;
  /** Time at which it is in the middle of a write. */
  readonly busyAfterMs: number;
  /** Runs after the stop. */
  readonly meanwhile?: (world: World) => Promise<unknown>;
  readonly reason: string;
}

const jobSpec = { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "x" }] } } };
const metadata = { name: "a", namespace: "default" };
const cases: readonly Case[] = [
  {
    name: "Job controller",
    controller: ({ context }) => new JobController(context),
    begin: ({ admin }) => admin.resource(jobs).create({ metadata, spec: jobSpec }),
    busyAfterMs: 500,
    reason: "SuccessfulCreate",
  },
  {
    name: "CronJob controller",
    controller: ({ context }) => new CronJobController(context),
    begin: ({ admin }) =>
      admin.resource(cronJobs).create({ metadata, spec: { schedule: "* * * * *", jobTemplate: { spec: jobSpec } } }),
    busyAfterMs: 30_500,
    reason: "SuccessfulCreate",
  },
  {
    name: "scheduler",
    controller: ({ context }) => new FakeScheduler(context),
    begin: async (world) => {
      const conditions = [{ type: "Ready", status: "True" }];
      const allocatable = { cpu: "4", memory: "4Gi", pods: "10" };
      await world.admin.resource(nodes).create({ metadata: { name: "n" }, status: { conditions, allocatable } });
      await world.createPod("a");
    },
    busyAfterMs: 500,
    reason: "Scheduled",
  },
  {
    name: "garbage collector",
    controller: ({ context }) => new GarbageCollector({ ...context, sharedResources: [pods] }),
    begin: (world) => world.createPod("orphan", ownedBy("gone", "no-such-uid")),
    busyAfterMs: 500,
    meanwhile: async (world) => {
      const { metadata: owner } = await world.createPod("owner");
      await world.createPod("stranger", ownedBy("owner", owner.uid!), "kube-system");
    },
    reason: "OwnerRefInvalidNamespace",
  },
];

function ownedBy(name: string, uid: string): object {
  return { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid }] };
}

test.for(cases)(
  "the $name, stopped in the middle of a write, completes it and writes its events before it returns",
  async ({ controller, begin, busyAfterMs, meanwhile, reason }) => {
    const world = new World();
    const { clock, informers } = world;
    const stop = new AbortController();
    let ended = false;
    const running = runInStages([[controller(world)], [informers]], stop.signal).then(() => (ended = true));
    await begin(world);
    await clock.advance(busyAfterMs);
    expect(await world.reasons()).not.toContain(reason);
    stop.abort();
    await meanwhile?.(world);
    await clock.settle();
    expect(ended).toBe(false);
    // A write of the pod or Job, and one of the status.
    await clock.advance(2 * WRITE_MS);
    expect(ended).toBe(true);
    await running;
    expect(await world.reasons()).toContain(reason);
    expect({ timers: clock.pendingTimers, holds: clock.keepAliveCount }).toEqual({ timers: 0, holds: 0 });
  },
);

import {
  type DeepReadonly,
  type Lease,
  configMaps,
  leases,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from "@kubewright/api";
import { statusError } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { LeaderElector } from "@kubewright/controller";
import { createOperator } from "@kubewright/operator";
import type { Transport } from "@kubewright/transport";
import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";

import {
  type Fault,
  type RunningController,
  type TestCluster,
  type TestEnvironment,
  startTestCluster,
} from "../src/index.js";

const PLACE = { namespace: "default" };

/** A cluster in which candidates compete for one Lease, and what was observed of it. */
class World {
  readonly #cluster: TestCluster;
  readonly #defers: boolean;
  readonly #candidates: RunningController[] = [];
  readonly #watches: AbortController[] = [];
  #fault: Fault | undefined;
  /** Observations and changes of leadership, with their times. */
  readonly log: string[] = [];
  #leaseRequests = 0;

  private constructor(cluster: TestCluster, defers: boolean) {
    this.#cluster = cluster;
    this.#defers = defers;
    cluster.embedded!.apiServer.observe(({ resource, verb }) => {
      if (resource === "leases" && verb === "update") this.#leaseRequests++;
    });
  }

  static async start({ defers = true }: { readonly defers?: boolean } = {}): Promise<World> {
    const cluster = await startTestCluster({ kubelet: "none", controllers: ["garbage-collector-controller"] });
    const world = new World(cluster, defers);
    onTestFinished(() => world.end());
    await world.candidate();
    return world;
  }

  get seconds(): number {
    return (this.#cluster.now.getTime() - Date.parse("2026-01-01T00:00:00Z")) / 1000;
  }

  /** Number of renewals, or other updates, that were sent as requests. */
  get leaseRequests(): number {
    return this.#leaseRequests;
  }

  async candidate(watches = true): Promise<RunningController> {
    const name = `candidate-${this.#candidates.length}`;
    const operator = {
      name,
      controllers: [],
      run: ({ transport, clock, random, signal, logger, identity, renewalDeferral }: TestEnvironment) =>
        new LeaderElector({
          client: new Client({ transport: watches ? transport : withoutWatches(transport), clock, userAgent: name }),
          clock,
          random,
          logger,
          identity,
          renewalDeferral,
          namespace: "default",
          name: "lock",
          releaseOnCancel: true,
          callbacks: {
            onStartedLeading: async (leading) => {
              this.#note(`${identity} leads`);
              await new Promise((resolve) => leading.addEventListener("abort", resolve, { once: true }));
            },
            onStoppedLeading: () => this.#note(`${identity} does not lead`),
          },
        }).run(signal),
    };
    const candidate = await this.#cluster.run(operator, {
      name,
      environment: this.#defers ? {} : { renewalDeferral: undefined },
    });
    this.#candidates.push(candidate);
    return candidate;
  }

  async advance(ms: number): Promise<void> {
    const endMs = this.#cluster.now.getTime() + ms;
    for (;;) {
      try {
        return await this.#cluster.advance(endMs - this.#cluster.now.getTime());
      } catch (error) {
        this.#note((error as Error).message.split("\n", 1)[0]!);
      }
    }
  }

  async get(): Promise<DeepReadonly<Lease> | undefined> {
    const lease = await this.#cluster.client
      .resource(leases)
      .get("lock", PLACE)
      .catch(() => undefined);
    this.#observe("get", lease);
    return lease;
  }

  async list(): Promise<void> {
    const { items } = await this.#cluster.client.resource(leases).list();
    this.#observe(
      "list",
      items.find(({ metadata }) => metadata.name === "lock"),
    );
  }

  snapshot(): void {
    const stored = this.#cluster.embedded!.apiServer.snapshot().objects["coordination.k8s.io/leases"] ?? [];
    this.#observe(
      "snapshot",
      stored.find(({ metadata }) => metadata.name === "lock"),
    );
  }

  async watch(): Promise<void> {
    const stop = new AbortController();
    this.#watches.push(stop);
    const events = await this.#cluster.client.resource(leases).watch({ ...PLACE, signal: stop.signal });
    const read = async (): Promise<void> => {
      for await (const { type, object } of events) this.#observe(`watch ${type}`, object);
    };
    void read();
    await this.#cluster.advance(0);
  }

  async endWatch(): Promise<void> {
    this.#watches.pop()?.abort();
    await this.#cluster.advance(0);
  }

  async stop(): Promise<void> {
    await this.#alive?.stop().catch((error: Error) => this.#note(error.message.split("\n", 1)[0]!));
  }

  async kill(): Promise<void> {
    await this.#alive?.kill();
  }

  disconnect(): void {
    this.#fault?.end();
    this.#fault = this.#cluster.faults.disconnect({ by: "candidate-0" });
  }

  reconnect(): void {
    this.#fault?.end();
    this.#fault = undefined;
  }

  async steal(): Promise<void> {
    const lease = await this.get();
    if (lease === undefined) return;
    const spec = { ...lease.spec, holderIdentity: "thief" };
    await this.#cluster.client.resource(leases).update({ ...lease, spec });
  }

  async deleteLease(): Promise<void> {
    await this.#cluster.client
      .resource(leases)
      .delete("lock", PLACE)
      .catch(() => undefined);
  }

  /** Configures an admission policy that refuses every renewal. */
  async refuseRenewals(): Promise<void> {
    const { client } = this.#cluster;
    const resourceRules = [
      {
        apiGroups: ["coordination.k8s.io"],
        apiVersions: ["*"],
        operations: ["UPDATE" as const],
        resources: ["leases"],
      },
    ];
    await client.resource(validatingAdmissionPolicies).create({
      metadata: { name: "refuse" },
      spec: { matchConstraints: { resourceRules }, validations: [{ expression: "false" }] },
    });
    await client.resource(validatingAdmissionPolicyBindings).create({
      metadata: { name: "refuse" },
      spec: { policyName: "refuse", validationActions: ["Deny"] },
    });
  }

  async end(): Promise<void> {
    for (const watch of this.#watches) watch.abort();
    await this.#cluster.stop().catch(() => undefined);
  }

  get #alive(): RunningController | undefined {
    return this.#candidates.find(({ alive }) => alive);
  }

  #note(text: string): void {
    this.log.push(`${this.seconds} s: ${text}`);
  }

  /** Notes everything that the Lease contains, except for its versions. */
  #observe(how: string, lease: DeepReadonly<Lease> | undefined): void {
    const { resourceVersion: _version, uid: _uid, ...metadata } = lease?.metadata ?? {};
    this.#note(`${how} ${JSON.stringify([metadata, lease?.spec])}`);
  }
}

/** Returns the transport of a client that must not watch. */
function withoutWatches(transport: Transport): Transport {
  const { status, headers } = statusError(403, "Forbidden", "no watches");
  return (request) =>
    request.path.includes("watch=true")
      ? Promise.resolve({ status: 403, headers, body: { type: "decoded", value: status } })
      : transport(request);
}

type Action = (world: World) => unknown;

const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.integer({ min: 1, max: 40_000 }).map(
        (ms): Action =>
          (world) =>
            world.advance(ms),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.integer({ min: 1, max: 30 }).map(
        (s): Action =>
          (world) =>
            world.advance(s * 1000),
      ),
    },
    {
      weight: 5,
      arbitrary: fc.constantFrom<Action[]>(
        (world) => world.get(),
        (world) => world.list(),
        (world) => world.snapshot(),
        (world) => world.watch(),
        (world) => world.endWatch(),
      ),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom<Action[]>(
        (world) => world.candidate(),
        (world) => world.candidate(false),
        (world) => world.stop(),
        (world) => world.kill(),
        (world) => world.disconnect(),
        (world) => world.reconnect(),
        (world) => world.steal(),
        (world) => world.deleteLease(),
      ),
    },
  ),
  { minLength: 3, maxLength: 12 },
);

test("observers and candidates see the same Lease and the same leaders with deferred renewals as with requests", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (actions) => {
      const logs: (readonly string[])[] = [];
      for (const defers of [true, false]) {
        const world = await World.start({ defers });
        for (const action of actions) await action(world);
        await world.get();
        await world.end();
        logs.push(world.log);
      }
      expect(logs[0]).toEqual(logs[1]);
    }),
    { numRuns: 50 },
  );
});

test("an hour without observers takes no renewal requests, and the next reader sees the renewal of that moment", async () => {
  const world = await World.start();
  await world.advance(3_600_500);
  const before = world.leaseRequests;
  expect(before).toBeLessThan(5);
  const first = await world.get();
  expect(first?.spec?.renewTime).toBe("2026-01-01T01:00:00.000000Z");
  await world.advance(10_000);
  const second = await world.get();
  expect(second?.spec?.renewTime).toBe("2026-01-01T01:00:10.000000Z");
  expect(Number(second?.metadata.resourceVersion)).toBeGreaterThan(Number(first?.metadata.resourceVersion));
  expect(world.leaseRequests).toBe(before);
});

test("a watch observes every renewal, and renewals are deferred again after its end", async () => {
  const world = await World.start();
  await world.advance(600_000);
  await world.watch();
  await world.advance(20_000);
  expect(world.log.filter((line) => line.includes("watch MODIFIED"))).toHaveLength(10);
  await world.endWatch();
  const before = world.leaseRequests;
  await world.advance(600_000);
  expect(world.leaseRequests - before).toBeLessThanOrEqual(1);
});

test("a leader that is cut off stops in time although nothing observed its Lease before", async () => {
  const world = await World.start();
  await world.advance(3_601_000);
  world.disconnect();
  await world.advance(60_000);
  expect(world.log.slice(0, 2)).toEqual(["0 s: candidate-0 leads", "3612 s: candidate-0 does not lead"]);
  await world.get();
  expect(world.log.at(-1)).toContain('"renewTime":"2026-01-01T01:00:00.000000Z"');
});

test("a leader whose renewals a new admission policy refuses stops in time", async () => {
  const world = await World.start();
  await world.advance(3_601_000);
  await world.refuseRenewals();
  await world.advance(60_000);
  expect(world.log.slice(0, 2)).toEqual(["0 s: candidate-0 leads", "3612 s: candidate-0 does not lead"]);
});

test("the same run twice gives the same log", async () => {
  const logs: (readonly string[])[] = [];
  for (let run = 0; run < 2; run++) {
    const world = await World.start();
    await world.candidate();
    await world.advance(100_001);
    await world.kill();
    await world.advance(60_000);
    await world.get();
    logs.push(world.log);
  }
  expect(logs[0]).toEqual(logs[1]);
});

/** Returns the number of requests of ten hours in which an operator has nothing to do. */
async function idleRequests(leaderElection: boolean): Promise<number> {
  await using cluster = await startTestCluster();
  const operator = createOperator({ name: "idle", ...(leaderElection ? {} : { leaderElection: false }) });
  operator.controllerFor(configMaps).reconcile(() => Promise.resolve());
  let requests = 0;
  cluster.embedded!.apiServer.observe(() => requests++);
  await cluster.run(operator);
  await cluster.advance("10h");
  return requests;
}

test("an idle operator sends at most a fifth more requests with leader election than without", async () => {
  expect(await idleRequests(true)).toBeLessThanOrEqual(1.2 * (await idleRequests(false)));
});

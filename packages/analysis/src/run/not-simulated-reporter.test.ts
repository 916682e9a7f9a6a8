import { type Deployment, type Event, deployments, events, replicaSets } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { type StoreSnapshot, createCluster } from "@kubewright/cluster";
import type { Client } from "@kubewright/client";
import { runInStages } from "@kubewright/controller";
import { expect, test } from "vitest";

import { notSimulatedKinds } from "./not-simulated.js";
import { CONTROLLER_GRACE_MS, notSimulatedReporter } from "./not-simulated-reporter.js";

const HERE = { namespace: "default" } as const;

function workload(name: string): Deployment {
  const labels = { app: name };
  return {
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "nginx" }] } },
    },
  };
}

interface Harness {
  readonly client: Client;
  readonly clock: SimulatedClock;
  readonly snapshot: () => StoreSnapshot;
  /** The texts of all `NotSimulated` events so far, with their objects and counts. */
  readonly eventTexts: () => Promise<readonly string[]>;
  readonly stop: () => Promise<void>;
}

async function start({ restore, seed = 1 }: { restore?: StoreSnapshot; seed?: number } = {}): Promise<Harness> {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const random = seededRandom(seed);
  const cluster = createCluster({ clock, random, ...(restore === undefined ? {} : { restore }) });
  const { informers } = cluster;
  const reporter = notSimulatedReporter({
    client: cluster.client("reporter"),
    clock,
    random: random.fork("t"),
    informers,
  });
  const stop = new AbortController();
  const running = runInStages([[reporter], [{ name: "cluster", run: (signal) => cluster.run(signal) }]], stop.signal);
  const ready = cluster.ready();
  await clock.settle();
  await ready;
  const client = cluster.client("test");
  return {
    client,
    clock,
    snapshot: () => cluster.apiServer.snapshot(),
    eventTexts: async () =>
      ((await client.resource(events).list(HERE)).items as readonly Event[])
        .filter(({ reason }) => reason === "NotSimulated")
        .map(({ involvedObject: { kind, name }, count, message }) => `${kind} ${name} ×${count}: ${message}`),
    stop: async () => {
      stop.abort();
      await running;
    },
  };
}

const OF_DEPLOYMENT =
  "No controller of this cluster acts on a Deployment: no ReplicaSets and no pods are made, unless a controller that you run does so";

test("an object without a controller gets one event, for any number of changes", async () => {
  const { client, clock, eventTexts, stop } = await start();
  await client.resource(deployments).create(workload("web"), HERE);
  await clock.advance(CONTROLLER_GRACE_MS - 1);
  expect(await eventTexts()).toEqual([]);
  await clock.advance(1);
  expect(await eventTexts()).toEqual([`Deployment web ×1: ${OF_DEPLOYMENT}`]);
  await client.resource(deployments).patch("web", { type: "merge", body: { spec: { replicas: 3 } } }, HERE);
  await clock.advance(3_600_000 / 2);
  expect(await eventTexts()).toHaveLength(1);
  await stop();
});

test("no event is written for an object that a controller owns or updates, or that is deleted in time", async () => {
  const { client, clock, eventTexts, stop } = await start();
  const api = client.resource(deployments);
  const acted = await api.create(workload("acted"), HERE);
  await api.updateStatus({ ...acted, status: { observedGeneration: 1, replicas: 0 } });
  await api.create(workload("gone"), HERE);
  await api.delete("gone", HERE);
  const { uid = "" } = acted.metadata;
  const owner = { apiVersion: "apps/v1", kind: "Deployment", name: "acted", uid, controller: true };
  const { spec } = workload("made");
  const metadata = { name: "made", ownerReferences: [owner] };
  await client.resource(replicaSets).create({ metadata, spec: { ...spec! } }, HERE);
  await clock.advance(60_000);
  expect(await eventTexts()).toEqual([]);
  await stop();
});

test("objects of the initial list get no second event", async () => {
  const first = await start();
  await first.client.resource(deployments).create(workload("web"), HERE);
  await first.clock.advance(CONTROLLER_GRACE_MS);
  const snapshot = first.snapshot();
  await first.stop();

  const second = await start({ restore: snapshot, seed: 2 });
  await second.clock.advance(60_000);
  expect(await second.eventTexts()).toEqual([`Deployment web ×1: ${OF_DEPLOYMENT}`]);
  await second.stop();
});

test("each kind that creates pods is reported, except those with a controller in the cluster", () => {
  expect(notSimulatedKinds().map(({ definition: { kind } }) => kind)).toEqual(
    expect.arrayContaining(["ReplicationController", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"]),
  );
  expect(notSimulatedKinds().filter(({ definition: { group } }) => group === "batch")).toEqual([]);
});

import { type Job, type Pod, events, jobs, labelSelectorMatcher, leases, mutableCopy, pods } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { ControllerRefManager } from "./controller-ref-manager.js";
import { EventRecorder } from "./event-recorder.js";
import { discardEvents } from "./event-sink.js";
import { LeaderElector } from "./leader-elector.js";
import { PodControl } from "./pod-control.js";
import { recheckDeletionTimestamp } from "./recheck-deletion-timestamp.js";

// These requests need a server that implements strategic merge patches, preconditions and conflicts.

const FINALIZER = "batch.kubernetes.io/job-tracking";
const signal = new AbortController().signal;

function setUp() {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true });
  const client = new Client({ transport: server.transport, clock });
  return { clock, client, random: seededRandom(2) };
}

async function claimant(client: Client) {
  const job = (await client.resource(jobs).create({
    metadata: { namespace: "default", name: "pi" },
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "x" }] } } },
  } satisfies Job)) as Job;
  const podControl = new PodControl({ client, events: discardEvents });
  const claim = (...objects: Pod[]) =>
    new ControllerRefManager<Pod>({
      controller: job,
      controllerDefinition: jobs,
      kind: "Pod",
      selector: labelSelectorMatcher({ matchLabels: { app: "pi" } }),
      canAdopt: recheckDeletionTimestamp(client.resource(jobs), job),
      finalizers: [FINALIZER],
      patch: (...args) => podControl.patchPod(...args),
    }).claim(objects, signal);
  const create = async (labels: Record<string, string>): Promise<Pod> => {
    const spec = { containers: [{ name: "main", image: "x" }] };
    return mutableCopy(
      await client
        .resource(pods)
        .create({ metadata: { namespace: "default", name: "p", labels, finalizers: ["example.com/own"] }, spec }),
    );
  };
  return { job, claim, create };
}

test("an adopted pod has the reference and the finalizer; a released one has lost both, and nothing else", async () => {
  const { client } = setUp();
  const { job, claim, create } = await claimant(client);
  const { claimed } = await claim(await create({ app: "pi" }));
  expect(claimed).toHaveLength(1);
  expect(claimed[0]!.metadata.ownerReferences).toEqual([
    {
      apiVersion: "batch/v1",
      kind: "Job",
      name: "pi",
      uid: job.metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ]);
  expect(claimed[0]!.metadata.finalizers).toEqual(expect.arrayContaining(["example.com/own", FINALIZER]));

  const relabelled = await client
    .resource(pods)
    .patch("p", { type: "merge", body: { metadata: { labels: { app: "e" } } } }, { namespace: "default" });
  expect(await claim(relabelled as Pod)).toEqual({ claimed: [] });
  const released = await client.resource(pods).get("p", { namespace: "default" });
  expect(released.metadata.ownerReferences ?? []).toEqual([]);
  expect(released.metadata.finalizers).toEqual(["example.com/own"]);
});

test("a pod that was replaced under its name is not adopted", async () => {
  const { client } = setUp();
  const { claim, create } = await claimant(client);
  const stale = await create({ app: "pi" });
  const { claimed, error } = await claim({
    ...stale,
    metadata: { ...stale.metadata, uid: "00000000-0000-4000-8000-000000000000" },
  });
  expect(claimed).toEqual([]);
  expect(error).toBeDefined();
  expect((await client.resource(pods).get("p", { namespace: "default" })).metadata.ownerReferences ?? []).toEqual([]);
});

test("repeated events become one Event with a count, also after it has expired", async () => {
  const { clock, client, random } = setUp();
  const { job } = await claimant(client);
  const recorder = new EventRecorder({ client, clock, random, component: "job-controller" });
  const stop = new AbortController();
  const done = recorder.run(stop.signal);
  const list = async () => (await client.resource(events).list({ namespace: "default" })).items;
  for (let index = 0; index < 3; index++) recorder.event(job, jobs, "Normal", "SuccessfulCreate", "Created pod: pi-1");
  await recorder.flush();
  expect(await list()).toMatchObject([
    {
      count: 3,
      reason: "SuccessfulCreate",
      message: "Created pod: pi-1",
      involvedObject: { kind: "Job", name: "pi", uid: job.metadata.uid },
    },
  ]);
  const { metadata } = (await list())[0]!;
  await client.resource(events).delete(metadata.name!, { namespace: "default" });
  recorder.event(job, jobs, "Normal", "SuccessfulCreate", "Created pod: pi-1");
  await recorder.flush();
  expect(await list()).toMatchObject([{ count: 4, metadata: { name: metadata.name } }]);
  stop.abort();
  await done;
});

test("two candidates: one leads, and the other takes over what is released", async () => {
  const { clock, client, random } = setUp();
  const log: string[] = [];
  const candidate = (identity: string) => {
    const stop = new AbortController();
    const elector = new LeaderElector({
      client,
      clock,
      random,
      namespace: "kube-system",
      name: "kube-controller-manager",
      identity,
      releaseOnCancel: true,
      callbacks: {
        onStartedLeading: () => void log.push(`${identity} leads`),
        onStoppedLeading: () => void log.push(`${identity} stopped`),
      },
    });
    return { stop, done: elector.run(stop.signal) };
  };
  const a = candidate("a");
  await clock.advance(100);
  const b = candidate("b");
  await clock.advance(60_000);
  expect(log).toEqual(["a leads"]);
  a.stop.abort();
  await a.done;
  await clock.advance(5_000);
  expect(log).toEqual(["a leads", "a stopped", "b leads"]);
  const lease = await client.resource(leases).get("kube-controller-manager", { namespace: "kube-system" });
  expect(lease.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1, leaseDurationSeconds: 15 });
  b.stop.abort();
  await b.done;
  expect(clock.nextTimerInMs).toBeUndefined();
});

import { type ObjectKey, type Pod, deepFreeze, keyOf, mutableCopy } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { SimulatedClock } from "@kubewright/clock";
import { PodControl, discardEvents } from "@kubewright/controller";
import { FinalizerExpectations } from "@kubewright/expectations";
import { Store } from "@kubewright/informer";
import type { ApiRequest } from "@kubewright/transport";
import { expect, test } from "vitest";

import { job, pod } from "../test/fixtures.js";
import { TestCluster, refusal } from "../test/test-cluster.js";
import type { JobObject, PodObject } from "./job-spec.js";
import { hasTrackingFinalizer } from "./pod-state.js";
import { type OrphanKey, orphanPodKey, orphanSelectorKey } from "./orphan-key.js";
import { syncOrphanPods, trackedPodsIndex, trackedPodsIndexValue, trackedPodsIndexValues } from "./orphan-pods.js";

/** @returns Names of the pods whose finalizer was removed. */
function setUp(jobs: JobObject[], pods: PodObject[], answer = 200) {
  const patched: string[] = [];
  const transport = (request: ApiRequest) => {
    patched.push(request.path.split("/").at(-1)!);
    const body =
      answer === 200
        ? pods[0]
        : { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: answer, message: "no" };
    return Promise.resolve({ status: answer, headers: {}, body: { type: "decoded", value: body } as never });
  };
  const finalizers = new FinalizerExpectations();
  const store = new Store<Pod>({ indexers: { [trackedPodsIndex]: trackedPodsIndexValues } });
  for (const pod of pods) store.add(pod);
  const client = new Client({ transport, clock: new SimulatedClock() });
  const deps = {
    jobs: { get: (key: ObjectKey) => jobs.find((candidate) => keyOf(candidate) === key) },
    pods: store,
    podControl: new PodControl({ client, events: discardEvents }),
    finalizers,
  };
  const sync = (key: OrphanKey) => syncOrphanPods(key, deps, new AbortController().signal);
  return { patched, store, sync, finalizers };
}

const finished = { status: { conditions: [{ type: "Failed", status: "True" }] } };
function ownedBy(kind: string, apiVersion: string): PodObject {
  const copy = mutableCopy(pod("p")) as Pod;
  Object.assign(copy.metadata.ownerReferences![0]!, { kind, apiVersion });
  return deepFreeze(copy);
}

test.each<[string, JobObject[], PodObject, boolean]>([
  ["of a finished Job", [job({}, finished)], pod("p"), true],
  ["of a live Job", [job()], pod("p"), false],
  ["of no Job any more", [], pod("p"), true],
  ["of a Job that was replaced by another of its name", [job({}, { uid: "new" })], pod("p"), true],
  ["of a Job that another controller manages", [job({ managedBy: "example.com/x" }, finished)], pod("p"), false],
  ["of nobody", [], pod("p", { owned: false }), true],
  ["of another kind of owner", [], ownedBy("ReplicaSet", "apps/v1"), false],
  ["of a Job of another API group", [], ownedBy("Job", "example.com/v1"), false],
  ["without the finalizer", [], pod("p", { tracked: false }), false],
])("a pod %s: finalizer removed or not", async (_, jobs, of, freed) => {
  const { patched, sync } = setUp(jobs, [of]);
  await sync(orphanPodKey(of));
  expect(patched).toEqual(freed ? ["p"] : []);
});

test("a pod whose finalizer the last sync of its finished Job has removed is not patched again while the cache lags", async () => {
  const { patched, sync, finalizers } = setUp([job({}, finished)], [pod("p"), pod("q")]);
  finalizers.expectFinalizersRemoved("ns/job", ["uid-p"]);
  await sync(orphanSelectorKey(job()));
  expect(patched).toEqual(["q"]);
});

test("a pod that is gone, from the cache or from the server, is no error", async () => {
  const gone = setUp([], []);
  await gone.sync(orphanPodKey(pod("p")));
  expect(gone.patched).toEqual([]);
  await setUp([], [pod("p")], 404).sync(orphanPodKey(pod("p")));
});

test("a refusal is tried again, for a single pod and, once all were tried, for pods found by selector", async () => {
  const { patched, sync } = setUp([], [pod("p"), pod("q"), pod("other", { labels: {} })], 500);
  await expect(sync(orphanPodKey(pod("p")))).rejects.toThrow("no");
  patched.length = 0;
  await expect(sync(orphanSelectorKey(job()))).rejects.toThrow("[Pod ns/p: no, Pod ns/q: no]");
  expect(patched).toEqual(["p", "q"]);
});

test("a pod that another Job adopts while earlier pods lose their finalizer keeps its finalizer", async () => {
  const other = job({}, { name: "other", uid: "uid-other" });
  const taken = mutableCopy(pod("q")) as Pod;
  Object.assign(taken.metadata.ownerReferences![0]!, { name: "other", uid: "uid-other" });
  const { patched, store, sync } = setUp([other], [pod("p"), pod("q")]);
  const freed = sync(orphanSelectorKey(job()));
  store.update(deepFreeze(taken));
  await freed;
  expect(patched).toEqual(["p"]);
});

test("a pod that was terminating when its Job was deleted loses its finalizer, though the first attempt is refused", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ parallelism: 1, completions: 1, podReplacementPolicy: "Failed" });
  const [orphan] = await cluster.pods();
  await cluster.setPhase(orphan!, "Running");
  await cluster.deletePod(orphan!, 30);
  await cluster.advance(2);
  let refused = 0;
  cluster.network = ({ method, path }) =>
    method === "PATCH" && path.includes("/pods/") && refused++ === 0 ? refusal(500, "InternalError") : undefined;
  await cluster.deleteJob();
  expect((await cluster.pods()).map(hasTrackingFinalizer)).toEqual([true]);
  // No further event of the pod arrives.
  await cluster.advance(10);
  expect(refused).toBe(2);
  expect(await cluster.pods()).toEqual([]);
  await cluster.close();
});

test("of all tracked pods of a namespace, a Job's own selector looks at those labelled as the Job's, and another at all", () => {
  const store = new Store<Pod>({ indexers: { [trackedPodsIndex]: trackedPodsIndexValues } });
  const labelled = (name: string, uid: string): PodObject =>
    pod(name, { labels: { "batch.kubernetes.io/controller-uid": uid } });
  for (const each of [labelled("a", "1"), labelled("b", "2"), pod("c", { labels: {} })]) store.add(each);
  const found = (matchLabels: Record<string, string>): string[] =>
    store
      .byIndex(trackedPodsIndex, trackedPodsIndexValue("ns", { matchLabels }))
      .map(({ metadata }) => metadata.name ?? "")
      .sort();
  expect(found({ "batch.kubernetes.io/controller-uid": "2", app: "x" })).toEqual(["b"]);
  expect(found({ app: "x" })).toEqual(["a", "b", "c"]);
  expect(store.byIndex(trackedPodsIndex, trackedPodsIndexValue("other", undefined))).toEqual([]);
});

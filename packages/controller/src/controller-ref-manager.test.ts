import {
  type DeepReadonly,
  type Job,
  type Pod,
  deepFreeze,
  jobs,
  labelSelectorMatcher,
  newControllerRef,
} from "@kubewright/api";
import { Client } from "@kubewright/client";
import { SimulatedClock } from "@kubewright/clock";
import { expect, test } from "vitest";

import { type SentRequest, refusal, scriptedTransport, stored } from "../test/scripted-transport.js";
import { ControllerRefManager } from "./controller-ref-manager.js";
import { PodControl } from "./pod-control.js";
import { discardEvents } from "./event-sink.js";
import { recheckDeletionTimestamp } from "./recheck-deletion-timestamp.js";

const job: Job = deepFreeze({ metadata: { namespace: "default", name: "pi", uid: "job-uid" } });
const deletedJob: Job = deepFreeze({ metadata: { ...job.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
const signal = new AbortController().signal;
const PODS = "/api/v1/namespaces/default/pods";

function pod(
  name: string,
  {
    owner,
    labels = { app: "pi" },
    ...metadata
  }: { owner?: string; labels?: Record<string, string> } & Pod["metadata"] = {},
): DeepReadonly<Pod> {
  const ownerReferences =
    owner === undefined
      ? []
      : [newControllerRef({ metadata: { name: "pi", uid: owner } }, { apiVersion: "batch/v1", kind: "Job" })];
  return deepFreeze({
    metadata: { namespace: "default", name, uid: `${name}-uid`, labels, ownerReferences, ...metadata },
  });
}

function setUp({
  controller = job,
  answer = (request) => (request.path.includes("/jobs/") ? job : stored(request)),
  filter,
}: {
  controller?: Job;
  answer?: (request: SentRequest) => unknown;
  filter?: (object: DeepReadonly<Pod>) => boolean;
} = {}) {
  const { transport, requests } = scriptedTransport(answer);
  const client = new Client({ transport, clock: new SimulatedClock() });
  const podControl = new PodControl({ client, events: discardEvents });
  const manager = new ControllerRefManager<Pod>({
    controller,
    controllerDefinition: jobs,
    kind: "Pod",
    selector: labelSelectorMatcher({ matchLabels: { app: "pi" } }),
    canAdopt: recheckDeletionTimestamp(client.resource(jobs), controller),
    finalizers: ["batch.kubernetes.io/job-tracking"],
    patch: (...args) => podControl.patchPod(...args),
    ...(filter === undefined ? {} : { filter }),
  });
  const claim = async (...objects: DeepReadonly<Pod>[]) => {
    const { claimed, error } = await manager.claim(objects, signal);
    return { claimed: claimed.map(({ metadata }) => metadata.name), error: error?.message };
  };
  return { manager, claim, requests };
}

test.each([
  ["our matching pod", pod("a", { owner: "job-uid" }), "keep", "keep"],
  ["our pod that matches no longer", pod("a", { owner: "job-uid", labels: {} }), "release", "ignore"],
  ["another controller's pod", pod("a", { owner: "other-uid" }), "ignore", "ignore"],
  ["a matching orphan", pod("a"), "adopt", "ignore"],
  ["an orphan that does not match", pod("a", { labels: { app: "e" } }), "ignore", "ignore"],
  ["an orphan being deleted", pod("a", { deletionTimestamp: "2026-01-01T00:00:00Z" }), "ignore", "ignore"],
  ["an orphan of another namespace", pod("a", { namespace: "other" }), "ignore", "ignore"],
])("decides on %s", (_what, object, claim, claimWhileDeleting) => {
  expect(setUp().manager.decide(object)).toBe(claim);
  expect(setUp({ controller: deletedJob }).manager.decide(object)).toBe(claimWhileDeleting);
});

test("a filter counts as part of the match", () => {
  const { manager } = setUp({ filter: ({ metadata }) => metadata.name !== "a" });
  expect(manager.decide(pod("a"))).toBe("ignore");
  expect(manager.decide(pod("a", { owner: "job-uid" }))).toBe("release");
  expect(manager.decide(pod("b"))).toBe("adopt");
});

test("five orphans cost one live read of the controller and five patches", async () => {
  const { claim, requests } = setUp();
  const orphans = ["a", "b", "c", "d", "e"].map((name) => pod(name));
  expect(await claim(...orphans)).toEqual({ claimed: ["a", "b", "c", "d", "e"], error: undefined });
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /apis/batch/v1/namespaces/default/jobs/pi",
    ...["a", "b", "c", "d", "e"].map((name) => `PATCH ${PODS}/${name}`),
  ]);
  expect(requests[1]).toMatchObject({
    contentType: "application/strategic-merge-patch+json",
    body: {
      metadata: {
        ownerReferences: [
          {
            apiVersion: "batch/v1",
            kind: "Job",
            name: "pi",
            uid: "job-uid",
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
        uid: "a-uid",
        finalizers: ["batch.kubernetes.io/job-tracking"],
      },
    },
  });
});

test("an adopted pod is handed out as the server stored it", async () => {
  const { manager } = setUp();
  const { claimed } = await manager.claim([pod("a")], signal);
  expect(claimed[0]!.metadata.finalizers).toEqual(["batch.kubernetes.io/job-tracking"]);
});

test("keeping needs no request, also while the controller is being deleted", async () => {
  const { claim, requests } = setUp({ controller: deletedJob });
  expect(await claim(pod("a", { owner: "job-uid" }), pod("b"))).toEqual({ claimed: ["a"], error: undefined });
  expect(requests).toEqual([]);
});

test("releasing removes the reference and the finalizer under the pod's uid", async () => {
  const { claim, requests } = setUp();
  expect(await claim(pod("a", { owner: "job-uid", labels: {} }))).toEqual({ claimed: [], error: undefined });
  expect(requests).toMatchObject([
    {
      method: "PATCH",
      path: `${PODS}/a`,
      body: {
        metadata: {
          uid: "a-uid",
          ownerReferences: [{ $patch: "delete", uid: "job-uid" }],
          "$deleteFromPrimitiveList/finalizers": ["batch.kubernetes.io/job-tracking"],
        },
      },
    },
  ]);
});

test.each([
  [404, "NotFound"],
  [422, "Invalid"],
])("a release answered %d %s is no error", async (code, reason) => {
  const { claim } = setUp({ answer: () => refusal(code, reason, "refused") });
  expect(await claim(pod("a", { owner: "job-uid", labels: {} }))).toEqual({ claimed: [], error: undefined });
});

test("an adoption answered NotFound is not claimed and no error", async () => {
  const { claim } = setUp({ answer: ({ method }) => (method === "GET" ? job : refusal(404, "NotFound", "gone")) });
  expect(await claim(pod("a"))).toEqual({ claimed: [], error: undefined });
});

test("one failure does not keep the others from being claimed", async () => {
  const answer = (request: SentRequest): unknown => {
    if (request.method === "GET") return job;
    if (request.path.endsWith("/b")) return refusal(422, "Invalid", "uid is immutable");
    return request.path.endsWith("/d") ? refusal(409, "Conflict", "the object was modified") : stored(request);
  };
  const { claim } = setUp({ answer });
  expect(await claim(pod("a"), pod("b"), pod("c"), pod("d"), pod("e", { owner: "job-uid" }))).toEqual({
    claimed: ["a", "c", "e"],
    error: "[uid is immutable, the object was modified]",
  });
});

test("when the controller may not adopt, nothing is patched and every orphan says why", async () => {
  const { claim, requests } = setUp({ answer: () => deletedJob });
  const { claimed, error } = await claim(pod("a"), pod("b"), pod("c", { owner: "job-uid" }));
  expect(claimed).toEqual(["c"]);
  expect(error).toBe(
    "[can't adopt Pod default/a (a-uid): default/pi has just been deleted at 2026-01-01T00:00:00Z, " +
      "can't adopt Pod default/b (b-uid): default/pi has just been deleted at 2026-01-01T00:00:00Z]",
  );
  expect(requests).toHaveLength(1);
});

test("a controller that was replaced under its name does not adopt", async () => {
  const { claim } = setUp({ answer: () => ({ metadata: { ...job.metadata, uid: "new-uid" } }) });
  expect((await claim(pod("a"))).error).toBe(
    "can't adopt Pod default/a (a-uid): can't recheck DeletionTimestamp: original Job default/pi is gone: got uid new-uid, wanted job-uid",
  );
});

test("an abort ends the claiming with the signal's reason", async () => {
  const stop = new AbortController();
  const { manager } = setUp({
    answer: () => {
      stop.abort(new Error("stopping"));
      throw stop.signal.reason;
    },
  });
  await expect(manager.claim([pod("a"), pod("b")], stop.signal)).rejects.toThrow("stopping");
});

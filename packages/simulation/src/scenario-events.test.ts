import { describe, expect, test } from "vitest";

import { START_MS, type RecordedRun, cronJob, job, planOf, seconds, recordRun } from "../test/plans.js";
import { type AnsweredRequest, uidPlaceholder } from "./index.js";

const COMPLETE = { "Job default/a": { end: "Complete", succeeded: 3, failed: 0, active: 0 } };

function podCreations({ answers }: RecordedRun): AnsweredRequest[] {
  return answers.filter(
    ({ verb, resource, subresource }) => verb === "create" && resource === "pods" && subresource === "",
  );
}

function fates(requests: readonly AnsweredRequest[]): string[] {
  return requests.map(
    ({ code, injected, tookEffect, incarnation }) =>
      `${code}${injected ? " injected" : ""}${tookEffect ? " done" : ""} by ${incarnation}`,
  );
}

describe("requestFails", () => {
  test("refuses so many requests from the n-th on, which then have no effect", async () => {
    const reported = await recordRun(
      planOf([{ at: "+0s", for: "5m", requestFails: { verbs: ["create"], resources: ["pods"], nth: 2, times: 2 } }]),
    );
    expect(fates(podCreations(reported)).slice(0, 4)).toEqual([
      "201 done by 1",
      "500 injected by 1",
      "500 injected by 1",
      "201 done by 1",
    ]);
    expect(reported.outcome.settled).toMatchObject(COMPLETE);
    expect(reported.healedMs).toBe(300_000);
    expect(reported.phases).toEqual(["0 begin 0", "0 end 300"]);
  });

  test("loses only the answer of what takes effect", async () => {
    const reported = await recordRun(
      planOf([
        {
          at: "+0s",
          for: "5m",
          requestFails: { verbs: ["create"], resources: ["pods"], with: 504, effect: "kept", times: 1 },
        },
      ]),
    );
    expect(fates(podCreations(reported))[0]).toBe("504 injected done by 1");
    expect(reported.changes.find(({ resource, type }) => resource === "pods" && type === "ADDED")).toMatchObject({
      request: { component: "job-controller", verb: "create" },
    });
    expect(reported.outcome.settled).toMatchObject({ "Job default/a": { end: "Complete" } });
  });

  test("with timeout gives no answer at all", async () => {
    const reported = await recordRun(
      planOf([
        {
          at: "+0s",
          for: "5m",
          requestFails: { components: ["job-controller"], resources: ["jobs/status"], with: "timeout", times: 1 },
        },
      ]),
    );
    const [first, second] = reported.answers.filter(
      ({ component, subresource }) => component === "job-controller" && subresource === "status",
    );
    expect(first).toMatchObject({ code: 0, injected: true, tookEffect: false });
    expect(seconds(first!.atMs)).toBeGreaterThanOrEqual(30);
    expect(second!.code).toBe(200);
    expect(reported.outcome.settled).toMatchObject(COMPLETE);
  });

  test("holds while so many objects are there, as a quota does", async () => {
    const reported = await recordRun(
      planOf(
        [
          {
            at: "+0s",
            for: "9m",
            requestFails: { verbs: ["create"], resources: ["jobs"], namespace: "default", with: 403, whileAtLeast: 1 },
          },
        ],
        { manifests: [cronJob("c", "* * * * *", { successfulJobsHistoryLimit: 0 }, "90s")] },
      ),
    );
    const { answers, changes } = reported;
    const creations = answers.filter(({ verb, resource }) => verb === "create" && resource === "jobs.batch");
    expect(new Set(fates(creations))).toEqual(new Set(["201 done by 1", "403 injected by 1"]));
    const owned = changes.filter(({ resource, type }) => resource === "jobs.batch" && type !== "MODIFIED");
    expect(owned.map(({ type }) => type).slice(0, 4)).toEqual(["ADDED", "DELETED", "ADDED", "DELETED"]);
  });
});

describe("controllerCrashes", () => {
  test.each([
    ["before", ["201 done by 1", "0 injected by 1"]],
    ["after", ["201 done by 1", "0 injected done by 1"]],
  ] as const)(
    "%s a write: no later request of that incarnation has an effect, and the next incarnation continues",
    async (when, expected) => {
      const reported = await recordRun(
        planOf([
          {
            at: "+0s",
            controllerCrashes: { controller: "job-controller", verbs: ["create"], resources: ["pods"], nth: 2, when },
          },
        ]),
      );
      expect(fates(podCreations(reported)).slice(0, 2)).toEqual(expected);
      const effects = reported.answers.filter(
        ({ component, tookEffect }) => component === "job-controller" && tookEffect,
      );
      const lives = effects.map(({ incarnation }) => incarnation);
      expect(lives).toEqual(lives.toSorted((a, b) => a - b));
      expect(new Set(lives)).toEqual(new Set([1, 2]));
      const restart = effects.find(({ incarnation }) => incarnation === 2)!;
      const death = podCreations(reported)[1]!;
      expect(restart.sentMs - death.atMs).toBe(1000);
      expect(reported.outcome.settled).toMatchObject(COMPLETE);
    },
  );

  test("of all takes the whole controller manager with it, and of one leaves the others", async () => {
    const crash = { verbs: ["create"], resources: ["pods"], restartAfter: "20s" };
    const lives = async (controller: string): Promise<string[]> => {
      const { cacheEvents } = await recordRun(planOf([{ at: "+0s", controllerCrashes: { controller, ...crash } }]));
      return [...new Set(cacheEvents.map((event) => `${event.component} ${event.incarnation}`))];
    };
    expect(await lives("all")).toEqual(expect.arrayContaining(["job-controller 2", "garbage-collector-controller 2"]));
    expect(await lives("job-controller")).not.toContain("garbage-collector-controller 2");
  });
});

describe("paused", () => {
  test("a controller manager sends and receives nothing, and then continues where it was", async () => {
    const reported = await recordRun(planOf([{ at: "+10s", for: "2m", paused: "controller-manager-1" }]));
    const during = ({ atMs }: { readonly atMs: number }): boolean => seconds(atMs) > 10 && seconds(atMs) < 130;
    const of = (list: readonly { readonly process: string; readonly atMs: number }[]) =>
      list.filter(({ process, ...each }) => process === "controller-manager-1" && during(each));
    expect([...of(reported.answers), ...of(reported.cacheEvents), ...of(reported.decisions)]).toEqual([]);
    expect(reported.answers.filter(({ component }) => component === "kubelet").some(during)).toBe(true);
    expect(reported.outcome.settled).toMatchObject(COMPLETE);
    expect(new Set(reported.decisions.map(({ incarnation }) => incarnation))).toEqual(new Set([1]));
    expect(reported.staleCaches).toEqual([]);
  });

  test("the second of two managers takes over, and the first writes nothing when it continues", async () => {
    const reported = await recordRun(
      planOf([{ at: "+10s", for: "2m", paused: "controller-manager-1" }], { controllerManagers: 2 }),
    );
    const writers = reported.changes.flatMap(({ request }) =>
      request?.component === "job-controller" ? request.process : [],
    );
    expect(new Set(writers)).toEqual(new Set(["controller-manager-1", "controller-manager-2"]));
    const last = writers.lastIndexOf("controller-manager-1");
    expect(writers.slice(0, last + 1)).toEqual(writers.slice(0, last + 1).map(() => "controller-manager-1"));
    expect(reported.outcome.settled).toMatchObject(COMPLETE);
  });
});

describe("watches", () => {
  const requestsAfter = ({ answers }: RecordedRun, atSeconds: number): string[] =>
    answers
      .filter(
        ({ component, resource, atMs }) =>
          component === "job-controller" && resource === "pods" && seconds(atMs) >= atSeconds,
      )
      .filter(({ verb }) => verb === "list" || verb === "watch")
      .map(({ verb }) => verb);

  test("that are cut are resumed, and list again only when the missed versions are compacted", async () => {
    const cut = { controller: "job-controller", kinds: ["Pod"] };
    const resumed = await recordRun(planOf([{ at: "+15s", watchCut: cut }]));
    const relisted = await recordRun(planOf([{ at: "+15s", watchCut: { ...cut, compacted: true } }]));
    expect(requestsAfter(resumed, 15)).toHaveLength(1);
    expect(requestsAfter(relisted, 15)).toHaveLength(2);
    for (const reported of [resumed, relisted]) {
      expect(reported.outcome.settled).toMatchObject(COMPLETE);
      expect(reported.staleCaches).toEqual([]);
    }
  });

  test("that fall silent deliver nothing more, and break when the fault is over", async () => {
    const reported = await recordRun(
      planOf([{ at: "+15s", for: "45s", watchSilent: { controller: "job-controller", kinds: ["Pod"] } }]),
    );
    const events = reported.cacheEvents.filter(
      ({ component, resource }) => component === "job-controller" && resource === "pods",
    );
    expect(events.filter(({ atMs }) => seconds(atMs) > 15 && seconds(atMs) < 60)).toEqual([]);
    expect(events.some(({ atMs }) => seconds(atMs) >= 60)).toBe(true);
    expect(reported.healedMs).toBe(60_000);
    expect(reported.staleCaches).toEqual([]);
    expect(reported.outcome.settled).toMatchObject(COMPLETE);
  });

  test("end when the API server restarts, which serves no earlier version", async () => {
    const reported = await recordRun(planOf([{ at: "+15s", apiServerRestart: true }]));
    const watchers = new Set(
      reported.answers
        .filter(({ verb, atMs }) => verb === "watch" && seconds(atMs) >= 15)
        .map(({ component }) => component),
    );
    expect(watchers).toEqual(new Set(reported.cacheEvents.map(({ component }) => component)));
    expect(reported.outcome.settled).toMatchObject(COMPLETE);
    expect(reported.staleCaches).toEqual([]);
  });
});

test("staleList: a restarted watcher gets the old state, and catches up; a watcher never goes back", async () => {
  const reported = await recordRun(
    planOf([
      { at: "+40s", for: "1m", staleList: { controller: "job-controller", by: "20s" } },
      { at: "+41s", for: "1s", controllerDown: "job-controller" },
      { at: "+50s", watchCut: { controller: "job-controller", compacted: true } },
    ]),
  );
  const reborn = reported.cacheEvents.filter(
    ({ component, resource, incarnation }) =>
      component === "job-controller" && resource === "pods" && incarnation === 2,
  );
  const version = ({
    object,
  }: {
    readonly object: { readonly metadata: { readonly resourceVersion?: string } };
  }): number => Number(object.metadata.resourceVersion);
  const latest = Math.max(...reported.changes.filter(({ atMs }) => seconds(atMs) < 40).map(version));
  expect(version(reborn[0]!)).toBeLessThan(latest);
  const seen = new Map<string, number>();
  for (const event of reborn) {
    const { uid = "" } = event.object.metadata;
    expect(version(event)).toBeGreaterThanOrEqual(seen.get(uid) ?? 0);
    seen.set(uid, version(event));
  }
  expect(reported.staleCaches).toEqual([]);
});

test("staleList: a list from a version that was already seen is refused as too large, and is retried with the latest", async () => {
  const reported = await recordRun(
    planOf([
      { at: "+20s", for: "2m", staleList: { controller: "job-controller", kinds: ["Pod"], by: "1m" } },
      {
        at: "+30s",
        for: "2s",
        requestFails: { components: ["job-controller"], verbs: ["list", "watch"], resources: ["pods"], with: 503 },
      },
      { at: "+30s", watchCut: { controller: "job-controller", kinds: ["Pod"] } },
    ]),
  );
  const lists = reported.answers.filter(
    ({ component, verb, resource, atMs }) =>
      component === "job-controller" && verb === "list" && resource === "pods" && seconds(atMs) > 32,
  );
  const codes = lists.map(({ code }) => code);
  expect([codes[0], codes.at(-1)]).toEqual([504, 200]);
  expect(seconds(lists.at(-1)!.atMs)).toBeLessThan(80);
  expect(lists[0]!.message).toMatch(/Too large resource version: \d+, current: \d+/);
  expect(reported.staleCaches).toEqual([]);
  expect(reported.outcome.settled).toMatchObject(COMPLETE);
});

test("watchSilent: a watch that stays silent is given up when it should long have ended", async () => {
  const cut = { controller: "job-controller", kinds: ["Pod"] };
  const reported = await recordRun(planOf([{ at: "+15s", for: "12m", watchSilent: cut }], { for: "14m" }));
  const opened = reported.answers.filter(
    ({ component, verb, resource, atMs }) =>
      component === "job-controller" && verb === "watch" && resource === "pods" && seconds(atMs) > 15,
  );
  expect(seconds(opened[0]!.atMs)).toBeGreaterThan(300);
  expect(seconds(opened[0]!.atMs)).toBeLessThan(631);
});

test("clockSkew sets the clock of one controller manager only, until it is over", async () => {
  const reported = await recordRun(
    planOf([{ at: "+10s", for: "3m", clockSkew: { controllerManager: "controller-manager-1", by: "+1h" } }], {
      manifests: [cronJob("c", "30 * * * *")],
    }),
  );
  const creations = reported.changes.filter(({ resource, type }) => resource === "jobs.batch" && type === "ADDED");
  expect(creations.map(({ object }) => object.metadata.name)).toEqual([]);
  const atOnce = await recordRun(
    planOf(
      [
        { at: "+10s", for: "3m", clockSkew: { controllerManager: "controller-manager-1", by: "+1h" } },
        { at: "+20s", patch: { kind: "CronJob", name: "c", with: { metadata: { labels: { looked: "at" } } } } },
      ],
      { manifests: [cronJob("c", "30 * * * *")] },
    ),
  );
  const [early] = atOnce.changes.filter(({ resource, type }) => resource === "jobs.batch" && type === "ADDED");
  expect(seconds(early!.atMs)).toBe(20);
});

test("a user patches a status, which is no business of users but of kubelets", async () => {
  const reported = await recordRun(
    planOf(
      [
        {
          at: "+15s",
          patch: {
            kind: "Pod",
            labels: { "batch.kubernetes.io/job-name": "a" },
            subresource: "status",
            type: "strategic",
            with: { status: { phase: "Failed" } },
          },
        },
      ],
      { manifests: [job("a", { backoffLimit: 0 })] },
    ),
  );
  expect(reported.outcome.settled).toMatchObject({
    "Job default/a": { end: "Failed", reason: "BackoffLimitExceeded" },
  });
  expect(
    reported.answers.find(({ component, subresource }) => component === "user" && subresource === "status"),
  ).toMatchObject({
    code: 200,
  });
});

test("a node is deleted with its pods, and one of its name comes back", async () => {
  const node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "node-1" },
    status: { conditions: [{ type: "Ready", status: "True" }], allocatable: { cpu: "4", memory: "8Gi", pods: "10" } },
  };
  const reported = await recordRun(
    planOf(
      [
        { at: "+15s", delete: { kind: "Node", name: "node-1" } },
        { at: "+3m", apply: node },
      ],
      {
        nodes: [{ name: "node-1" }],
        manifests: [job("a", {}, "8m")],
        for: "20m",
      },
    ),
  );
  expect(reported.outcome.covered).toContain("pod-garbage-collector-controller deleted orphaned");
  expect(reported.changes.filter(({ resource, type }) => resource === "nodes" && type === "ADDED")).toHaveLength(2);
  expect(START_MS).toBeGreaterThan(0);
});

test("a node that was drained, or tainted, is given back as soon as the API server can be reached", async () => {
  const reported = await recordRun(
    planOf(
      [
        { at: "+0s", for: "30s", nodeDrained: "node-1" },
        {
          at: "+0s",
          for: "30s",
          nodeTainted: { node: "node-1", key: "example.com/maintenance", effect: "NoSchedule" },
        },
        { at: "+20s", for: "1m", apiServerDown: "all" },
      ],
      { nodes: [{ name: "node-1" }] },
    ),
  );
  expect(reported.outcome.settled).toMatchObject(COMPLETE);
});

test("switches: without the consistency gate, with few pods per sync, and with a low threshold for ended pods", async () => {
  const reported = await recordRun(
    planOf([], {
      controllers: { consistencyGate: false, maxPodsPerSync: 1, maxUncountedPods: 1, terminatedPodGCThreshold: 1 },
      manifests: [job("a", { parallelism: 3, completions: 3 })],
    }),
  );
  const perSync = reported.decisions.flatMap((decision) =>
    decision.controller === "job-controller" ? (decision.decision.plan.pods?.create.length ?? 0) : [],
  );
  expect(Math.max(...perSync)).toBe(1);
  expect(reported.outcome.covered).toContain("pod-garbage-collector-controller deleted terminated");
  expect(reported.outcome.settled).toMatchObject(COMPLETE);
});

test("leases: the durations are those of each controller manager", async () => {
  const reported = await recordRun(
    planOf([{ at: "+30s", for: "2m", controllerDown: "all" }], {
      controllerManagers: 2,
      controllers: { leaseDurations: ["30s", "60s"] },
    }),
  );
  const durations = reported.changes.flatMap(({ resource, object }) =>
    resource === "leases.coordination.k8s.io"
      ? [(object as { spec?: { leaseDurationSeconds?: number } }).spec?.leaseDurationSeconds]
      : [],
  );
  expect(durations[0]).toBe(30);
});

describe("what users do at one time", () => {
  test.each([1, 2, 3, 4])(
    "is done one after the other, in any order that seed %d gives to simultaneous timers",
    async (seed) => {
      const names = ["one", "two", "three"];
      const chain = names.map((name, index) => ({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: {
          namespace: "default",
          name,
          ownerReferences: [
            index === 0
              ? {
                  apiVersion: "batch/v1",
                  kind: "Job",
                  name: "a",
                  uid: uidPlaceholder({ namespace: "default", name: "a" }),
                }
              : {
                  apiVersion: "v1",
                  kind: "ConfigMap",
                  name: names[index - 1]!,
                  uid: uidPlaceholder({ namespace: "default", name: names[index - 1]! }),
                },
          ],
        },
      }));
      const reported = await recordRun(
        planOf(
          chain.map((apply) => ({ at: "+0s", apply })),
          { seed, jitter: { events: "5ms", requests: "50ms" } },
        ),
      );
      const made = reported.changes.filter(({ resource, type }) => resource === "configmaps" && type === "ADDED");
      expect(made.map(({ object }) => object.metadata.name)).toEqual(names);
      expect(made.slice(1).map(({ object }) => object.metadata.ownerReferences![0]!.uid)).toEqual(
        made.slice(0, 2).map(({ object }) => object.metadata.uid),
      );
    },
  );
});

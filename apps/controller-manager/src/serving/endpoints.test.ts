import { expect, test } from "vitest";

import { operationsBench } from "../../test/operations-bench.js";
import type { HttpRequest } from "./http-message.js";

const accept = (value: string): Partial<HttpRequest> => ({ headers: { accept: [value] } });

test("case 58: PUT /debug/flags/v sets the verbosity; anything else says why not", async () => {
  const { ask, levels } = await operationsBench();
  const put = (body: string): Partial<HttpRequest> => ({ method: "PUT", body: async () => body });
  expect(await ask("/debug/flags/v", put("4"))).toMatchObject({
    status: 200,
    body: "successfully set klog.logging.verbosity to 4",
  });
  expect(await ask("/debug/flags/v", put("x"))).toMatchObject({
    status: 400,
    body: 'error setting klog.logging.verbosity: strconv.ParseInt: parsing "x": invalid syntax\n',
  });
  expect(await ask("/debug/flags/v")).toMatchObject({ status: 406, body: "unsupported http method\n" });
  expect(levels).toEqual([4]);
  for (const path of ["/debug/flags", "/debug/flags/", "/debug/flags/other"])
    expect((await ask(path)).body).toContain("<html>");
});

test("without --profiling there is nothing below /debug, and of Go's profiles never anything", async () => {
  const { ask } = await operationsBench({ profiling: false });
  const other = await operationsBench();
  for (const path of ["/debug/flags/v", "/debug/flags", "/debug/pprof/"]) expect((await ask(path)).status).toBe(404);
  expect((await other.ask("/debug/pprof/")).status).toBe(404);
});

test("case 59: /configz has canonical names, Go's durations and upstream's spelling", async () => {
  const { ask } = await operationsBench({ controllers: ["podgc"], concurrentJobSyncs: 7 });
  const { headers, body } = await ask("/configz");
  expect(headers["content-type"]).toBe("application/json");
  const { "kubecontrollermanager.config.k8s.io": config } = JSON.parse(body);
  expect(config).toMatchObject({
    kind: "KubeControllerManagerConfiguration",
    apiVersion: "kubecontrollermanager.config.k8s.io/v1alpha1",
    Generic: {
      Port: 0,
      Address: "0.0.0.0",
      MinResyncPeriod: "12h0m0s",
      Controllers: ["pod-garbage-collector-controller"],
      ClientConnection: { qps: 20, burst: 30 },
      LeaderElection: { leaderElect: true, leaseDuration: "15s", resourceLock: "leases" },
      Debugging: { enableProfiling: true },
    },
    JobController: { ConcurrentJobSyncs: 7 },
    PodGCController: { TerminatedPodGCThreshold: 12_500 },
    GarbageCollectorController: {
      GCIgnoredResources: [
        { Group: "", Resource: "events" },
        { Group: "events.k8s.io", Resource: "events" },
      ],
    },
  });
});

test("/flagz and /statusz are text that is not meant to be parsed", async () => {
  const { ask, clock } = await operationsBench({ concurrentJobSyncs: 7 });
  await clock.advance(3_723_000);
  const flagz = (await ask("/flagz")).body;
  expect(flagz.trimStart().split("\n")[0]).toBe("kube-controller-manager flagz");
  expect(flagz).toMatch(/^concurrent-job-syncs(:|: |=| )7$/m);
  const separators = new Set<string>();
  for (let time = 0; time < 40; time++) {
    const text = (await ask("/statusz", accept("text/plain"))).body;
    expect(text).toContain("Warning: This endpoint is not meant to be machine parseable");
    expect(text).toMatch(/^Started\W+Thu Jan {2}1 00:00:00 UTC 2026$/m);
    expect(text).toMatch(/^Paths\W+\/configz \/flagz \/healthz \/metrics$/m);
    separators.add(/^Up(.*?)1 hr 02 min 03 sec$/m.exec(text)![1]!);
  }
  expect(separators).toEqual(new Set([":", ": ", "=", " "]));
});

test("case 60: /statusz and /flagz are data only for who names the type", async () => {
  const { ask } = await operationsBench();
  const plain = await ask("/statusz", accept("application/json"));
  expect([plain.status, JSON.parse(plain.body).reason]).toEqual([406, "NotAcceptable"]);
  const asked = (kind: string, version = "v1beta1", type = "application/json") =>
    ask(`/${kind.toLowerCase()}`, accept(`${type};v=${version};g=config.k8s.io;as=${kind}`));
  expect(JSON.parse((await asked("Statusz")).body)).toEqual({
    kind: "Statusz",
    apiVersion: "config.k8s.io/v1beta1",
    metadata: { name: "kube-controller-manager" },
    startTime: "2026-01-01T00:00:00Z",
    uptimeSeconds: 0,
    goVersion: "node v24.0.0",
    binaryVersion: "1.36",
    emulationVersion: "1.36",
    paths: ["/configz", "/flagz", "/healthz", "/metrics"],
  });
  expect(JSON.parse((await asked("Flagz")).body).flags).toMatchObject({ "secure-port": "10257", controllers: "*" });
  const old = await asked("Flagz", "v1alpha1");
  expect(old.headers.warning).toBe(
    '299 - "This version of the flagz endpoint is deprecated. Please use a newer version."',
  );
  expect((await asked("Statusz", "v1beta1", "application/yaml")).body).toContain("kind: Statusz\n");
  expect((await asked("Statusz", "v2")).status).toBe(406);
  const switchedOff = await operationsBench({ featureGates: ["ComponentFlagz=false", "ComponentStatusz=false"] });
  expect((await switchedOff.ask("/flagz")).status).toBe(404);
  expect((await switchedOff.ask("/statusz")).status).toBe(404);
});

test("/metrics is text, or OpenMetrics for who prefers it, and only read", async () => {
  const { ask } = await operationsBench();
  expect((await ask("/metrics")).headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  const open = await ask("/metrics", accept("application/openmetrics-text;version=1.0.0"));
  expect(open.headers["content-type"]).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
  expect(open.body.endsWith("# EOF\n")).toBe(true);
  expect((await ask("/metrics", { method: "POST" })).status).toBe(405);
});

test("the garbage collector's graph is served for Graphviz once the collector runs", async () => {
  const { ask, operations } = await operationsBench();
  const path = "/debug/controllers/garbage-collector-controller/graph";
  expect((await ask(path)).status).toBe(404);
  const asked: (readonly string[])[] = [];
  const state = { beingDeleted: true, deletingDependents: false, virtual: true };
  operations.addGarbageCollector({
    dumpGraph: (uids) => {
      asked.push(uids);
      const node = { apiVersion: "batch/v1", kind: "Job", namespace: "ns", name: 'a"b', uid: "u1", ...state };
      return { nodes: [node], edges: [{ dependent: "u2", owner: "u1" }] };
    },
  });
  expect((await ask(`${path}?uid=u1&uid=u2`)).body).toBe(`strict digraph full {
  // Node definitions.
  "u1" [
    label="uid=u1\\nnamespace=ns\\nJob.v1.batch/a\\"b\\nbeingDeleted,virtual"
    group="batch"
    version="v1"
    kind="Job"
    namespace="ns"
    name="a\\"b"
  ];

  // Edge definitions.
  "u2" -> "u1";
}
`);
  expect(asked).toEqual([["u1", "u2"]]);
  expect(await ask("/debug/controllers/garbage-collector-controller/other")).toMatchObject({ status: 404, body: "\n" });
});

import { expect, test } from "vitest";
import type { KubernetesObject, Status } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import type { ApiRequest } from "@kubewright/transport";

import { type ApiServer, createApiServer } from "./api-server.js";
import type { AuditRecord } from "./audit.js";

const START = "2026-01-01T00:00:00Z";

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | readonly string[]>;
  readonly value: KubernetesObject &
    Status & { items: KubernetesObject[]; data: Record<string, string>; spec: Record<string, unknown> };
}

function setUp(options: { historyLimit?: number } = {}): {
  clock: SimulatedClock;
  server: ApiServer;
  send: ReturnType<typeof sender>;
} {
  const clock = new SimulatedClock(START);
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true, ...options });
  return { clock, server, send: sender(server) };
}

function sender({ transport }: ApiServer) {
  return async (
    method: ApiRequest["method"],
    path: string,
    value?: unknown,
    contentType = "application/json",
  ): Promise<Answer> => {
    const headers = { accept: "application/json", "content-type": contentType, "user-agent": "test/1" };
    const response = await transport({
      method,
      path,
      headers,
      ...(value === undefined ? {} : { body: { type: "decoded", value } }),
    });
    if (response.body.type !== "decoded") throw new Error(`${method} ${path} answered with ${response.body.type}`);
    return { status: response.status, headers: response.headers, value: response.body.value as Answer["value"] };
  };
}

const MERGE = "application/merge-patch+json";
const SMP = "application/strategic-merge-patch+json";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const PODS = "/api/v1/namespaces/default/pods";

const configMap = (name: string, data: Record<string, string> = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});
const pod = (name: string, metadata: object = {}): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  spec: { containers: [{ name: "c", image: "busybox" }] },
});

async function openWatch(
  server: ApiServer,
  path: string,
  signal?: AbortSignal,
): Promise<AsyncIterator<{ type: string; object: KubernetesObject & { code?: number } }>> {
  const response = await server.transport({
    method: "GET",
    path,
    headers: {},
    ...(signal === undefined ? {} : { signal }),
  });
  if (response.body.type !== "events") throw new Error(`the watch was refused: ${JSON.stringify(response.body)}`);
  return (response.body.events as AsyncIterable<{ type: string; object: KubernetesObject }>)[Symbol.asyncIterator]();
}

test("a created object has a UID, a creation time by the server's clock, and a resourceVersion above every earlier one", async () => {
  const { send } = setUp();
  const first = await send("POST", CONFIG_MAPS, configMap("a"));
  const second = await send("POST", PODS, pod("p"));
  expect(first.status).toBe(201);
  expect(first.value.metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  expect(first.value.metadata.creationTimestamp).toBe(START);
  expect(Number(second.value.metadata.resourceVersion)).toBe(Number(first.value.metadata.resourceVersion) + 1);
});

test("the server keeps a copy: changing a sent object afterwards changes nothing, and what is handed out cannot be changed", async () => {
  const { send } = setUp();
  const sent = configMap("a", { key: "before" }) as { data: Record<string, string> };
  const created = await send("POST", CONFIG_MAPS, sent);
  sent.data["key"] = "after";
  expect((await send("GET", `${CONFIG_MAPS}/a`)).value.data).toEqual({ key: "before" });
  expect(() => (created.value.data["key"] = "changed")).toThrow(TypeError);
});

test("what an update sends back as it was handed out is kept as it is, and what it changes is copied", async () => {
  const { send } = setUp();
  const { value: created } = await send("POST", PODS, pod("a", { labels: { app: "a" } }));
  const conditions = [{ type: "Ready", status: "False" }];
  const metadata = { ...created.metadata, labels: { app: "a", b: "c" } };
  const { value: updated } = await send("PUT", `${PODS}/a/status`, { ...created, metadata, status: { conditions } });
  expect(updated.spec).toBe(created.spec);
  conditions[0]!.status = "True";
  metadata.labels.b = "d";
  const patch = { metadata: { labels: { app: "b" } } };
  const { value: patched } = await send("PATCH", `${PODS}/a`, patch, SMP);
  expect(patched.spec).toBe(created.spec);
  expect(patched).toMatchObject({
    metadata: { labels: { app: "b", b: "c" } },
    status: { conditions: [{ type: "Ready", status: "False" }] },
  });
  expect(updated.metadata.labels).toEqual({ app: "a", b: "c" });
  expect(created.metadata.labels).toEqual({ app: "a" });
});

test("a patch shares nothing with what is stored, and the new version shares with the old one what it leaves alone", async () => {
  const { send } = setUp();
  await send("POST", PODS, pod("a"));
  const status = (patch: object): Promise<Answer> => send("PATCH", `${PODS}/a/status`, { status: patch }, SMP);
  const conditions = [
    { type: "Ready", status: "False", reason: "Starting" },
    { type: "Initialized", status: "True" },
  ];
  const state = { waiting: { reason: "ContainerCreating", message: null } };
  const patch = { conditions, podIPs: [{ ip: "10.0.0.1" }], containerStatuses: [{ name: "c", state }] };
  const { value: before } = await status(patch);
  conditions[1]!.status = patch.podIPs[0]!.ip = state.waiting.reason = "changed";
  const { value: after } = await status({ conditions: [{ type: "Ready", status: "True", reason: null }] });
  const [oldStatus, newStatus] = [before, after].map((each) => (each as unknown as { status: typeof patch }).status);
  expect(newStatus).toEqual({
    ...oldStatus,
    conditions: [
      { type: "Ready", status: "True", lastProbeTime: null, lastTransitionTime: null },
      { type: "Initialized", status: "True", lastProbeTime: null, lastTransitionTime: null },
    ],
  });
  expect(newStatus!.conditions[1]).toBe(oldStatus!.conditions[1]);
  expect(newStatus!.containerStatuses).toBe(oldStatus!.containerStatuses);
  expect(newStatus!.containerStatuses[0]!.state).toEqual({ waiting: { reason: "ContainerCreating" } });
  expect(newStatus!.podIPs).toEqual([{ ip: "10.0.0.1" }]);
});

test("a pod's addresses are looked at again when either form of one changes", async () => {
  const { send } = setUp();
  await send("POST", PODS, pod("a"));
  const status = async (patch: object): Promise<number> =>
    (await send("PATCH", `${PODS}/a/status`, { status: patch }, SMP)).status;
  expect(await status({ hostIP: "10.0.0.1", hostIPs: [{ ip: "10.0.0.1" }], podIPs: [{ ip: "10.1.0.1" }] })).toBe(200);
  expect(await status({ phase: "Running" })).toBe(200);
  expect(await status({ hostIP: "10.0.0.2" })).toBe(422);
  expect(await status({ podIP: "nowhere", podIPs: [{ ip: "nowhere" }] })).toBe(422);
  expect(await status({ hostIPs: [{ ip: "nowhere" }] })).toBe(422);
});

test("what is made from a stored template has its parts as they are, and is what a copy of the template would give", async () => {
  const { send } = setUp();
  type Spec = Record<string, unknown> & { containers: object[] };
  const limited = { name: "c", image: "i", resources: { limits: { cpu: "1000m", memory: "1Gi" } } };
  const template = { spec: { restartPolicy: "Never", containers: [limited, { name: "d", image: "i" }] } };
  const job = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "j" }, spec: { template } };
  const { value: made } = await send("POST", "/apis/batch/v1/namespaces/default/jobs", job);
  const stored = (made.spec["template"] as { spec: Spec }).spec;
  const make = async (name: string, spec: object): Promise<Spec> =>
    (await send("POST", PODS, { ...pod(name), spec })).value.spec as Spec;
  const own = await make("own", stored);
  expect(own).toEqual(await make("copied", structuredClone(stored)));
  expect(own["enableServiceLinks"]).toBe(true);
  expect(own.containers[0]).toMatchObject({ resources: { requests: { cpu: "1", memory: "1Gi" } } });
  expect(own.containers[1]).toBe(stored.containers[1]);
  expect(stored).not.toHaveProperty("enableServiceLinks");
  expect(stored.containers[0]).not.toHaveProperty("resources.requests");
  // A refused object or a dry run must not count as a validated template.
  const bad = { spec: { restartPolicy: "Never", containers: [{ name: "c" }] } };
  expect((await send("POST", PODS, { ...pod("bad"), spec: bad.spec })).status).toBe(422);
  const { value: tried } = await send("POST", "/apis/batch/v1/namespaces/default/jobs?dryRun=All", {
    ...job,
    metadata: { name: "k" },
  });
  const { spec: dry } = tried.spec["template"] as { spec: Spec };
  expect((await make("tried", dry)).containers[1]).not.toBe(dry.containers[1]);
});

test("a template found good once is good in every Job, which still has its own rules and labels to keep", async () => {
  const { send } = setUp();
  const jobs = "/apis/batch/v1/namespaces/default/jobs";
  const template = { spec: { restartPolicy: "OnFailure", containers: [{ name: "c", image: "i" }] } };
  const cronJob = {
    kind: "CronJob",
    metadata: { name: "c" },
    spec: { schedule: "@daily", jobTemplate: { spec: { template } } },
  };
  const { value: made } = await send("POST", "/apis/batch/v1/namespaces/default/cronjobs", cronJob);
  const { spec } = (made.spec["jobTemplate"] as { spec: { template: { spec: object } } }).spec.template;
  const post = async (name: string, jobSpec: object): Promise<number> =>
    (await send("POST", jobs, { kind: "Job", metadata: { name }, spec: jobSpec })).status;
  expect(await post("a", { template: { spec } })).toBe(201);
  expect(await post("b", { template: { spec, metadata: { labels: { a: "!" } } } })).toBe(422);
  expect(await post("c", { template: { spec }, podFailurePolicy: { rules: [] } })).toBe(422);
  const bad = { ...spec, dnsPolicy: "Never" };
  expect(await post("d", { template: { spec: bad } })).toBe(422);
  expect(await post("d", { template: { spec: bad } })).toBe(422);
});

test("a refused change leaves no trace in what is stored, also where it is sent back in part", async () => {
  const { send } = setUp();
  const secrets = "/api/v1/namespaces/default/secrets";
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, immutable: true, data: { a: "eA==" } };
  const { value: created } = await send("POST", secrets, secret);
  expect((await send("PATCH", `${secrets}/s`, { stringData: { b: "x" } }, MERGE)).status).toBe(422);
  expect((await send("GET", `${secrets}/s`)).value).toEqual(created);
  const spec = { containers: [{ name: "c", image: "i", ports: [{ containerPort: 80 }] }] };
  const { value: before } = await send("POST", PODS, { ...pod("a"), spec });
  expect((await send("PATCH", `${PODS}/a`, { spec: { hostNetwork: true } }, SMP)).status).toBe(422);
  expect((await send("GET", `${PODS}/a`)).value).toEqual(before);
});

test.each([
  // Go's server answers these before routing.
  ["GET", "/api/v1/namespaces/%zz/pods", 400, "400 Bad Request"],
  ["GET", "/api/v1/pods%", 400, "400 Bad Request"],
  ["POST", "/%", 400, "400 Bad Request"],
  ["GET", "/api/v1/pods\n", 400, "400 Bad Request"],
  // An escaped slash counts as a slash.
  ["GET", "/api/v1/namespaces/default%2Fconfigmaps/a", 200, undefined],
  ["GET", "/api%2Fv1/namespaces%2Fdefault/configmaps/%61", 200, undefined],
  ["GET", "/%76ersion", 200, undefined],
  ["GET", `${CONFIG_MAPS}/b%2Fa`, 404, "the server could not find the requested resource"],
  // Trailing slashes are ignored, other extra slashes are not.
  ["GET", `${CONFIG_MAPS}/a//`, 200, undefined],
  ["GET", `/${CONFIG_MAPS}/a`, 404, "404 page not found\n"],
  ["GET", "//version", 404, "404 page not found\n"],
  ["GET", "/api/v1//configmaps", 404, "the server could not find the requested resource"],
  ["GET", "/apis//v1/configmaps", 404, "404 page not found\n"],
  ["GET", "/apis//v1", 404, "404 page not found\n"],
  ["GET", "/apis//batch/v1", 404, "404 page not found\n"],
  ["GET", "/apis//batch/v9", 404, "404 page not found\n"],
  ["GET", `${CONFIG_MAPS}//status`, 404, "the server could not find the requested resource"],
  ["GET", "/api/v1/namespaces//configmaps", 200, undefined],
  // Dots are not resolved.
  ["GET", `${CONFIG_MAPS}/..`, 400, "Name parameter invalid: \"..\": may not be '..'"],
  ["GET", `${CONFIG_MAPS}/%2e`, 400, "Name parameter invalid: \".\": may not be '.'"],
  ["GET", `${CONFIG_MAPS}/../configmaps/a`, 404, "the server could not find the requested resource"],
  ["GET", "/api/v1/namespaces/../../version", 404, "the server could not find the requested resource"],
  ["PUT", `${CONFIG_MAPS}/a%25b`, 400, "Name parameter invalid: \"a%b\": may not contain '%'"],
  ["GET", `${CONFIG_MAPS}/a%00`, 404, 'configmaps "a\\u0000" not found'],
  ["GET", `${CONFIG_MAPS}/%ff`, 404, 'configmaps "\uFFFD" not found'],
  // A namespace must be present exactly where the resource needs it.
  ["GET", "/api/v1/configmaps/a", 404, "the server could not find the requested resource"],
  ["POST", "/api/v1/configmaps", 405, "the server does not allow this method on the requested resource"],
  ["GET", "/api/v1/namespaces/default/namespaces/default", 404, "the server could not find the requested resource"],
  ["GET", "/api/v1/namespaces/default/namespaces", 404, "the server could not find the requested resource"],
  // A malformed parameter is ignored.
  ["GET", `${CONFIG_MAPS}?limit=%zz`, 200, undefined],
  ["GET", `${CONFIG_MAPS}?limit=x`, 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
  ["GET", `${CONFIG_MAPS}?timeout=x;y`, 200, undefined],
] as const)("%s %j is answered with %i %j, as kube-apiserver does", async (method, path, status, message) => {
  const { send } = setUp();
  await send("POST", CONFIG_MAPS, configMap("a"));
  const answer = await send(method, path, method === "GET" ? undefined : {});
  const { value } = answer;
  expect([answer.status, typeof value === "string" ? value : value.message]).toEqual([status, message]);
});

test("two servers share nothing", async () => {
  const [one, other] = [setUp(), setUp()];
  await one.send("POST", CONFIG_MAPS, configMap("a"));
  expect((await other.send("GET", `${CONFIG_MAPS}/a`)).status).toBe(404);
});

test("generateName adds five characters to at most 58, and answers 409 with a retry time when every draw is taken", async () => {
  const clock = new SimulatedClock(START);
  const stuck = { next: () => 0, uint32: () => 0, fork: () => stuck };
  const send = sender(createApiServer({ clock, random: stuck }));
  const named = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "n".repeat(70) } };
  expect((await send("POST", CONFIG_MAPS, named)).value.metadata.name).toBe(`${"n".repeat(58)}bbbbb`);
  const refused = await send("POST", CONFIG_MAPS, named);
  expect(refused.value).toMatchObject({ code: 409, reason: "AlreadyExists", details: { retryAfterSeconds: 1 } });
  expect(refused.headers["retry-after"]).toBe("1");
});

test("an update with a stale resourceVersion is a conflict, and one that changes nothing writes nothing", async () => {
  const { send, server } = setUp();
  const { value } = await send("POST", CONFIG_MAPS, configMap("a", { v: "1" }));
  await send("PUT", `${CONFIG_MAPS}/a`, configMap("a", { v: "2" }));
  const stale = await send("PUT", `${CONFIG_MAPS}/a`, {
    ...configMap("a", { v: "3" }),
    metadata: { name: "a", resourceVersion: value.metadata.resourceVersion },
  });
  expect(stale.value.message).toBe(
    'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
  );
  const before = server.resourceVersion;
  await send("PATCH", `${CONFIG_MAPS}/a`, { data: { v: "2" } }, MERGE);
  expect(server.resourceVersion).toBe(before);
});

test("the status endpoint keeps the spec, the main one keeps the status", async () => {
  const { send } = setUp();
  await send("POST", PODS, pod("p"));
  const status = await send(
    "PATCH",
    `${PODS}/p/status`,
    { spec: { nodeName: "n" }, status: { phase: "Running" } },
    MERGE,
  );
  expect(status.value).toMatchObject({
    spec: expect.not.objectContaining({ nodeName: "n" }),
    status: { phase: "Running" },
  });
  const main = await send(
    "PATCH",
    `${PODS}/p`,
    { metadata: { labels: { a: "b" } }, status: { phase: "Failed" } },
    MERGE,
  );
  expect(main.value).toMatchObject({ metadata: { labels: { a: "b" } }, status: { phase: "Running" } });
});

test("a pod that is not bound goes at once, a bound one after its grace period is cut short, and a finalizer holds either", async () => {
  const { send } = setUp();
  await send("POST", PODS, pod("free"));
  await send("DELETE", `${PODS}/free`);
  expect((await send("GET", `${PODS}/free`)).status).toBe(404);

  await send("POST", PODS, pod("held", { finalizers: ["example.com/hold"] }));
  await send("POST", `${PODS}/held/binding`, {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name: "held" },
    target: { kind: "Node", name: "n" },
  });
  const marked = await send("DELETE", `${PODS}/held`);
  expect(marked.value.metadata).toMatchObject({
    deletionTimestamp: "2026-01-01T00:00:30Z",
    deletionGracePeriodSeconds: 30,
    generation: 2,
  });
  await send("DELETE", `${PODS}/held`, { gracePeriodSeconds: 0 });
  expect((await send("GET", `${PODS}/held`)).value.metadata.deletionGracePeriodSeconds).toBe(0);
  await send(
    "PATCH",
    `${PODS}/held`,
    { metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/hold"] } },
    SMP,
  );
  expect((await send("GET", `${PODS}/held`)).status).toBe(404);
});

test("a list in pages is one snapshot, and a page whose history is forgotten answers 410 with a token that continues", async () => {
  const { send, server } = setUp();
  for (const name of ["a", "b", "c"]) await send("POST", CONFIG_MAPS, configMap(name));
  const first = await send("GET", `${CONFIG_MAPS}?limit=1`);
  const { continue: token = "", remainingItemCount } = first.value.metadata as Status["metadata"];
  expect(remainingItemCount).toBe(2);
  await send("DELETE", `${CONFIG_MAPS}/b`);
  await send("POST", CONFIG_MAPS, configMap("bb"));
  const second = await send("GET", `${CONFIG_MAPS}?continue=${token}`);
  expect(second.value.items.map(({ metadata }) => metadata.name)).toEqual(["b", "c"]);
  server.compact();
  const expired = await send("GET", `${CONFIG_MAPS}?continue=${token}`);
  expect(expired.value).toMatchObject({ code: 410, reason: "Expired" });
  const rest = await send("GET", `${CONFIG_MAPS}?continue=${(expired.value.metadata as Status["metadata"]).continue}`);
  expect(rest.value.items.map(({ metadata }) => metadata.name)).toEqual(["bb", "c"]);
});

test("lists across namespaces are in the order of namespace and name as one key", async () => {
  const { send } = setUp();
  for (const namespace of ["a", "a-b"]) {
    await send("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    await send("POST", `/api/v1/namespaces/${namespace}/configmaps`, configMap("x"));
  }
  const { value } = await send("GET", "/api/v1/configmaps");
  expect(value.items.map(({ metadata }) => metadata.namespace)).toEqual(["a-b", "a"]);
});

test("a watch with a selector sees an object come and go with its labels, the last time as it was with the new version", async () => {
  const { send, server } = setUp();
  const watch = await openWatch(
    server,
    `${CONFIG_MAPS}?watch=1&labelSelector=on&resourceVersion=${server.resourceVersion}`,
  );
  await send("POST", CONFIG_MAPS, configMap("a", { v: "1" }));
  await send("PATCH", `${CONFIG_MAPS}/a`, { metadata: { labels: { on: "" } } }, MERGE);
  const last = await send("PATCH", `${CONFIG_MAPS}/a`, { metadata: { labels: null }, data: { v: "2" } }, MERGE);
  const [added, deleted] = [await watch.next(), await watch.next()];
  expect(added.value).toMatchObject({ type: "ADDED", object: { metadata: { labels: { on: "" } } } });
  expect(deleted.value).toMatchObject({
    type: "DELETED",
    object: {
      data: { v: "1" },
      metadata: { labels: { on: "" }, resourceVersion: last.value.metadata.resourceVersion },
    },
  });
});

test("a streaming list ends its initial events with one marked bookmark", async () => {
  const { send, server } = setUp();
  await send("POST", CONFIG_MAPS, configMap("a"));
  const watch = await openWatch(
    server,
    `${CONFIG_MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  );
  expect((await watch.next()).value).toMatchObject({ type: "ADDED" });
  expect((await watch.next()).value).toMatchObject({
    type: "BOOKMARK",
    object: {
      kind: "ConfigMap",
      metadata: { resourceVersion: server.resourceVersion, annotations: { "k8s.io/initial-events-end": "true" } },
    },
  });
});

test("a watch from before the kept history gets one 410 event and ends", async () => {
  const { send, server } = setUp({ historyLimit: 2 });
  const old = server.resourceVersion;
  for (const name of ["a", "b", "c"]) await send("POST", CONFIG_MAPS, configMap(name));
  const watch = await openWatch(server, `${CONFIG_MAPS}?watch=1&resourceVersion=${old}`);
  expect((await watch.next()).value).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
  expect((await watch.next()).done).toBe(true);
});

test("a watch ends at its time-out with the bookmark it is owed, and when its signal aborts", async () => {
  const { clock, send, server } = setUp();
  const timed = await openWatch(
    server,
    `${CONFIG_MAPS}?watch=1&timeoutSeconds=2&allowWatchBookmarks=true&resourceVersion=${server.resourceVersion}`,
  );
  await send("POST", PODS, pod("elsewhere"));
  await clock.advance(2000);
  expect((await timed.next()).value).toMatchObject({
    type: "BOOKMARK",
    object: { metadata: { resourceVersion: server.resourceVersion } },
  });
  expect((await timed.next()).done).toBe(true);

  const stop = new AbortController();
  const aborted = await openWatch(server, `${CONFIG_MAPS}?watch=1`, stop.signal);
  const next = aborted.next();
  stop.abort();
  expect((await next).done).toBe(true);
});

test("watches that only wait keep no simulation going", async () => {
  const { clock, server } = setUp();
  await clock.settle();
  await openWatch(server, `${CONFIG_MAPS}?watch=1&allowWatchBookmarks=true`);
  expect(clock.pendingTimers).toBe(0);
});

test("a namespace that is deleted is emptied and goes; nothing new is let into it meanwhile", async () => {
  const { clock, send } = setUp();
  await send("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "x" } });
  await send("POST", "/api/v1/namespaces/x/configmaps", {
    ...configMap("held"),
    metadata: { name: "held", finalizers: ["example.com/hold"] },
  });
  await send("DELETE", "/api/v1/namespaces/x");
  await clock.advance(5000);
  const refused = await send("POST", "/api/v1/namespaces/x/configmaps", configMap("late"));
  expect(refused.value.details?.causes).toEqual([
    { reason: "NamespaceTerminating", message: "namespace x is being terminated", field: "metadata.namespace" },
  ]);
  await send("PATCH", "/api/v1/namespaces/x/configmaps/held", { metadata: { finalizers: null } }, MERGE);
  await clock.advance(1000);
  expect((await send("GET", "/api/v1/namespaces/x")).status).toBe(404);
});

test("who deletes a namespace has 5 seconds to delete what is in it", async () => {
  const { clock, send } = setUp();
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "x" } };
  await send("POST", "/api/v1/namespaces", namespace);
  for (const name of ["a", "b"]) await send("POST", "/api/v1/namespaces/x/configmaps", configMap(name));
  await send("DELETE", "/api/v1/namespaces/x");
  await clock.advance(4999);
  expect((await send("DELETE", "/api/v1/namespaces/x/configmaps/a")).status).toBe(200);
  expect((await send("GET", "/api/v1/namespaces/x/configmaps/b")).status).toBe(200);
  await clock.advance(1);
  expect((await send("GET", "/api/v1/namespaces/x/configmaps/b")).status).toBe(404);
  expect((await send("GET", "/api/v1/namespaces/x")).status).toBe(404);
});

test("a namespace that is recreated meanwhile keeps its content", async () => {
  const { clock, send } = setUp();
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "x" } };
  await send("POST", "/api/v1/namespaces", namespace);
  await send("DELETE", "/api/v1/namespaces/x");
  await clock.advance(1000);
  await send("PUT", "/api/v1/namespaces/x/finalize", { ...namespace, spec: {} });
  expect((await send("POST", "/api/v1/namespaces", namespace)).status).toBe(201);
  await send("POST", "/api/v1/namespaces/x/configmaps", configMap("a"));
  await clock.advance(10_000);
  expect((await send("GET", "/api/v1/namespaces/x/configmaps/a")).status).toBe(200);
  await send("DELETE", "/api/v1/namespaces/x");
  await clock.advance(4999);
  expect((await send("GET", "/api/v1/namespaces/x/configmaps/a")).status).toBe(200);
});

test("events expire an hour after their last write, and watchers receive DELETED", async () => {
  const { clock, send, server } = setUp();
  const event = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "e" },
    involvedObject: { kind: "Pod", name: "p", namespace: "default" },
    reason: "Tested",
    type: "Normal",
  };
  await send("POST", "/api/v1/namespaces/default/events", event);
  await clock.advance(1_800_000);
  await send("PATCH", "/api/v1/namespaces/default/events/e", { count: 2 }, MERGE);
  const watch = await openWatch(
    server,
    `/api/v1/events?watch=1&timeoutSeconds=7200&resourceVersion=${server.resourceVersion}`,
  );
  await clock.advance(3_599_000);
  expect((await send("GET", "/api/v1/namespaces/default/events/e")).status).toBe(200);
  await clock.advance(1_000);
  expect((await watch.next()).value).toMatchObject({ type: "DELETED" });
});

test("keys that JavaScript treats specially are data like any other, and pollute nothing", async () => {
  const { send } = setUp();
  const data = JSON.parse('{"__proto__": "x", "constructor": "y"}') as Record<string, string>;
  await send("POST", CONFIG_MAPS, { ...configMap("a"), data });
  const patched = await send(
    "PATCH",
    `${CONFIG_MAPS}/a`,
    JSON.parse('{"data": {"__proto__": "z"}, "__proto__": {"polluted": true}}'),
    MERGE,
  );
  expect(Object.getOwnPropertyDescriptor(patched.value.data, "__proto__")?.value).toBe("z");
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test("every request is shown to observers once it is answered", async () => {
  const { send, server } = setUp();
  const records: AuditRecord[] = [];
  const stop = server.observe((record) => records.push(record));
  await send("PATCH", `${PODS}/none/status`, {}, MERGE);
  stop();
  await send("GET", PODS);
  expect(records).toEqual([
    {
      verb: "patch",
      group: "",
      version: "v1",
      resource: "pods",
      namespace: "default",
      name: "none",
      subresource: "status",
      path: `${PODS}/none/status`,
      code: 404,
      userAgent: "test/1",
      user: "system:apiserver",
      atMs: Date.parse(START),
      durationMs: 0,
    },
  ]);
});

test("what was refused is recorded with what it was about; what no resource has is not", async () => {
  const { server } = setUp();
  const records: AuditRecord[] = [];
  server.observe((record) => records.push(record));
  const denyingServer = createApiServer({
    clock: new SimulatedClock(START),
    random: seededRandom(1),
    authorization: () => ({ allowed: false, reason: "" }),
  });
  denyingServer.observe((record) => records.push(record));
  const developer = denyingServer.transportAs({ username: "dev" });
  await developer({
    method: "GET",
    path: "/api/v1/namespaces/a%2Fsecrets?fieldSelector=metadata.name%3Ds",
    headers: {},
  });
  await developer({ method: "GET", path: "/api/v1/namespaces/a/nothings/s", headers: {} });
  await developer({ method: "GET", path: "/%zz", headers: {} });
  expect(
    records.map(({ verb, resource, namespace, name, code, user }) => [verb, resource, namespace, name, code, user]),
  ).toEqual([
    ["list", "secrets", "a", "s", 403, ""],
    ["get", "", "", "", 403, ""],
    ["get", "", "", "", 400, ""],
  ]);
});

test("an interceptor may answer in the server's place", async () => {
  const clock = new SimulatedClock(START);
  const server = createApiServer({
    clock,
    random: seededRandom(1),
    intercept: async ({ method }) => {
      await clock.sleep(500);
      return method === "POST"
        ? { status: 503, headers: {}, body: { type: "decoded", value: "out of order" } }
        : undefined;
    },
  });
  const send = sender(server);
  const refused = send("POST", CONFIG_MAPS, configMap("a"));
  const listed = send("GET", CONFIG_MAPS);
  await clock.advance(500);
  expect((await refused).status).toBe(503);
  expect((await listed).value.items).toEqual([]);
});

test("equal seeds and calls give equal objects", async () => {
  const run = async (): Promise<string> => {
    const { send } = setUp();
    await send("POST", PODS, { ...pod(""), metadata: { generateName: "p-" } });
    return JSON.stringify((await send("GET", PODS)).value);
  };
  expect(await run()).toBe(await run());
});

test("server-side apply: what an applier leaves out goes, what another holds with another value is a conflict", async () => {
  const { send } = setUp();
  const apply = (manager: string, data: object, force = false): Promise<Answer> =>
    send(
      "PATCH",
      `${CONFIG_MAPS}/a?fieldManager=${manager}&force=${force}`,
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data },
      "application/apply-patch+yaml",
    );
  expect((await apply("one", { x: "1", y: "1" })).status).toBe(201);
  expect((await apply("one", { x: "1" })).value.data).toEqual({ x: "1" });
  const refused = await apply("two", { x: "2" });
  expect(refused.value).toMatchObject({
    code: 409,
    message: 'Apply failed with 1 conflict: conflict with "one": .data.x',
  });
  expect((await apply("two", { x: "2" }, true)).value.data).toEqual({ x: "2" });
});

test("tens of thousands of warnings and owners take no longer than what they are about", async () => {
  const { send } = setUp();
  const env = Array.from({ length: 70_000 }, () => ({ name: "A", value: "x" }));
  const created = await send("POST", PODS, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { containers: [{ name: "c", image: "i", env }] },
  });
  expect(created.status).toBe(201);
  expect(created.headers["warning"]).toContain(
    '299 - "spec.containers[0].env[1]: hides previous definition of \\"A\\", which may be dropped when using apply"',
  );
  const owner = { apiVersion: "v1", kind: "Pod", name: "p" };
  const owners = Array.from({ length: 70_000 }, (_, index) => ({ ...owner, uid: `uid-${index % 69_999}` }));
  const owned = await send("POST", CONFIG_MAPS, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "owned", ownerReferences: owners },
  });
  expect(owned.value.metadata.ownerReferences).toHaveLength(69_999);
  expect(String(owned.headers["warning"])).toContain("duplicate UID(s) observed: uid-0");
});

test("followers of the store receive each change in the step that makes it", async () => {
  const { server, send } = setUp();
  const delivered: string[] = [];
  const stop = server.follow(({ group, resource, resourceVersion, current, previous }) =>
    delivered.push(
      `${group}/${resource} ${previous?.metadata.name} -> ${current?.metadata.name} ${resourceVersion === Number(server.resourceVersion)}`,
    ),
  );
  const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } };
  const { metadata } = (await send("POST", "/api/v1/namespaces/default/configmaps", configMap)).value;
  await send("PUT", "/api/v1/namespaces/default/configmaps/c", { ...configMap, data: { a: "1" } });
  await send("DELETE", "/api/v1/namespaces/default/configmaps/c");
  stop();
  await send("POST", "/api/v1/namespaces/default/configmaps", configMap);
  expect(metadata.name).toBe("c");
  expect(delivered).toEqual([
    "/configmaps undefined -> c true",
    "/configmaps c -> c true",
    "/configmaps c -> undefined true",
  ]);
});

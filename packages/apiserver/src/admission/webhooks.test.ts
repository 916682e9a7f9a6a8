import { expect, test } from "vitest";
import { SimulatedClock, seededRandom } from "@kubewright/clock";

import {
  type AdmissionRequest,
  type AdmissionResponse,
  type AdmissionReview,
  type ApiServer,
  createApiServer,
  inProcessWebhooks,
  jsonPatchOf,
} from "../index.js";

const URLS = ["a", "b", "c"].map((name) => `https://${name}.test/hook`);
const RULE = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] };
type Handler = (request: AdmissionRequest, review: AdmissionReview) => AdmissionResponse;

/** A cluster in virtual time with these functions as webhooks, the first at the first URL. */
class Bench {
  readonly requests: AdmissionRequest[] = [];
  readonly server: ApiServer;

  constructor(...handlers: readonly Handler[]) {
    const webhooks = inProcessWebhooks(
      Object.fromEntries(
        handlers.map((handler, index) => [
          URLS[index]!,
          (review: AdmissionReview) => {
            this.requests.push(review.request);
            return handler(review.request, review);
          },
        ]),
      ),
    );
    this.server = createApiServer({ clock: new SimulatedClock(), random: seededRandom(1), freeze: true, webhooks });
  }

  async configure(kind: "Mutating" | "Validating", ...changes: readonly object[]): Promise<void> {
    const webhooks = changes.map((change, index) => ({
      name: `${"abc"[index]}.example.com`,
      clientConfig: { url: URLS[index] },
      rules: [RULE],
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      ...change,
    }));
    const plural = `${kind.toLowerCase()}webhookconfigurations`;
    const body = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: `${kind}WebhookConfiguration`,
      metadata: { name: "w" },
      webhooks,
    };
    const { status } = await this.send("POST", `/apis/admissionregistration.k8s.io/v1/${plural}`, body);
    expect(status).toBe(201);
  }

  async send(
    method: "DELETE" | "PATCH" | "POST" | "PUT",
    path: string,
    value?: unknown,
    type = "application/merge-patch+json",
  ): Promise<{ status: number; value: Record<string, unknown> }> {
    const headers: Record<string, string> = method === "PATCH" ? { "content-type": type } : {};
    const body = value === undefined ? {} : { body: { type: "decoded", value } as const };
    const response = await this.server.transport({ method, path, headers, ...body });
    if (response.body.type !== "decoded") throw new Error("no object");
    return { status: response.status, value: response.body.value as Record<string, unknown> };
  }

  create(name: string, metadata: object = {}, namespace = "default"): ReturnType<Bench["send"]> {
    return this.send("POST", `/api/v1/namespaces/${namespace}/configmaps`, configMap(name, metadata));
  }
}

function configMap(name: string, metadata: object = {}): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data: { a: "1" } };
}

const allow: Handler = () => ({ allowed: true });
const setting =
  (key: string, value = "1"): Handler =>
  () => ({ allowed: true, ...jsonPatchOf([{ op: "add", path: `/data/${key}`, value }]) });

test("a webhook receives the object, the user and the options of the write", async () => {
  const bench = new Bench(allow);
  await bench.configure("Validating", {});
  await bench.create("a");
  await bench.send("PATCH", "/api/v1/namespaces/default/configmaps/a?dryRun=All", { data: { b: "2" } });
  await bench.send("DELETE", "/api/v1/namespaces/default/configmaps/a");
  const [created, patched, deleted] = bench.requests;
  expect(created).toMatchObject({
    kind: { group: "", version: "v1", kind: "ConfigMap" },
    resource: { group: "", version: "v1", resource: "configmaps" },
    requestResource: { group: "", version: "v1", resource: "configmaps" },
    name: "a",
    namespace: "default",
    operation: "CREATE",
    userInfo: { username: "system:apiserver" },
    object: { kind: "ConfigMap", data: { a: "1" } },
    oldObject: null,
    dryRun: false,
    options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" },
  });
  expect(patched).toMatchObject({
    operation: "UPDATE",
    object: { data: { a: "1", b: "2" } },
    oldObject: { data: { a: "1" } },
    dryRun: true,
    options: { kind: "UpdateOptions", dryRun: ["All"] },
  });
  expect(deleted).toMatchObject({ operation: "DELETE", object: null, oldObject: { data: { a: "1" } } });
  expect(new Set(bench.requests.map(({ uid }) => uid)).size).toBe(3);
});

test.each<[object, string[]]>([
  [{ rules: [{ ...RULE, operations: ["UPDATE"] }] }, []],
  [{ rules: [{ ...RULE, apiGroups: ["apps"] }] }, []],
  [{ rules: [{ ...RULE, scope: "Cluster" }] }, []],
  [{ rules: [{ ...RULE, scope: "Namespaced" }] }, ["plain", "labelled"]],
  [{ rules: [{ ...RULE, resources: ["*/status"] }] }, []],
  [{ rules: [{ ...RULE, resources: ["*/*"] }] }, ["plain", "labelled"]],
  [{ rules: [] }, []],
  [{ objectSelector: { matchLabels: { app: "x" } } }, ["labelled"]],
  [{ objectSelector: { matchExpressions: [{ key: "app", operator: "DoesNotExist" }] } }, ["plain"]],
  [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "default" } } }, ["plain", "labelled"]],
  [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "other" } } }, []],
  [{ matchConditions: [{ name: "c", expression: "has(object.metadata.labels)" }] }, ["labelled"]],
  [{ matchConditions: [{ name: "c", expression: "request.userInfo.username == 'nobody'" }] }, []],
  [
    { matchConditions: [{ name: "c", expression: "authorizer.group('').resource('pods').check('get').allowed()" }] },
    ["plain", "labelled"],
  ],
])("a webhook with %j is asked about what it matches", async (change, names) => {
  const bench = new Bench(allow);
  await bench.configure("Validating", change);
  await bench.create("plain");
  await bench.create("labelled", { labels: { app: "x" } });
  expect(bench.requests.map(({ name }) => name)).toEqual(names);
});

test("conditions that have no value close, unless another does not hold or the webhook fails open", async () => {
  const broken = { name: "broken", expression: "object.none == 1" };
  const outcome = async (change: object): Promise<unknown> => {
    const bench = new Bench(allow);
    await bench.configure("Validating", change);
    const { status, value } = await bench.create("a");
    return [status, value["message"], bench.requests.length];
  };
  expect(await outcome({ matchConditions: [broken] })).toEqual([
    403,
    `configmaps "a" is forbidden: expression 'object.none == 1' resulted in error: no such key: none`,
    0,
  ]);
  expect(await outcome({ matchConditions: [broken, { name: "no", expression: "false" }] })).toEqual([
    201,
    undefined,
    0,
  ]);
  expect(await outcome({ matchConditions: [broken], failurePolicy: "Ignore" })).toEqual([201, undefined, 0]);
});

test("the same objects under another version are sent as that version, unless matches are to be exact", async () => {
  const rules = [{ ...RULE, apiGroups: [""], resources: ["events"] }];
  const event = {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: "e" },
    eventTime: "2026-01-01T00:00:00.000000Z",
    reportingController: "x.y/z",
    reportingInstance: "i",
    action: "Act",
    reason: "Because",
    type: "Normal",
    regarding: { kind: "Pod", name: "p", namespace: "default" },
  };
  const seen = async (matchPolicy: string): Promise<readonly AdmissionRequest[]> => {
    const bench = new Bench(allow);
    await bench.configure("Validating", { rules, matchPolicy });
    await bench.send("POST", "/apis/events.k8s.io/v1/namespaces/default/events", event);
    return bench.requests;
  };
  expect(await seen("Exact")).toEqual([]);
  expect(await seen("Equivalent")).toMatchObject([
    {
      kind: { group: "", version: "v1", kind: "Event" },
      requestKind: { group: "events.k8s.io", version: "v1", kind: "Event" },
      object: { apiVersion: "v1", involvedObject: { name: "p" } },
    },
  ]);
});

test("mutating webhooks see the changes of earlier webhooks and are reinvoked when they ask for it and the object changed", async () => {
  const order: string[] = [];
  const noting =
    (name: string): Handler =>
    ({ object }) => {
      order.push(
        `${name}:${Object.keys(object!["data"] as object)
          .sort()
          .join("")}`,
      );
      return setting(name)(undefined as never, undefined as never);
    };
  const bench = new Bench(noting("x"), noting("y"), noting("z"));
  await bench.configure("Mutating", { reinvocationPolicy: "IfNeeded" }, {}, { reinvocationPolicy: "IfNeeded" });
  const { value } = await bench.create("a");
  expect(order).toEqual(["x:a", "y:ax", "z:axy", "x:axyz"]);
  expect(value["data"]).toEqual({ a: "1", x: "1", y: "1", z: "1" });
});

test("what a mutating webhook made has its defaults, and is valid or refused", async () => {
  const bench = new Bench(() => ({
    allowed: true,
    ...jsonPatchOf([{ op: "add", path: "/metadata/labels", value: { "bad label": "x" } }]),
  }));
  await bench.configure("Mutating", {});
  const { status, value } = await bench.create("a");
  expect([status, value["reason"]]).toEqual([422, "Invalid"]);
});

test.each<[string, AdmissionResponse, RegExp]>([
  [
    "patches without a type",
    { allowed: true, patch: btoa("[]") },
    /received invalid webhook response: webhook returned response.patch but not response.patchType$/,
  ],
  [
    "an odd uid",
    { allowed: true, uid: "other" },
    /received invalid webhook response: expected response.uid="[-0-9a-f]{36}", got "other"$/,
  ],
  [
    "a patch that does not fit",
    { allowed: true, ...jsonPatchOf([{ op: "remove", path: "/none/at/all" }]) },
    /^Internal error occurred: /,
  ],
  ["a patch that is none", { allowed: true, patch: btoa("{"), patchType: "JSONPatch" }, /^Internal error occurred: /],
])("a mutating webhook that answers %s", async (_what, response, message) => {
  const bench = new Bench(() => response);
  await bench.configure("Mutating", {});
  const { status, value } = await bench.create("a");
  expect([status, value["message"]]).toEqual([500, expect.stringMatching(message)]);
});

test.each<[AdmissionResponse["status"], number, string, string]>([
  [undefined, 400, "", " without explanation"],
  [{ code: 200, message: "fine" }, 400, "", ": fine"],
  [{ code: 403, reason: "Forbidden" }, 403, "Forbidden", ": Forbidden"],
])("a refusal with the status %j", async (status, code, reason, why) => {
  const bench = new Bench(() => ({ allowed: false, ...(status === undefined ? {} : { status }) }));
  await bench.configure("Validating", {});
  const refused = await bench.create("a");
  expect([refused.status, refused.value["reason"] ?? "", refused.value["message"]]).toEqual([
    code,
    reason,
    `admission webhook "a.example.com" denied the request${why}`,
  ]);
});

test("webhooks that speak v1beta1 only are spoken to so", async () => {
  const versions: string[] = [];
  const bench = new Bench((_request, { apiVersion }) => {
    versions.push(apiVersion);
    return { allowed: true, uid: "any" };
  });
  await bench.configure("Validating", { admissionReviewVersions: ["v2", "v1beta1", "v1"] });
  expect((await bench.create("a")).status).toBe(201);
  expect(versions).toEqual(["admission.k8s.io/v1beta1"]);
});

test("writes of webhook configurations call no webhook, so that a mistake can be corrected", async () => {
  const bench = new Bench(() => ({ allowed: false }));
  await bench.configure("Validating", {});
  await bench.configure("Mutating", {});
  const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/w";
  expect((await bench.send("DELETE", path)).status).toBe(200);
});

test("a mutating webhook may refuse a deletion", async () => {
  const bench = new Bench(({ operation }) => ({ allowed: operation !== "DELETE" }));
  await bench.configure("Mutating", {});
  await bench.create("a");
  const { status } = await bench.send("DELETE", "/api/v1/namespaces/default/configmaps/a");
  expect(status).toBe(400);
});

test("a server without a webhook caller calls no webhook", async () => {
  const server = createApiServer({ clock: new SimulatedClock(), random: seededRandom(1) });
  const bench = Object.assign(new Bench(), { server });
  await bench.configure("Validating", {});
  expect((await bench.create("a")).status).toBe(201);
});

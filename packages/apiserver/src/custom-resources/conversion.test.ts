import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import type { ApiRequest } from "@kubewright/transport";

import {
  type ApiServer,
  type ConversionHandler,
  type WebhookCall,
  createApiServer,
  inProcessWebhooks,
  jsonPatchOf,
} from "../index.js";
import type { ConversionReview } from "./conversion-review.js";

const URL = "https://convert.test/widgets";
const MUTATING = "https://admit.test/widgets";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const MERGE = "application/merge-patch+json";
const APPLY = "application/apply-patch+yaml";

interface Widget {
  [member: string]: unknown;
  apiVersion: string;
  kind: string;
  metadata: {
    [member: string]: unknown;
    name: string;
    generation?: number;
    resourceVersion?: string;
    labels?: Record<string, string>;
    finalizers?: string[];
    managedFields?: { manager: string; apiVersion: string; operation: string; fieldsV1: object }[];
  };
  spec: Record<string, unknown>;
  items: Widget[];
  message: string;
  reason?: string;
}

interface Answer {
  readonly status: number;
  readonly value: Widget;
}

/**
 * Converts between v1, which has `spec.host` and `spec.port`, and v2, which has `spec.address` as one string:
 * `host:port`.
 */
const convertAddress: ConversionHandler = (object, desired) => {
  const { spec = {}, ...rest } = object as { spec?: Record<string, unknown> };
  const { host, port, address, ...others } = spec;
  if (desired.endsWith("/v1")) {
    const [name, digits] = ((address as string | undefined) ?? ":").split(":");
    return {
      ...rest,
      spec: { ...others, ...(name ? { host: name } : {}), ...(digits ? { port: Number(digits) } : {}) },
    };
  }
  const whole = host === undefined && port === undefined ? {} : { address: `${String(host)}:${String(port)}` };
  return { ...rest, spec: { ...others, ...whole } };
};

const replicas = { type: "integer", minimum: 0 };
const status = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const subresources = {
  status: {},
  scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
};

function version(name: string, storage: boolean, properties: object, selectable: string): object {
  const spec = { type: "object", properties: { ...properties, replicas, note: { type: "string", default: name } } };
  return {
    name,
    served: true,
    storage,
    subresources,
    schema: { openAPIV3Schema: { type: "object", properties: { spec, status } } },
    selectableFields: [{ jsonPath: selectable }],
    additionalPrinterColumns: [{ name: "Where", type: "string", jsonPath: selectable }],
  };
}

function definition(stored: "v1" | "v2" = "v1"): Record<string, unknown> {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      conversion: {
        strategy: "Webhook",
        webhook: { clientConfig: { url: URL }, conversionReviewVersions: ["v3", "v1", "v1beta1"] },
      },
      versions: [
        version("v1", stored === "v1", { host: { type: "string" }, port: { type: "integer" } }, ".spec.host"),
        version("v2", stored === "v2", { address: { type: "string", pattern: "^[a-z]+:\\d+$" } }, ".spec.address"),
      ],
    },
  };
}

const path = (version: string, name = ""): string =>
  `/apis/example.com/${version}/namespaces/default/widgets${name === "" ? "" : `/${name}`}`;
const v1 = (name: string, spec: object = { host: "a", port: 1 }, metadata: object = {}): object => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name, ...metadata },
  spec,
});
const v2 = (name: string, spec: object = { address: "a:1" }, metadata: object = {}): object => ({
  ...v1(name, spec, metadata),
  apiVersion: "example.com/v2",
});

/** A cluster in virtual time with a CustomResourceDefinition whose objects a function converts. */
class TestCluster {
  readonly reviews: ConversionReview["request"][] = [];
  /** The objects that the mutating webhook received. */
  readonly admittedObjects: Record<string, unknown>[] = [];
  readonly clock = new SimulatedClock("2026-01-01T00:00:00Z");
  readonly server: ApiServer;
  convert = convertAddress;
  isDown = false;

  private constructor(trackFields: boolean) {
    const call = inProcessWebhooks(
      {
        [MUTATING]: ({ request }) => {
          this.admittedObjects.push(request.object!);
          return { allowed: true, ...jsonPatchOf([{ op: "replace", path: "/spec/port", value: 7 }]) };
        },
      },
      { [URL]: (object, desired) => this.convert(object, desired) },
    );
    this.server = createApiServer({
      clock: this.clock,
      random: seededRandom(1),
      freeze: true,
      trackFields,
      webhooks: (asked: WebhookCall) => {
        if (asked.url.startsWith(MUTATING)) return call(asked);
        expect(asked).toMatchObject({ url: `${URL}?timeout=30s`, timeoutMs: 30_000, address: undefined });
        const { request } = asked.body as ConversionReview;
        expect(request.objects.map(({ apiVersion }) => apiVersion)).not.toContain(request.desiredAPIVersion);
        this.reviews.push(request);
        return this.isDown ? Promise.reject(new Error("dial tcp: connect: connection refused")) : call(asked);
      },
    });
  }

  static async start(stored: "v1" | "v2" = "v1", trackFields = true): Promise<TestCluster> {
    const bench = new TestCluster(trackFields);
    expect((await bench.send("POST", DEFINITIONS, definition(stored))).status).toBe(201);
    await bench.clock.advance(0);
    return bench;
  }

  async send(method: ApiRequest["method"], path: string, value?: unknown, type = "", headers = {}): Promise<Answer> {
    const response = await this.server.transport({
      method,
      path,
      headers: { ...headers, ...(type === "" ? {} : { "content-type": type }) },
      ...(value === undefined ? {} : { body: { type: "decoded", value } }),
    });
    return { status: response.status, value: (response.body as { value: Widget }).value };
  }

  /** Returns the conversion requests since the last call: the number of objects and the desired version of each. */
  takeRequests(): string[] {
    return this.reviews.splice(0).map(({ objects, desiredAPIVersion }) => `${objects.length} to ${desiredAPIVersion}`);
  }

  async watch(version: string, query: string): Promise<() => Promise<[string, Widget]>> {
    const { body } = await this.server.transport({
      method: "GET",
      path: `${path(version)}?watch=true&${query}`,
      headers: {},
    });
    if (body.type !== "events") throw new Error("no watch");
    const events = body.events[Symbol.asyncIterator]();
    return async () => {
      const { value, done } = await events.next();
      if (done === true) return ["END", {} as Widget];
      const event = value as { type: string; object: Widget };
      return [event.type, event.object];
    };
  }
}

test("an object is stored in the storage version and returned in the request's version", async () => {
  const bench = await TestCluster.start();
  const created = await bench.send("POST", path("v2"), v2("a", { address: "x:80" }));
  expect([created.status, created.value.apiVersion, created.value.spec]).toEqual([
    201,
    "example.com/v2",
    { address: "x:80", note: "v2" },
  ]);
  expect(bench.takeRequests()).toEqual(["1 to example.com/v1", "1 to example.com/v2"]);
  const stored = await bench.send("GET", path("v1", "a"));
  expect(stored.value.spec).toEqual({ host: "x", port: 80, note: "v2" });
  expect(bench.takeRequests()).toEqual([]);
});

test("an object stored in the requested version is not sent to the webhook", async () => {
  const bench = await TestCluster.start();
  bench.isDown = true;
  expect((await bench.send("POST", path("v1"), v1("a"))).status).toBe(201);
  expect((await bench.send("PATCH", path("v1", "a"), { spec: { port: 2 } }, MERGE)).status).toBe(200);
  expect((await bench.send("GET", path("v1"))).value.items).toHaveLength(1);
  expect((await bench.send("DELETE", path("v1", "a"))).status).toBe(200);
  expect(bench.takeRequests()).toEqual([]);
});

test("a list is converted by one ConversionReview", async () => {
  const bench = await TestCluster.start();
  for (const name of ["a", "b", "c"]) await bench.send("POST", path("v1"), v1(name, { host: name, port: 1 }));
  const { value } = await bench.send("GET", path("v2"));
  expect(value.items.map(({ spec }) => spec["address"])).toEqual(["a:1", "b:1", "c:1"]);
  expect(bench.takeRequests()).toEqual(["3 to example.com/v2"]);
  const page = await bench.send("GET", `${path("v2")}?limit=2`);
  expect([page.value.items.length, page.value.metadata["remainingItemCount"]]).toEqual([2, 1]);
  expect(bench.takeRequests()).toEqual(["2 to example.com/v2"]);
});

test("field selectors apply to objects in the requested version", async () => {
  const bench = await TestCluster.start();
  bench.convert = async (object, desired) => {
    const converted = (await convertAddress(object, desired)) as { metadata: Widget["metadata"] };
    return { ...converted, metadata: { ...converted.metadata, labels: { seen: desired.split("/")[1] } } };
  };
  for (const name of ["a", "b", "c", "d", "e"]) await bench.send("POST", path("v1"), v1(name, { host: name, port: 1 }));
  const names = async (query: string): Promise<string[]> =>
    (await bench.send("GET", `${path("v2")}?${query}`)).value.items.map(({ metadata }) => metadata.name);
  expect(await names("fieldSelector=spec.address%3Dc:1")).toEqual(["c"]);
  expect(await names("labelSelector=seen=v2")).toHaveLength(5);
  expect(await names("labelSelector=seen=v1")).toEqual([]);
  expect(await names("fieldSelector=metadata.name%3Db")).toEqual(["b"]);
  bench.takeRequests();
  expect(await names("limit=2&fieldSelector=spec.address!%3Db:1")).toEqual(["a", "c"]);
  expect(bench.takeRequests()).toEqual(["2 to example.com/v2", "2 to example.com/v2"]);
});

test("a table shows the columns of the requested version", async () => {
  const bench = await TestCluster.start();
  await bench.send("POST", path("v1"), v1("a"));
  const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const { value } = await bench.send("GET", path("v2"), undefined, "", { accept });
  expect((value["rows"] as { cells: string[] }[])[0]!.cells).toEqual(["a", "a:1"]);
});

test("update, patch and status are validated in the request version and stored in the storage version", async () => {
  const bench = await TestCluster.start();
  await bench.send("POST", path("v1"), v1("a"));
  const { value } = await bench.send("GET", path("v2", "a"));
  const put = await bench.send("PUT", path("v2", "a"), { ...value, spec: { address: "b:2" } });
  expect([put.status, put.value.spec, put.value.metadata.generation]).toEqual([200, { address: "b:2", note: "v2" }, 2]);
  const patched = await bench.send("PATCH", path("v2", "a"), { spec: { address: "c:3" } }, MERGE);
  expect(patched.value.spec["address"]).toBe("c:3");
  expect((await bench.send("PATCH", path("v2", "a"), { spec: { address: "C" } }, MERGE)).status).toBe(422);
  const withStatus = await bench.send("PATCH", `${path("v2", "a")}/status`, { status: { replicas: 3 } }, MERGE);
  expect([withStatus.status, withStatus.value["status"]]).toEqual([200, { replicas: 3 }]);
  const stored = await bench.send("GET", path("v1", "a"));
  expect([stored.value.spec, stored.value["status"]]).toEqual([{ host: "c", port: 3, note: "v2" }, { replicas: 3 }]);
});

test("a patch that changes nothing writes nothing", async () => {
  const bench = await TestCluster.start();
  const before = await bench.send("POST", path("v2"), v2("a"));
  const after = await bench.send("PATCH", path("v2", "a"), { spec: { address: "a:1" } }, MERGE);
  expect(after.value.metadata.resourceVersion).toBe(before.value.metadata.resourceVersion);
});

test("the scale of an object is read and written in either version", async () => {
  const bench = await TestCluster.start();
  await bench.send("POST", path("v1"), v1("a", { host: "a", port: 1, replicas: 2 }));
  const scale = await bench.send("GET", `${path("v2", "a")}/scale`);
  expect(scale.value.spec).toEqual({ replicas: 2 });
  const scaled = await bench.send("PATCH", `${path("v2", "a")}/scale`, { spec: { replicas: 5 } }, MERGE);
  expect([scaled.status, scaled.value.spec]).toEqual([200, { replicas: 5 }]);
  expect((await bench.send("GET", path("v1", "a"))).value.spec["replicas"]).toBe(5);
});

test("a deleted object is returned in the request version and stored in the storage version", async () => {
  const bench = await TestCluster.start();
  await bench.send("POST", path("v1"), v1("a", undefined, { finalizers: ["example.com/wait"] }));
  const marked = await bench.send("DELETE", path("v2", "a"));
  expect([marked.status, marked.value.apiVersion, marked.value.spec["address"]]).toEqual([
    200,
    "example.com/v2",
    "a:1",
  ]);
  const gone = await bench.send("PATCH", path("v2", "a"), { metadata: { finalizers: null } }, MERGE);
  expect([gone.status, gone.value.spec["address"]]).toEqual([200, "a:1"]);
  expect((await bench.send("GET", path("v1", "a"))).status).toBe(404);
  await bench.send("POST", path("v1"), v1("b"));
  await bench.send("POST", path("v1"), v1("c"));
  const all = await bench.send("DELETE", path("v2"));
  expect(all.value.items.map(({ spec }) => spec["address"])).toEqual(["a:1", "a:1"]);
  expect((await bench.send("GET", path("v1"))).value.items).toEqual([]);
});

test("watch events are converted to the watch's version, by one review for all its watchers", async () => {
  const bench = await TestCluster.start();
  await bench.send("POST", path("v1"), v1("a"));
  await bench.send("POST", path("v1"), v1("b"));
  const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const [one, other] = [await bench.watch("v2", query), await bench.watch("v2", query)];
  for (const next of [one, other]) {
    for (const name of ["a", "b"])
      expect(await next()).toMatchObject([
        "ADDED",
        { apiVersion: "example.com/v2", metadata: { name }, spec: { address: "a:1" } },
      ]);
    expect((await next())[0]).toBe("BOOKMARK");
  }
  expect(bench.takeRequests()).toEqual(["2 to example.com/v2"]);
  await bench.send("PATCH", path("v1", "a"), { spec: { port: 2 } }, MERGE);
  await bench.send("DELETE", path("v1", "b"));
  for (const next of [one, other]) {
    expect(await next()).toMatchObject(["MODIFIED", { metadata: { name: "a" }, spec: { address: "a:2" } }]);
    expect(await next()).toMatchObject(["DELETED", { metadata: { name: "b" }, spec: { address: "a:1" } }]);
  }
});

test("a watch reports ADDED and DELETED when an object starts or stops matching its selector", async () => {
  const bench = await TestCluster.start();
  await bench.send("POST", path("v1"), v1("a"));
  const next = await bench.watch("v2", "fieldSelector=spec.address%3Da:2");
  await bench.send("PATCH", path("v1", "a"), { spec: { port: 2 } }, MERGE);
  expect(await next()).toMatchObject(["ADDED", { spec: { address: "a:2" } }]);
  await bench.send("PATCH", path("v1", "a"), { spec: { note: "x" } }, MERGE);
  expect(await next()).toMatchObject(["MODIFIED", { spec: { note: "x" } }]);
  const { value } = await bench.send("PATCH", path("v1", "a"), { spec: { port: 3 } }, MERGE);
  const { resourceVersion } = value.metadata;
  expect(await next()).toMatchObject(["DELETED", { metadata: { resourceVersion }, spec: { address: "a:2" } }]);
});

test("while the webhook is down, only requests that need a conversion fail", async () => {
  const bench = await TestCluster.start();
  await bench.send("POST", path("v1"), v1("a"));
  const next = await bench.watch("v2", "resourceVersion=0");
  expect((await next())[0]).toBe("ADDED");
  bench.isDown = true;
  const [from, to] = ["v1", "v2"].map(
    (version) =>
      `conversion webhook for example.com/${version}, Kind=Widget failed: Post "${URL}?timeout=30s": dial tcp: connect: connection refused`,
  );
  for (const [method, where, value, type] of [
    ["GET", path("v2", "a")],
    ["GET", path("v2")],
    ["GET", `${path("v2", "a")}/scale`],
    ["PATCH", path("v2", "a"), { spec: { address: "b:2" } }, MERGE],
    ["PATCH", path("v2", "a"), v2("a"), APPLY],
    ["DELETE", path("v2", "a")],
  ] as const) {
    const query = type === APPLY ? "?fieldManager=x" : "";
    const { status, value: answer } = await bench.send(method, `${where}${query}`, value, type);
    expect([status, answer.message, answer.reason]).toEqual([500, from, undefined]);
  }
  const created = await bench.send("POST", path("v2"), v2("b"));
  expect([created.status, created.value.message]).toEqual([500, to]);
  expect((await bench.send("PATCH", path("v1", "a"), { spec: { port: 2 } }, MERGE)).status).toBe(200);
  expect((await bench.send("GET", path("v1"))).value.items).toHaveLength(1);
  expect(await next()).toMatchObject(["ERROR", { code: 500, message: from }]);
  expect((await next())[0]).toBe("END");
  bench.isDown = false;
  expect((await bench.send("GET", path("v2", "a"))).value.spec["address"]).toBe("a:2");
  expect(await (await bench.watch("v2", "resourceVersion=0"))()).toMatchObject(["ADDED", { spec: { address: "a:2" } }]);
});

test("a server without a webhook caller reports an error", async () => {
  const clock = new SimulatedClock();
  const server = createApiServer({ clock, random: seededRandom(1) });
  const post = (path: string, value: object): Promise<unknown> =>
    server.transport({ method: "POST", path, headers: {}, body: { type: "decoded", value } });
  await post(DEFINITIONS, definition());
  await clock.advance(0);
  expect(await post(path("v1"), v1("a"))).toMatchObject({ status: 201 });
  expect(await post(path("v2"), v2("b"))).toMatchObject({
    status: 500,
    body: {
      value: {
        message: `conversion webhook for example.com/v2, Kind=Widget failed: Post "${URL}?timeout=30s": this server calls no webhooks`,
      },
    },
  });
});

test("a rewritten object is stored in the current storage version", async () => {
  const bench = await TestCluster.start();
  await bench.send("POST", path("v1"), v1("a"));
  await bench.send("POST", path("v1"), v1("b", undefined, { finalizers: ["example.com/wait"] }));
  const changed = await storeV2(bench);
  expect([changed.status, (changed.value["status"] as { storedVersions: string[] }).storedVersions]).toEqual([
    200,
    ["v1", "v2"],
  ]);
  bench.takeRequests();
  expect((await bench.send("GET", path("v2", "a"))).value.spec["address"]).toBe("a:1");
  expect(bench.takeRequests()).toEqual(["1 to example.com/v2"]);
  const { value: before } = await bench.send("GET", path("v1", "a"));
  expect(bench.takeRequests()).toEqual([]);
  // Only the stored version differs.
  const { value: after } = await bench.send("PUT", path("v1", "a"), before);
  expect(after.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion);
  bench.takeRequests();
  expect((await bench.send("GET", path("v2", "a"))).value.spec["address"]).toBe("a:1");
  expect(bench.takeRequests()).toEqual([]);
  await bench.send("DELETE", path("v2", "b"));
  bench.takeRequests();
  expect((await bench.send("GET", path("v2", "b"))).value.metadata["deletionTimestamp"]).toBeDefined();
  expect(bench.takeRequests()).toEqual([]);
});

test("a dry run shows what would be stored", async () => {
  const bench = await TestCluster.start();
  bench.convert = async (object, desired) => {
    const converted = (await convertAddress(object, desired)) as { spec: object };
    return { ...converted, spec: { ...converted.spec, replicas: 7 } };
  };
  const created = await bench.send("POST", `${path("v2")}?dryRun=All`, v2("a"));
  expect([created.status, created.value.apiVersion, created.value.spec["replicas"]]).toEqual([
    201,
    "example.com/v2",
    7,
  ]);
  expect((await bench.send("GET", path("v1", "a"))).status).toBe(404);
});

/** Makes v2 the storage version of the CustomResourceDefinition. */
async function storeV2(bench: TestCluster): Promise<Answer> {
  const url = `${DEFINITIONS}/widgets.example.com`;
  const { value } = await bench.send("GET", url);
  const { versions } = definition("v2")["spec"] as { versions: object[] };
  const changed = await bench.send("PUT", url, { ...value, spec: { ...value.spec, versions } });
  await bench.clock.advance(0);
  return changed;
}

test.each([
  ["before", "the request's", "v2", false],
  ["after", "the storage", "v1", false],
  ["before", "the request's, which is the storage version by now,", "v2", true],
] as const)(
  "what is stored %s a change, while it is converted to %s version, is not lost",
  async (_, __, to, isNew) => {
    const bench = await TestCluster.start("v1", false);
    await bench.send("POST", path("v1"), v1("a"));
    await bench.send("POST", path("v1"), v1("b"));
    if (isNew) await storeV2(bench);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    bench.convert = async (object, desired) => {
      if (!desired.endsWith(to)) return convertAddress(object, desired);
      begin();
      await held;
      return convertAddress(object, desired);
    };
    const patched = bench.send("PATCH", path("v2", "a"), { spec: { replicas: 4 } }, MERGE);
    await begun;
    bench.convert = convertAddress;
    await bench.send("PATCH", path("v1", "a"), { spec: { port: 9 } }, MERGE);
    release();
    expect((await patched).value.spec).toMatchObject({ address: "a:9", replicas: 4 });
  },
);

const ADMISSION = "admissionregistration.k8s.io/v1";
const OLD_ONLY = { apiGroups: ["example.com"], apiVersions: ["v1"], resources: ["widgets"] };

test("an admission webhook for another version receives and changes the object in that version", async () => {
  const bench = await TestCluster.start();
  const { status } = await bench.send("POST", `/apis/${ADMISSION}/mutatingwebhookconfigurations`, {
    apiVersion: ADMISSION,
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "w" },
    webhooks: [
      {
        name: "port.example.com",
        clientConfig: { url: MUTATING },
        rules: [{ ...OLD_ONLY, operations: ["CREATE"] }],
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
      },
    ],
  });
  expect(status).toBe(201);
  const created = await bench.send("POST", path("v2"), v2("a", { address: "a:200" }));
  expect(bench.admittedObjects).toMatchObject([{ apiVersion: "example.com/v1", spec: { host: "a", port: 200 } }]);
  expect([created.status, created.value.spec["address"]]).toEqual([201, "a:7"]);
  bench.isDown = true;
  const failed = await bench.send("POST", path("v2"), v2("b"));
  expect([failed.status, failed.value.reason, failed.value.message]).toEqual([
    500,
    "InternalError",
    expect.stringMatching(/^Internal error occurred: conversion webhook for example.com\/v2, Kind=Widget failed: /),
  ]);
});

test("a policy for another version evaluates new and old objects in that version", async () => {
  const bench = await TestCluster.start();
  await bench.send("POST", `/apis/${ADMISSION}/validatingadmissionpolicies`, {
    apiVersion: ADMISSION,
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "p" },
    spec: {
      matchConstraints: { resourceRules: [{ ...OLD_ONLY, operations: ["CREATE", "DELETE"] }] },
      validations: [{ expression: "(object == null ? oldObject : object).spec.port < 100" }],
    },
  });
  await bench.send("POST", `/apis/${ADMISSION}/validatingadmissionpolicybindings`, {
    apiVersion: ADMISSION,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "b" },
    spec: { policyName: "p", validationActions: ["Deny"] },
  });
  expect((await bench.send("POST", path("v2"), v2("a", { address: "a:200" }))).status).toBe(422);
  expect((await bench.send("POST", path("v2"), v2("a", { address: "a:20" }))).status).toBe(201);
  await bench.send("PATCH", path("v2", "a"), { spec: { address: "a:200" } }, MERGE);
  expect((await bench.send("DELETE", path("v2", "a"))).status).toBe(422);
});

/** Returns the version and the owned spec fields of each field manager. */
function owners({ metadata }: Widget): Record<string, string> {
  return Object.fromEntries(
    (metadata.managedFields ?? []).map(({ manager, apiVersion, fieldsV1 }) => {
      const spec = (fieldsV1 as { "f:spec"?: object })["f:spec"] ?? {};
      return [manager, [apiVersion, ...Object.keys(spec).filter((key) => key !== ".")].join(" ")];
    }),
  );
}

test("field managers own fields in the version in which they wrote", async () => {
  const bench = await TestCluster.start();
  const apply = (version: string, manager: string, spec: object, query = ""): Promise<Answer> =>
    bench.send(
      "PATCH",
      `${path(version, "a")}?fieldManager=${manager}${query}`,
      version === "v1" ? v1("a", spec) : v2("a", spec),
      APPLY,
    );
  expect((await apply("v2", "one", { address: "a:1" })).status).toBe(201);
  const both = await apply("v1", "two", { replicas: 2 });
  expect(owners(both.value)).toEqual({ one: "example.com/v2 f:address", two: "example.com/v1 f:replicas" });
  const refused = await apply("v1", "two", { replicas: 2, host: "b", port: 1 });
  expect([refused.status, refused.value.message]).toEqual([
    409,
    'Apply failed with 1 conflict: conflict with "one": .spec.address',
  ]);
  const forced = await apply("v1", "two", { replicas: 2, host: "b", port: 1 }, "&force=true");
  expect(owners(forced.value)).toEqual({ two: "example.com/v1 f:host f:port f:replicas" });
  expect((await bench.send("GET", path("v2", "a"))).value.spec["address"]).toBe("b:1");
});

test("applying the same object in another version moves the manager's fields", async () => {
  const bench = await TestCluster.start();
  for (const [version, body] of [
    ["v1", v1("a", { replicas: 2 })],
    ["v2", v2("a", { replicas: 2 })],
  ] as const) {
    const { value } = await bench.send("PATCH", `${path(version, "a")}?fieldManager=one`, body, APPLY);
    expect(owners(value)).toEqual({ one: `example.com/${version} f:replicas` });
  }
});

test("an update in one version takes ownership of fields from managers of another version", async () => {
  const bench = await TestCluster.start();
  await bench.send("PATCH", `${path("v2", "a")}?fieldManager=one`, v2("a", { address: "a:1", replicas: 1 }), APPLY);
  const { value } = await bench.send("PATCH", `${path("v1", "a")}?fieldManager=two`, { spec: { port: 2 } }, MERGE);
  expect(owners(value)).toEqual({ one: "example.com/v2 f:replicas", two: "example.com/v1 f:port" });
});

test("a field applied in another version is removed when it is no longer applied", async () => {
  const bench = await TestCluster.start();
  const apply = (version: string, manager: string, spec: object): Promise<Answer> =>
    bench.send(
      "PATCH",
      `${path(version, "a")}?fieldManager=${manager}`,
      version === "v1" ? v1("a", spec) : v2("a", spec),
      APPLY,
    );
  await apply("v2", "one", { address: "a:1", replicas: 3 });
  const { value } = await apply("v1", "one", { host: "a", port: 1 });
  expect([value.spec["replicas"], owners(value)]).toEqual([undefined, { one: "example.com/v1 f:host f:port" }]);
  await apply("v2", "two", { address: "a:1" });
  const kept = await apply("v1", "one", { host: "a" });
  expect([kept.value.spec, owners(kept.value)]).toEqual([
    { host: "a", port: 1, note: "v2" },
    { one: "example.com/v1 f:host", two: "example.com/v2 f:address" },
  ]);
});

const words = fc.string({ unit: fc.constantFrom("a", "b", "z"), minLength: 1, maxLength: 5 });
const specs = fc.record(
  { host: words, port: fc.nat(65_535), replicas: fc.nat(9), note: fc.string() },
  { requiredKeys: ["host", "port"] },
);
const metadata = fc.record(
  {
    labels: fc.dictionary(words, words, { minKeys: 1 }),
    annotations: fc.dictionary(words, fc.string(), { minKeys: 1 }),
    finalizers: fc.constant(["a.b/c"]),
  },
  { requiredKeys: [] },
);

test("objects survive a conversion round trip, for every storage version", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom("v1" as const, "v2" as const), specs, metadata, async (stored, spec, meta) => {
      const bench = await TestCluster.start(stored);
      const { status, value: created } = await bench.send("POST", path("v1"), v1("a", spec, meta));
      expect([status, created]).toMatchObject([201, { spec, metadata: meta }]);
      const { value: other } = await bench.send("GET", path("v2", "a"));
      expect(other.metadata).toEqual(created.metadata);
      // Writing back an unchanged object changes nothing.
      for (const seen of [other, created]) {
        const version = seen.apiVersion.split("/")[1]!;
        const again = await bench.send("PUT", path(version, "a"), structuredClone(seen));
        expect([again.status, again.value]).toEqual([200, seen]);
      }
      expect((await bench.send("GET", path("v1"))).value.items).toEqual([created]);
      expect((await bench.send("GET", path("v2"))).value.items).toEqual([other]);
    }),
    { numRuns: 60 },
  );
});

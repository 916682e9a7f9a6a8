import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";

import { afterEach, expect, test } from "vitest";
import { realClock, seededRandom } from "@kubewright/clock";
import type { ApiRequest } from "@kubewright/transport";

import { certificates } from "../../test/certificates.js";
import type { ConversionReview } from "../custom-resources/conversion-review.js";
import { type ApiServer, createApiServer } from "../index.js";
import { callWebhook } from "./call-webhook.js";

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

type Json = Record<string, unknown>;
type Response = { uid?: string; convertedObjects?: unknown[]; result?: { status?: string; message?: string } };

/** Returns a correct response. */
function converted({ request }: ConversionReview, change: (object: Json) => Json = (object) => object): Response {
  const { uid, desiredAPIVersion, objects } = request;
  const convertedObjects = objects.map((object) =>
    change({ ...(object as unknown as Json), apiVersion: desiredAPIVersion }),
  );
  return { uid, convertedObjects, result: { status: "Success" } };
}

/** Changes the metadata in the response. */
function withMetadata(change: (metadata: Json) => unknown): (review: ConversionReview) => Response {
  return (review) => converted(review, (object) => ({ ...object, metadata: change(object["metadata"] as Json) }));
}

const ANSWERS: Record<string, (review: ConversionReview) => unknown> = {
  "/convert": (review) => converted(review),
  "/fail": ({ request }) => ({ uid: request.uid, result: { status: "Failed", message: "no such port" } }),
  "/fail-silently": ({ request }) => ({ uid: request.uid, result: { status: "Failed" } }),
  "/no-result": (review) => ({ ...converted(review), result: undefined }),
  "/other-uid": (review) => ({ ...converted(review), uid: "1" }),
  "/none": (review) => ({ ...converted(review), convertedObjects: [] }),
  "/too-many": (review) => ({ ...converted(review), convertedObjects: [{}, {}] }),
  "/no-object": (review) => ({ ...converted(review), convertedObjects: [7] }),
  "/no-kind": (review) => converted(review, ({ kind: _kind, ...object }) => ({ apiVersion: object["apiVersion"] })),
  "/other-kind": (review) => converted(review, (object) => ({ ...object, kind: "Gadget" })),
  "/other-version": (review) => converted(review, (object) => ({ ...object, apiVersion: "example.com/v9" })),
  "/name": withMetadata((metadata) => ({ ...metadata, name: "b" })),
  "/namespace": withMetadata(({ namespace: _namespace, ...metadata }) => metadata),
  "/uid": withMetadata((metadata) => ({ ...metadata, uid: "2" })),
  "/no-metadata": (review) => converted(review, ({ metadata: _metadata, ...object }) => object),
  "/odd-labels": withMetadata((metadata) => ({ ...metadata, labels: ["a"] })),
  "/number-label": withMetadata((metadata) => ({ ...metadata, labels: { a: 1 } })),
  "/bad-label": withMetadata((metadata) => ({ ...metadata, labels: { "a b": "1" } })),
  "/bad-annotation": withMetadata((metadata) => ({ ...metadata, annotations: { "/": "1" } })),
  "/labels": withMetadata(({ name, namespace, uid }) => ({
    name,
    namespace,
    uid,
    labels: { a: "1" },
    annotations: { b: "2" },
    finalizers: ["example.com/x"],
    generation: 40,
  })),
  "/deep": (review) =>
    converted(review, (object) => ({ ...object, spec: JSON.parse(`${'{"a":'.repeat(600)}1${"}".repeat(600)}`) })),
  "/other-review": () => undefined,
  "/v1beta1": (review) => ({ ...converted(review), uid: "whatever" }),
  "/hang": () => undefined,
};

/** Starts a webhook server and returns its URL and the received reviews. */
async function webhookServer(): Promise<{ url: string; reviews: ConversionReview[]; close: () => void }> {
  const reviews: ConversionReview[] = [];
  const { serverKey: key, serverCert: cert } = certificates;
  const server = createServer({ key, cert }, (request, response) => {
    let text = "";
    request.on("data", (piece: Buffer) => (text += piece.toString()));
    request.on("end", () => {
      const path = request.url!.split("?")[0]!;
      const review = JSON.parse(text) as ConversionReview;
      reviews.push(review);
      if (path === "/hang") return;
      const answer = ANSWERS[path];
      if (answer === undefined) response.writeHead(503);
      const kind = path === "/other-review" ? "AdmissionReview" : review.kind;
      response.end(JSON.stringify({ apiVersion: review.apiVersion, kind, response: answer?.(review) }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  ended.push(close);
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, reviews, close };
}

function apiServer(): ApiServer {
  const server = createApiServer({ clock: realClock, random: seededRandom(1), webhooks: callWebhook, freeze: true });
  ended.push(() => server.close());
  return server;
}

async function send(
  server: ApiServer,
  method: ApiRequest["method"],
  path: string,
  value?: unknown,
): Promise<{ status: number; value: { [member: string]: unknown; metadata: Json; items: Json[]; message: string } }> {
  const body = value === undefined ? {} : { body: { type: "decoded", value } as const };
  const response = await server.transport({ method, path, headers: {}, ...body });
  return { status: response.status, value: (response.body as unknown as { value: never }).value };
}

const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

async function define(server: ApiServer, clientConfig: object, conversionReviewVersions = ["v1"]): Promise<void> {
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      conversion: {
        strategy: "Webhook",
        webhook: {
          clientConfig: { ...clientConfig, caBundle: Buffer.from(certificates.ca).toString("base64") },
          conversionReviewVersions,
        },
      },
      versions: ["v1", "v2"].map((name) => ({
        name,
        served: true,
        storage: name === "v1",
        schema: { openAPIV3Schema: anything },
      })),
    },
  };
  const { status } = await send(server, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  expect(status).toBe(201);
  while ((await send(server, "GET", widgets("v1"))).status !== 200) await realClock.sleep(0);
}

const widgets = (version: string): string => `/apis/example.com/${version}/namespaces/default/widgets`;
const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a" }, spec: { a: 1 } };
const FAILED = "conversion webhook for example.com/v1, Kind=Widget";

test("objects are converted over HTTPS, and the review is as documented", async () => {
  const { url, reviews } = await webhookServer();
  const server = apiServer();
  await define(server, { url: `${url}/convert` });
  await send(server, "POST", widgets("v1"), widget);
  const { status, value } = await send(server, "GET", `${widgets("v2")}/a`);
  expect([status, value["apiVersion"], value["spec"]]).toEqual([200, "example.com/v2", { a: 1 }]);
  const stored = (await send(server, "GET", `${widgets("v1")}/a`)).value;
  expect(reviews).toEqual([
    {
      kind: "ConversionReview",
      apiVersion: "apiextensions.k8s.io/v1",
      request: {
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        desiredAPIVersion: "example.com/v2",
        objects: [stored],
      },
    },
  ]);
});

test.each([
  ["/fail", "failed: no such port"],
  ["/fail-silently", "failed: response.result.status was 'Failed', not 'Success'"],
  ["/no-result", "failed: response.result.status was '', not 'Success'"],
  ["/other-uid", /^failed: expected response.uid="[0-9a-f-]{36}", got "1"$/],
  [
    "/other-review",
    "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got apiextensions.k8s.io/v1, Kind=AdmissionReview",
  ],
  ["/hang-up", "failed: the server is currently unable to handle the request"],
  ["/none", "returned 0 objects, expected 1"],
  ["/too-many", "returned 2 objects, expected 1"],
  ["/no-object", "returned invalid object: expected an object, got int64"],
  ["/no-kind", `returned invalid object: Object 'Kind' is missing in '{"apiVersion":"example.com/v2"}'`],
  ["/other-kind", "returned invalid object: invalid kind (expected Widget, received Gadget)"],
  [
    "/other-version",
    "returned invalid object: invalid groupVersion (expected example.com/v2, received example.com/v9)",
  ],
  ["/name", "returned invalid object: must have the same name: a != b"],
  ["/namespace", "returned invalid object: must have the same namespace: default != "],
  ["/uid", /^returned invalid object: must have the same UID: [0-9a-f-]{36} != 2$/],
  ["/no-metadata", /^returned invalid object: must have the same name: a != $/],
  ["/odd-labels", "returned invalid metadata: invalid metadata.labels of type []interface {} in converted object"],
  ["/number-label", "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object"],
  ["/bad-label", /^returned invalid metadata: metadata.labels: Invalid value: "a b": name part must consist of/],
  ["/bad-annotation", /^returned invalid metadata: \[?metadata.annotations: Invalid value: "\/": /],
  ["/deep", /^returned invalid object: .*nest|levels|depth/],
])("what a webhook at %s answers is refused", async (path, why) => {
  const { url } = await webhookServer();
  const server = apiServer();
  await define(server, { url: `${url}${path}` });
  await send(server, "POST", widgets("v1"), widget);
  for (const where of [`${widgets("v2")}/a`, widgets("v2")]) {
    const { status, value } = await send(server, "GET", where);
    expect([status, value["reason"], value.message.slice(0, FAILED.length)]).toEqual([500, undefined, FAILED]);
    expect(value.message.slice(FAILED.length + 1)).toMatch(why);
  }
  expect((await send(server, "GET", `${widgets("v1")}/a`)).status).toBe(200);
});

test("a conversion response names the element that is no object", async () => {
  const { url } = await webhookServer();
  const server = apiServer();
  await define(server, { url: `${url}/number-label` });
  for (const name of ["a", "b"]) await send(server, "POST", widgets("v1"), { ...widget, metadata: { name } });
  expect((await send(server, "GET", widgets("v2"))).value.message).toBe(
    `${FAILED} returned invalid metadata in object at index 0: metadata.labels[a] must be a string, but is int64 in converted object`,
  );
});

test("of the metadata labels and annotations are the webhook's, the rest stays", async () => {
  const { url } = await webhookServer();
  const server = apiServer();
  await define(server, { url: `${url}/labels` });
  await send(server, "POST", widgets("v1"), { ...widget, metadata: { name: "a", labels: { z: "1" } } });
  const stored = (await send(server, "GET", `${widgets("v1")}/a`)).value.metadata;
  const { metadata } = (await send(server, "GET", `${widgets("v2")}/a`)).value;
  expect(metadata).toEqual({ ...stored, labels: { a: "1" }, annotations: { b: "2" } });
});

test("the first version of the review that is known is spoken, and v1beta1 compares no uid", async () => {
  const { url, reviews } = await webhookServer();
  const server = apiServer();
  await define(server, { url: `${url}/v1beta1` }, ["v2", "v1beta1", "v1"]);
  await send(server, "POST", widgets("v1"), widget);
  expect((await send(server, "GET", `${widgets("v2")}/a`)).status).toBe(200);
  expect(reviews[0]!.apiVersion).toBe("apiextensions.k8s.io/v1beta1");
});

test("a list whose objects are long together is converted", async () => {
  const { url, reviews } = await webhookServer();
  const server = apiServer();
  await define(server, { url: `${url}/convert` });
  const text = "x".repeat(1_000_000);
  for (const name of ["a", "b", "c", "d"])
    await send(server, "POST", widgets("v1"), { ...widget, metadata: { name }, spec: { text } });
  expect((await send(server, "GET", widgets("v2"))).value.items).toHaveLength(4);
  expect(reviews.map(({ request }) => request.objects.length)).toEqual([4]);
});

test("a webhook behind a service is looked for there", async () => {
  const server = apiServer();
  await define(server, { service: { name: "hook", namespace: "default", path: "/convert" } });
  await send(server, "POST", widgets("v1"), widget);
  expect((await send(server, "GET", `${widgets("v2")}/a`)).value.message).toBe(
    `${FAILED} failed: Post "https://hook.default.svc:443/convert?timeout=30s": service "hook" not found`,
  );
});

test("a webhook that is gone fails what it would have to convert, and nothing else", async () => {
  const { url, close } = await webhookServer();
  const server = apiServer();
  await define(server, { url: `${url}/convert` });
  await send(server, "POST", widgets("v1"), widget);
  expect((await send(server, "GET", widgets("v2"))).status).toBe(200);
  close();
  const { status, value } = await send(server, "GET", widgets("v2"));
  expect([status, value.message]).toEqual([
    500,
    expect.stringMatching(
      /^conversion webhook for example.com\/v1, Kind=Widget failed: Post "https:\/\/localhost:\d+\/convert\?timeout=30s": dial tcp .*: connect: connection refused$/,
    ),
  ]);
  expect((await send(server, "GET", widgets("v1"))).value.items).toHaveLength(1);
});

test("a server that stops waits for no conversion, nor does a watch", async () => {
  const { url, reviews } = await webhookServer();
  const server = apiServer();
  await define(server, { url: `${url}/hang` });
  await send(server, "POST", widgets("v1"), widget);
  const read = send(server, "GET", `${widgets("v2")}/a`);
  const { body } = await server.transport({ method: "GET", path: `${widgets("v2")}?watch=1`, headers: {} });
  if (body.type !== "events") throw new Error("no watch");
  const next = body.events[Symbol.asyncIterator]().next();
  while (reviews.length < 2) await realClock.sleep(1);
  await server.close();
  expect((await read).value.message).toMatch(/context canceled$/);
  expect(await next).toMatchObject({ done: true });
});

test("a client that stops watching waits for no conversion", async () => {
  const { url, reviews } = await webhookServer();
  const server = apiServer();
  await define(server, { url: `${url}/hang` });
  await send(server, "POST", widgets("v1"), widget);
  const gone = new AbortController();
  const { signal } = gone;
  const { body } = await server.transport({ method: "GET", path: `${widgets("v2")}?watch=1`, headers: {}, signal });
  if (body.type !== "events") throw new Error("no watch");
  const next = body.events[Symbol.asyncIterator]().next();
  while (reviews.length < 1) await realClock.sleep(1);
  gone.abort();
  expect(await next).toMatchObject({ done: true });
});

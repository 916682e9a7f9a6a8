import { expect, test } from "vitest";
import type { KubernetesObject } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import type { ApiRequest } from "@kubewright/transport";

import { cpuMs } from "../../test/cpu-time.js";
import { type ApiServer, createApiServer } from "../api-server.js";
import type { StoreSnapshot } from "../storage/store.js";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | readonly string[]>;
  readonly value: KubernetesObject & {
    message: string;
    spec: object;
    status: { conditions: { type: string; status: string }[] };
  };
}

async function define(): Promise<{
  clock: SimulatedClock;
  server: ApiServer;
  send: (method: ApiRequest["method"], path: string, value?: unknown, contentType?: string) => Promise<Answer>;
}> {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true });
  const send = async (
    method: ApiRequest["method"],
    path: string,
    value?: unknown,
    contentType = "application/json",
  ): Promise<Answer> => {
    const { status, headers, body } = await server.transport({
      method,
      path,
      headers: { "content-type": contentType },
      ...(value === undefined ? {} : { body: { type: "decoded", value } }),
    });
    return { status, headers, value: (body as { value: Answer["value"] }).value };
  };
  const spec = {
    type: "object",
    properties: {
      size: { type: "integer", minimum: 1 },
      colour: { type: "string", default: "red" },
      word: { type: "string", pattern: "^(a+)+$" },
      name: { type: "string", pattern: "(?i)^[a-z]\\pL{0,1000}\\z" },
      kind: { type: "string", enum: Array.from({ length: 20_000 }, (_, index) => `kind-${index}`) },
      kinds: {
        type: "array",
        items: { type: "string", enum: Array.from({ length: 20_000 }, (_, index) => `kind-${index}`) },
      },
    },
  };
  const version = {
    name: "v1",
    served: true,
    storage: true,
    subresources: { status: {} },
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: { spec, status: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    },
  };
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [version],
    },
  };
  expect((await send("GET", WIDGETS)).status).toBe(404);
  expect((await send("POST", DEFINITIONS, definition)).status).toBe(201);
  await clock.advance(1);
  return { clock, server, send };
}

const widget = (spec: object, metadata: object = {}): object => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name: "w", ...metadata },
  spec,
});

test("a CRD is established, and its objects are pruned, defaulted and validated by its schema", async () => {
  const { send } = await define();
  expect(
    (await send("GET", `${DEFINITIONS}/widgets.example.com`)).value.status.conditions.map(
      ({ type, status }) => `${type}=${status}`,
    ),
  ).toEqual(["NamesAccepted=True", "Established=True"]);
  const created = await send("POST", WIDGETS, widget({ size: 1, unknown: true }));
  expect(created.value).toMatchObject({
    kind: "Widget",
    metadata: { generation: 1 },
    spec: { size: 1, colour: "red" },
  });
  expect(created.value.spec).not.toHaveProperty("unknown");
  expect(created.headers["warning"]).toEqual(['299 - "unknown field \\"spec.unknown\\""']);
  const refused = await send("PATCH", `${WIDGETS}/w`, { spec: { size: 0 } }, "application/merge-patch+json");
  expect(refused.value.message).toBe(
    'Widget.example.com "w" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
  );
});

test("a pattern has Go's syntax and takes time linear in the text", async () => {
  const { send } = await define();
  const startedMs = cpuMs();
  const answerTo = async (fields: object): Promise<string> => {
    const { status, value } = await send("POST", WIDGETS, widget(fields, { name: `w-${Object.keys(fields)[0]}` }));
    return status === 201 ? "created" : value.message.slice(-80);
  };
  expect(await answerTo({ word: "a".repeat(100_000) })).toBe("created");
  expect(await answerTo({ word: `${"a".repeat(40)}!` })).toMatch(/spec\.word in body should match '\^\(a\+\)\+\$'$/);
  expect(await answerTo({ word: `${"a".repeat(1_000_000)}!` })).toMatch(/should match '\^\(a\+\)\+\$'$/);
  expect(await answerTo({ name: "Äh" })).toMatch(/spec\.name in body should match/);
  expect(await answerTo({ name: "Zäh" })).toBe("created");
  expect(await answerTo({ name: "x".repeat(1_000_000) })).toMatch(
    /spec\.name in body is too long to be matched with '/,
  );
  // A backtracking engine alone would take hours.
  expect(cpuMs() - startedMs).toBeLessThan(20_000);
});

test("a large enum is checked by lookup, not by comparing each value", async () => {
  const { send } = await define();
  const kinds = Array.from({ length: 50_000 }, (_, index) => `kind-${index % 20_000}`);
  const startedMs = cpuMs();
  expect((await send("POST", WIDGETS, widget({ kind: "kind-19999", kinds }))).status).toBe(201);
  const wrong = await send("POST", WIDGETS, widget({ kinds: kinds.map((kind) => `no-${kind}`) }, { name: "x" }));
  expect(wrong.status).toBe(422);
  expect(cpuMs() - startedMs).toBeLessThan(5000);
});

test("a server restored from a snapshot keeps its objects, definitions and resource versions", async () => {
  const { send, server } = await define();
  const { value } = await send("POST", WIDGETS, widget({ size: 1 }));
  const snapshot = JSON.parse(JSON.stringify(server.snapshot())) as StoreSnapshot;
  const restored = createApiServer({ clock: new SimulatedClock(0), random: seededRandom(2), restore: snapshot });
  const answer = await restored.transport({ method: "GET", path: `${WIDGETS}/w`, headers: {} });
  expect(answer.body).toEqual({ type: "decoded", value });
  expect(restored.resourceVersion).toBe(server.resourceVersion);
});

test("with a status subresource, status has a separate endpoint and does not bump the generation", async () => {
  const { send } = await define();
  await send("POST", WIDGETS, { ...widget({ size: 1 }), status: { ready: true } });
  const merge = "application/merge-patch+json";
  expect((await send("PATCH", `${WIDGETS}/w`, { status: { ready: true } }, merge)).value.status).toBeUndefined();
  const patched = await send("PATCH", `${WIDGETS}/w/status`, { spec: { size: 5 }, status: { ready: true } }, merge);
  expect(patched.value).toMatchObject({ metadata: { generation: 1 }, spec: { size: 1 }, status: { ready: true } });
});

test("a deleted CRD refuses creates, waits for its objects, and is then removed with its endpoint", async () => {
  const { clock, send } = await define();
  await send("POST", WIDGETS, widget({}, { finalizers: ["example.com/hold"] }));
  await send("DELETE", `${DEFINITIONS}/widgets.example.com`);
  await clock.advance(1);
  expect((await send("POST", WIDGETS, widget({}, { name: "late" }))).value.message).toBe(
    'widgets.example.com "late" is forbidden: create not allowed while custom resource definition is terminating',
  );
  await send("PATCH", `${WIDGETS}/w`, { metadata: { finalizers: null } }, "application/merge-patch+json");
  await clock.advance(1);
  expect((await send("GET", `${DEFINITIONS}/widgets.example.com`)).status).toBe(404);
  expect((await send("GET", WIDGETS)).status).toBe(404);
});

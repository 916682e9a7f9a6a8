import { expect, onTestFinished, test } from "vitest";
import type { Status } from "@kubewright/api";
import { SimulatedClock, realClock, seededRandom } from "@kubewright/clock";
import type { ApiRequest, RequestBody } from "@kubewright/transport";

import { type ApiServer, createApiServer } from "../src/index.js";
import { MAX_NESTING } from "../src/nesting.js";
import { listen } from "../src/http/listen.js";
import { widgetDefinition } from "./request-mutator.js";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const FAR_TOO_DEEP = 100_000;
/** No transport accepts a decoded body with more than 1,000 levels. */
const TOO_DEEP_DECODED = 900;

const kinds = ["object", "list"] as const;
type Kind = (typeof kinds)[number];

/** Returns JSON with the given number of nested objects or lists. */
function nested(levels: number, kind: Kind = "object"): string {
  return kind === "list"
    ? "[".repeat(levels) + "]".repeat(levels)
    : `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;
}

/** Returns the JSON of a widget with the given total nesting. */
function widget(levels: number, kind: Kind = "object", name = "w"): string {
  const anything = kind === "list" ? `{"a":${nested(levels - 3, kind)}}` : nested(levels - 2, kind);
  return `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"${name}"},"spec":{"anything":${anything}}}`;
}

const bytes = (text: string): RequestBody => ({ type: "bytes", bytes: new TextEncoder().encode(text) });

interface Setting {
  readonly server: ApiServer;
  readonly failures: unknown[];
  readonly send: (
    method: ApiRequest["method"],
    path: string,
    body?: RequestBody,
    contentType?: string,
  ) => Promise<{ status: number; value: Status & { spec?: unknown } }>;
}

async function setUp(): Promise<Setting> {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const failures: unknown[] = [];
  const server = createApiServer({
    clock,
    random: seededRandom(1),
    freeze: true,
    onError: (error) => failures.push(error),
  });
  const send: Setting["send"] = async (method, path, body, contentType = "application/json") => {
    const response = await server.transport({
      method,
      path,
      headers: { "content-type": contentType },
      ...(body === undefined ? {} : { body }),
    });
    return { status: response.status, value: (response.body as { value: Status }).value };
  };
  await send("POST", DEFINITIONS, { type: "decoded", value: widgetDefinition });
  await clock.advance(1);
  return { server, failures, send };
}

const blockMap = (levels: number): string => {
  let text = "";
  for (let level = 0; level < levels; level++) text += `${" ".repeat(level)}a:\n`;
  return text;
};

const yamlHead = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n";

test.each<[string, string, string, RequestBody]>([
  ["objects", WIDGETS, "application/json", bytes(widget(FAR_TOO_DEEP))],
  ["lists", WIDGETS, "application/json", bytes(widget(FAR_TOO_DEEP, "list"))],
  ["one level too many", WIDGETS, "application/json", bytes(widget(MAX_NESTING + 1))],
  ["one level too many, decoded", WIDGETS, "application/json", decoded(widget(MAX_NESTING + 1))],
  ["decoded objects", WIDGETS, "application/json", decoded(widget(TOO_DEEP_DECODED))],
  ["decoded lists", WIDGETS, "application/json", decoded(widget(TOO_DEEP_DECODED, "list"))],
  ["a decoded object without a kind", WIDGETS, "application/json", decoded(nested(TOO_DEEP_DECODED))],
  ["a decoded list", WIDGETS, "application/json", decoded(nested(TOO_DEEP_DECODED, "list"))],
  ["flow objects in YAML", WIDGETS, "application/yaml", bytes(`${yamlHead}spec: {anything: ${"{a: ".repeat(50_000)}`)],
  ["flow lists in YAML", WIDGETS, "application/yaml", bytes(`${yamlHead}spec: ${"[".repeat(FAR_TOO_DEEP)}`)],
  ["block lists in YAML", WIDGETS, "application/yaml", bytes(`${yamlHead}spec:\n ${"- ".repeat(FAR_TOO_DEEP)}a`)],
  ["block maps in YAML", WIDGETS, "application/yaml", bytes(blockMap(2000))],
  ["JSON in YAML", WIDGETS, "application/yaml", bytes(widget(FAR_TOO_DEEP))],
  ["one level too many in YAML", WIDGETS, "application/yaml", bytes(` # \n${widget(MAX_NESTING + 1)}`)],
  ["an alias of what it is in", WIDGETS, "application/yaml", bytes(`${yamlHead}spec: {anything: &a {a: *a}}`)],
  ["a built-in kind", CONFIG_MAPS, "application/json", bytes(`{"metadata":${nested(FAR_TOO_DEEP)}}`)],
  ["a field that no type has", CONFIG_MAPS, "application/json", bytes(`{"metadata":{"name":"a"},"x":${nested(1000)}}`)],
  ["fields' managers", CONFIG_MAPS, "application/json", managed(FAR_TOO_DEEP)],
  ["a schema", DEFINITIONS, "application/json", schema(1000)],
  ["a schema's default", DEFINITIONS, "application/json", defaulted(1000)],
  ["an object to be evicted", "/api/v1/namespaces/default/pods/p/eviction", "application/json", bytes(nested(1000))],
])("what is nested too deeply is refused: %s", async (_what, path, contentType, body) => {
  const { send, failures, server } = await setUp();
  const version = server.resourceVersion;
  const { status, value } = await send("POST", path, body, contentType);
  expect({ status, reason: value.reason }).toEqual({ status: 400, reason: "BadRequest" });
  expect(value.message!.length).toBeLessThan(400);
  expect(failures).toEqual([]);
  expect(server.resourceVersion).toBe(version);
});

test("it is said as upstream says it", async () => {
  const { send } = await setUp();
  const messageOf = async (body: RequestBody, contentType?: string): Promise<string | undefined> =>
    (await send("POST", WIDGETS, body, contentType)).value.message;
  const summary = `({"apiVersion":"example.com/v1" ...)`;
  expect(await messageOf(bytes(widget(FAR_TOO_DEEP)))).toBe(
    `the object provided is unrecognized (must be of type Widget): couldn't get version/kind; json parse error: exceeded max depth ${summary}`,
  );
  expect(await messageOf(bytes(widget(FAR_TOO_DEEP)), "application/yaml")).toBe(
    `the object provided is unrecognized (must be of type Widget): yaml: line 1: exceeded max depth of 500 ${summary}`,
  );
  expect(await messageOf(decoded(widget(TOO_DEEP_DECODED)))).toBe(
    'Widget in version "v1" cannot be handled as a Widget: exceeded max depth',
  );
});

test.each<[string, string, (levels: number) => string, number]>([
  ["a merge patch", "application/merge-patch+json", (levels) => `{"spec":{"anything":${nested(levels)}}}`, 400],
  ["an apply patch", "application/apply-patch+yaml", (levels) => widget(levels), 400],
  ["an apply patch in YAML", "application/apply-patch+yaml", (levels) => `${yamlHead}spec: ${"[".repeat(levels)}`, 400],
  [
    "a value of a JSON patch",
    "application/json-patch+json",
    (levels) => addition("/spec/anything", nested(levels)),
    400,
  ],
  ["what a JSON patch makes of permitted values", "application/json-patch+json", () => stacked(400, 2), 422],
  ["what a JSON patch moves into one another", "application/json-patch+json", () => moved(100), 422],
  ["what a JSON patch copies into itself", "application/json-patch+json", () => copied(16), 422],
  ["a path of a JSON patch", "application/json-patch+json", (levels) => addition("/spec".repeat(levels), "1"), 422],
])("a patch makes nothing too deep: %s", async (_what, contentType, patch, code) => {
  const { send, server, failures } = await setUp();
  await send("POST", WIDGETS, bytes(widget(4)));
  const version = server.resourceVersion;
  const decodedBodies = contentType.endsWith("yaml") ? [] : [decoded(patch(TOO_DEEP_DECODED))];
  for (const body of [bytes(patch(FAR_TOO_DEEP)), ...decodedBodies]) {
    const { status, value } = await send("PATCH", `${WIDGETS}/w?fieldManager=me`, body, contentType);
    expect(status).toBe(code);
    expect(value.message!.length).toBeLessThan(400);
  }
  expect(failures).toEqual([]);
  expect(server.resourceVersion).toBe(version);
});

test("a strategic merge patch makes nothing too deep", async () => {
  const { send, failures } = await setUp();
  await send("POST", CONFIG_MAPS, bytes('{"metadata":{"name":"a"}}'));
  const type = "application/strategic-merge-patch+json";
  const managedFields = `{"metadata":{"managedFields":[{"fieldsV1":${nested(TOO_DEEP_DECODED)}}]}}`;
  for (const body of [
    bytes(nested(FAR_TOO_DEEP)),
    decoded(nested(TOO_DEEP_DECODED)),
    bytes(managedFields),
    decoded(managedFields),
  ])
    expect((await send("PATCH", `${CONFIG_MAPS}/a`, body, type)).status).toBe(400);
  expect(failures).toEqual([]);
});

test.each(kinds)("what is nested as deeply as may be goes everywhere: %s", async (kind) => {
  const failures: unknown[] = [];
  const onError = (error: unknown): unknown => failures.push(error);
  const server = createApiServer({ clock: realClock, random: seededRandom(1), freeze: true, onError });
  onTestFinished(() => server.close());
  const { url } = await listen(server);
  const send = (method: string, path: string, body?: string, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body }),
    });
  expect((await send("POST", DEFINITIONS, JSON.stringify(widgetDefinition))).status).toBe(201);
  await expect.poll(async () => (await send("GET", WIDGETS)).status).toBe(200);
  const stop = new AbortController();
  const watch = await fetch(`${url}${WIDGETS}?watch=1`, { signal: stop.signal });
  const text = widget(MAX_NESTING, kind);
  expect(JSON.parse(text)).toBeDefined();
  expect((await send("POST", WIDGETS, text)).status).toBe(201);
  const yaml = { "content-type": "application/yaml" };
  expect((await send("POST", WIDGETS, ` # \n${widget(MAX_NESTING, kind, "yaml")}`, yaml)).status).toBe(201);
  const patch = (type: string, body: string): Promise<Response> =>
    send("PATCH", `${WIDGETS}/w?fieldManager=me`, body, { "content-type": type });
  expect((await patch("application/apply-patch+yaml", text)).status).toBe(200);
  expect((await patch("application/merge-patch+json", `{"metadata":{"labels":{"a":"b"}},"spec":null}`)).status).toBe(
    200,
  );
  const specOf = (whole: string): string => whole.slice(whole.indexOf('"spec":') + 7, -1);
  expect((await patch("application/json-patch+json", addition("/spec", specOf(text)))).status).toBe(200);
  expect((await patch("application/merge-patch+json", `{"spec":${specOf(text)}}`)).status).toBe(200);
  for (const accept of [
    "application/json",
    "application/yaml",
    "application/json;as=Table;g=meta.k8s.io;v=v1",
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
  ]) {
    const answer = await send("GET", `${WIDGETS}?includeObject=Object&pretty=true`, undefined, { accept });
    expect({ accept, status: answer.status }).toEqual({ accept, status: 200 });
    expect((await answer.text()).length).toBeGreaterThan(500);
  }
  const current = (await (await send("GET", `${WIDGETS}/w`)).json()) as { metadata: object };
  expect((await send("PUT", `${WIDGETS}/w`, JSON.stringify(current))).status).toBe(200);
  const { value } = await watch.body!.getReader().read();
  expect(new TextDecoder().decode(value)).toContain('"ADDED"');
  stop.abort();
  const restore = JSON.parse(JSON.stringify(server.snapshot())) as ReturnType<ApiServer["snapshot"]>;
  const restored = createApiServer({ clock: realClock, random: seededRandom(1), freeze: true, restore });
  onTestFinished(() => restored.close());
  expect(restored.snapshot()).toEqual(server.snapshot());
  expect((await send("DELETE", WIDGETS)).status).toBe(200);
  expect(failures).toEqual([]);
});

function decoded(text: string): RequestBody {
  return { type: "decoded", value: JSON.parse(text) as unknown };
}

function managed(levels: number): RequestBody {
  return bytes(`{"metadata":{"name":"a","managedFields":[{"manager":"m","fieldsV1":${nested(levels)}}]}}`);
}

/** Returns the definition with another schema for `spec`. */
function withSpec(spec: string): RequestBody {
  const text = JSON.stringify({ ...widgetDefinition, metadata: { name: "x" } });
  return bytes(text.replace('"spec":{"type":"object"', `"deep":${spec},$&`));
}

function schema(levels: number): RequestBody {
  return withSpec(`${'{"type":"object","properties":{"a":'.repeat(levels)}{"type":"object"}${"}}".repeat(levels)}`);
}

function defaulted(levels: number): RequestBody {
  return withSpec(`{"type":"object","default":${nested(levels)}}`);
}

function addition(path: string, value: string): string {
  return `[{"op":"add","path":"${path}","value":${value}}]`;
}

/** Returns a patch that adds values, each inside the previous one. */
function stacked(levels: number, times: number): string {
  const operations: string[] = [];
  for (let time = 0; time < times; time++)
    operations.push(addition(`/spec/anything${"/a".repeat(time * levels)}`, nested(levels)).slice(1, -1));
  return `[${operations.join(",")}]`;
}

/** Returns a patch that moves each value to the bottom of a new one. */
function moved(times: number): string {
  const operations = [addition("/spec/anything/deep", nested(400)).slice(1, -1)];
  for (let time = 0; time < times; time++) {
    operations.push(addition("/spec/anything/new", nested(400)).slice(1, -1));
    operations.push(
      `{"op":"move","from":"/spec/anything/deep","path":"/spec/anything/new${"/a".repeat(399)}/b"}`,
      `{"op":"move","from":"/spec/anything/new","path":"/spec/anything/deep"}`,
    );
  }
  return `[${operations.join(",")}]`;
}

/** Returns a patch that repeatedly copies a value into its own bottom, which doubles its depth. */
function copied(times: number): string {
  const operations = [addition("/spec/anything/a", "{}").slice(1, -1)];
  for (let time = 0; time < times; time++)
    operations.push(
      `{"op":"copy","from":"/spec/anything","path":"/spec/anything${"/a".repeat(Math.min(2 ** time, 400))}"}`,
    );
  return `[${operations.join(",")}]`;
}

import { Agent, request as httpRequest } from "node:http";

import { expect, test } from "vitest";
import type { KubernetesObject, Status } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import type { ApiRequest } from "@kubewright/transport";

import { type ApiServer, createApiServer } from "../src/index.js";
import { listen } from "../src/http/listen.js";
import { type DraftRequest, RequestMutator, widgetDefinition } from "./request-mutator.js";

const HEAVY = process.env["KUBEWRIGHT_HEAVY"] === "1";
const REQUESTS = HEAVY ? 100_000 : 10_000;
const HTTP_REQUESTS = HEAVY ? 10_000 : 1_000;

/**
 * Errors that the reference answers with code 500 and no reason: see reference sections 6.1, 7.6, 8.1, 8.4, 8.6.2 and
 * 9.8.
 */
const PLAIN_ERRORS = [
  /^resourceVersion should not be set on objects to be created$/,
  /^(resourceVersion: Invalid value: .*: )?strconv\.ParseUint: parsing ".*": (invalid syntax|value out of range)$/s,
  /^failed to create typed patch object /,
  /does not contain declared merge key: /,
  /^unknown patch type: /,
  /^expected a map in the list merged by /,
  /^The order in patch list:/,
  /^target\.(kind|name): /,
];

/** Creates a server with a definition and some namespaces, and collects its internal failures. */
async function setUp(seed: number): Promise<{ server: ApiServer; clock: SimulatedClock; failures: unknown[] }> {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const failures: unknown[] = [];
  const server = createApiServer({
    clock,
    random: seededRandom(seed),
    freeze: true,
    onError: (error) => failures.push(error),
  });
  const create = (path: string, value: unknown) =>
    server.transport({ method: "POST", path, headers: {}, body: { type: "decoded", value } });
  await create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", widgetDefinition);
  for (const name of ["other", "doomed"]) await create("/api/v1/namespaces", { metadata: { name } });
  await create("/api/v1/nodes", { metadata: { name: "node-1" } });
  await clock.advance(0);
  return { server, clock, failures };
}

/** Returns all problems of a response as texts. */
function problemsOf(status: number, value: unknown): string[] {
  if (typeof value === "string")
    return status < 300 || [301, 304, 404].includes(status) || value === "400 Bad Request"
      ? []
      : [`text with code ${status}: ${value}`];
  if (typeof value !== "object" || value === null) return [`a body that is ${typeof value}`];
  const { kind, apiVersion } = value as KubernetesObject;
  if (typeof kind !== "string" || (apiVersion === undefined && !["APIVersions", "APIResourceList"].includes(kind)))
    return "paths" in value || "openapi" in value || "gitVersion" in value
      ? []
      : [`no kind or apiVersion: ${JSON.stringify(value).slice(0, 200)}`];
  if (status < 400) return [];
  const error = value as Status;
  if (
    kind !== "Status" ||
    error.status !== "Failure" ||
    error.code !== status ||
    typeof error.message !== "string" ||
    error.message === ""
  )
    return [`no well-formed Status: ${JSON.stringify(value)}`];
  if (status === 500 && !PLAIN_ERRORS.some((pattern) => pattern.test(error.message ?? "")))
    return [`a 500 of its own: ${error.message}`];
  return [];
}

/** The objects of a resource, reconstructed from all its watch events. */
class Replay {
  readonly objects = new Map<string, KubernetesObject>();
  readonly problems: string[] = [];
  #version = 0;

  readonly stop = new AbortController();

  /** Watches, and resumes at the last version when a watch times out. */
  async follow(server: ApiServer, path: string): Promise<void> {
    for (const { signal } = this.stop; !signal.aborted;) {
      const response = await server.transport({
        method: "GET",
        path: `${path}?watch=true&resourceVersion=${this.#version}`,
        headers: {},
        signal,
      });
      if (response.body.type !== "events") throw new Error(`${path} cannot be watched`);
      for await (const event of response.body.events) this.#apply(event as { type: string; object: KubernetesObject });
    }
  }

  #apply({ type, object }: { type: string; object: KubernetesObject }): void {
    if (type === "ERROR") {
      this.problems.push(JSON.stringify(object));
      this.stop.abort();
      return;
    }
    const { metadata } = object;
    const key = `${metadata.namespace ?? ""}/${metadata.name}`;
    const version = Number(metadata.resourceVersion);
    if (type !== "ADDED" && version <= this.#version)
      this.problems.push(`${type} of ${key} at ${version} after ${this.#version}`);
    this.#version = Math.max(this.#version, version);
    const known = this.objects.get(key);
    if ((type === "ADDED") !== (known === undefined))
      this.problems.push(`${type} of ${key}, which was ${known === undefined ? "not " : ""}there`);
    if (type === "MODIFIED" && known?.metadata.uid !== metadata.uid)
      this.problems.push(`MODIFIED of ${key} with another uid`);
    if (type === "DELETED") this.objects.delete(key);
    else this.objects.set(key, object);
  }
}

function requestOf(draft: DraftRequest, bytes: boolean): ApiRequest {
  const { method, path, headers, body, text } = draft;
  const signal = new AbortController();
  const base = { method, path, headers, signal: signal.signal };
  if (text !== undefined) return { ...base, body: { type: "bytes", bytes: new TextEncoder().encode(text) } };
  if (body === undefined) return base;
  // Transports refuse a list element that is `undefined`.
  const json = JSON.stringify(body);
  return bytes
    ? { ...base, body: { type: "bytes", bytes: new TextEncoder().encode(json) } }
    : { ...base, body: { type: "decoded", value: JSON.parse(json) as unknown } };
}

const REPLAYED = {
  "/pods": "/api/v1/pods",
  "/configmaps": "/api/v1/configmaps",
  "/secrets": "/api/v1/secrets",
  "/services": "/api/v1/services",
  "/events": "/api/v1/events",
  "/namespaces": "/api/v1/namespaces",
  "batch/jobs": "/apis/batch/v1/jobs",
  "batch/cronjobs": "/apis/batch/v1/cronjobs",
  "coordination.k8s.io/leases": "/apis/coordination.k8s.io/v1/leases",
  "example.com/widgets": "/apis/example.com/v1/widgets",
} as const;

test(`${REQUESTS} mutated requests never break the server, nor what it promises`, async () => {
  const { server, clock, failures } = await setUp(1);
  const random = seededRandom(7);
  const mutator = new RequestMutator(random.fork("requests"));
  const replays = Object.entries(REPLAYED).map(([key, path]) => ({ key, replay: new Replay(), path }));
  const followed = replays.map(({ replay, path }) => replay.follow(server, path));
  const codes = new Map<number, number>();
  let version = Number(server.resourceVersion);
  for (let index = 0; index < REQUESTS; index++) {
    const draft = mutator.next();
    const stop = new AbortController();
    const asked = server.transport({ ...requestOf(draft, index % 2 === 0), signal: stop.signal });
    const where = (): string => `request ${index}: ${JSON.stringify(draft)}`;
    // A read of a future version waits on the clock.
    const response =
      (await Promise.race([asked, clock.yieldToEventLoop().then(() => undefined)])) ??
      (await Promise.all([asked, clock.advance(60_000)]))[0];
    codes.set(response.status, (codes.get(response.status) ?? 0) + 1);
    if (response.body.type === "decoded") {
      const problems = problemsOf(response.status, response.body.value);
      if (problems.length > 0) throw new Error(`${problems.join("; ")}\n${where()}`);
      const { metadata } = response.body.value as KubernetesObject;
      const got = Number(metadata?.resourceVersion ?? 0);
      if (got > Number(server.resourceVersion))
        throw new Error(`resourceVersion ${got} is ahead of the server\n${where()}`);
    }
    stop.abort();
    if (failures.length > 0) throw new Error(where(), { cause: failures[0] });
    const now = Number(server.resourceVersion);
    if (now < version) throw new Error(`resourceVersion went from ${version} to ${now}\n${where()}`);
    version = now;
    if (index % 500 === 0) await clock.advance(random.next() * 120_000);
  }
  await clock.advance(1000);

  const { objects } = server.snapshot();
  const versions = new Set<string>();
  for (const [key, list] of Object.entries(objects))
    for (const { metadata } of list) {
      expect(metadata, key).toMatchObject({
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: expect.stringMatching(/./),
        creationTimestamp: expect.any(String),
      });
      expect(versions.has(metadata.resourceVersion!), `${key}: ${metadata.resourceVersion} twice`).toBe(false);
      versions.add(metadata.resourceVersion!);
    }
  for (const { key, replay } of replays) {
    expect(replay.problems, key).toEqual([]);
    expect(replay.objects, key).toEqual(
      new Map(
        (objects[key] ?? []).map((object): [string, KubernetesObject] => [
          `${object.metadata.namespace ?? ""}/${object.metadata.name}`,
          object,
        ]),
      ),
    );
    replay.stop.abort();
  }
  await Promise.all(followed);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  // The requests must reach more than the first check.
  for (const code of [200, 201, 400, 404, 405, 409, 415, 422])
    expect(codes.get(code) ?? 0, `answers with ${code}`).toBeGreaterThan(REQUESTS / 1000);
  await server.close();
});

test(`${HTTP_REQUESTS} of them over HTTP`, async () => {
  const { server, clock, failures } = await setUp(2);
  const listener = await listen(server);
  const { port } = listener;
  const mutator = new RequestMutator(seededRandom(8));
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  for (let index = 0; index < HTTP_REQUESTS; index++) {
    const draft = mutator.next();
    const { status, type, text } = await sendHttp(port, agent, draft, clock);
    const where = `request ${index}: ${JSON.stringify(draft)}`;
    if (failures.length > 0) throw new Error(where, { cause: failures[0] });
    if (type.startsWith("application/json") && text !== undefined && text !== "") {
      const problems = problemsOf(status, JSON.parse(text));
      if (problems.length > 0) throw new Error(`${problems.join("; ")}\n${where}`);
    } else if (status >= 500) throw new Error(`${status} ${type} ${text}\n${where}`);
  }
  // The server still works.
  const { status } = await sendHttp(
    port,
    agent,
    { method: "GET", path: "/readyz", headers: {}, body: undefined, text: undefined },
    clock,
  );
  expect(status).toBe(200);
  agent.destroy();
  await listener.close();
  await server.close();
});

interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  /** `undefined` for a stream, which is not read completely. */
  readonly text: string | undefined;
}

function sendHttp(
  port: number,
  agent: Agent,
  { method, path, headers, body, text }: DraftRequest,
  clock: SimulatedClock,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const content = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const sent = httpRequest(
      {
        port,
        agent,
        method,
        path: encodeURI(decodeSafely(path)).replaceAll("\\", "%5C"),
        headers: withoutEmpty(headers),
      },
      (response) => {
        const status = response.statusCode ?? 0;
        const type = response.headers["content-type"] ?? "";
        if (response.headers["transfer-encoding"] === "chunked" && response.headers["content-encoding"] === undefined) {
          resolve({ status, type, text: undefined });
          response.destroy();
          return;
        }
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          clearInterval(timer);
          resolve({
            status,
            type,
            text: response.headers["content-encoding"] === undefined ? Buffer.concat(chunks).toString() : undefined,
          });
        });
        response.on("error", () => {});
      },
    );
    // A read of a future version waits on the clock.
    const timer = setTimeout(() => void clock.advance(60_000), 200);
    sent.on("error", reject);
    sent.on("close", () => clearTimeout(timer));
    sent.end(content);
  });
}

function decodeSafely(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

function withoutEmpty(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ""));
}

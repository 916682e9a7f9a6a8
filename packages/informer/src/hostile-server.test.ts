import { type RequestListener, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

import { type ConfigMap, configMaps } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { realRandom } from "@kubewright/clock";
import { createHttpTransport } from "@kubewright/transport-http";
import { expect, onTestFinished, test } from "vitest";

import { ScaledClock } from "../test/scaled-clock.js";
import { SharedInformer } from "./shared-informer.js";

type Attack = (response: ServerResponse) => unknown;

const MiB = Buffer.alloc(2 ** 20, "x");

/** Writes the same data repeatedly until the client closes the connection. */
function forEver(first: string, then: string | Buffer, code = 200): Attack {
  return (response) => {
    response.writeHead(code).write(first);
    const more = (): void => {
      while (!response.destroyed && response.write(then));
    };
    response.on("drain", more);
    more();
  };
}

const lines =
  (...texts: readonly string[]): Attack =>
  (response) =>
    response.writeHead(200).write(texts.map((text) => `${text}\n`).join(""));
const json =
  (value: unknown): Attack =>
  (response) =>
    response.end(JSON.stringify(value));
const refuse =
  (code: number, text: string, headers = {}): Attack =>
  (response) =>
    response.writeHead(code, headers).end(text);

const object = (name: string, resourceVersion: string): ConfigMap => ({
  kind: "ConfigMap",
  apiVersion: "v1",
  metadata: { namespace: "default", name, resourceVersion },
});
const list = (items: readonly unknown[], metadata: object = {}): object => ({
  kind: "ConfigMapList",
  apiVersion: "v1",
  metadata: { resourceVersion: "10", ...metadata },
  items,
});
const event = (type: string, of: unknown): string => JSON.stringify({ type, object: of });
const deep = (text: string): string => text.replace("DEEP", `${"[".repeat(20_000)}${"]".repeat(20_000)}`);

/**
 * Runs an informer against a server that attacks once and then behaves normally. Resolves with the reported errors when
 * the cache equals the server's state.
 */
async function survive(kind: "list" | "watch", attack: Attack, watchList = false) {
  let attacks = 0;
  let closed = 0;
  const handler: RequestListener = (request, response) => {
    const { searchParams } = new URL(request.url!, "http://server");
    const isWatch = searchParams.get("watch") === "true";
    if (isWatch === (kind === "watch") && attacks === 0) {
      attacks++;
      response.on("close", () => closed++);
      attack(response);
    } else if (isWatch) {
      if (searchParams.get("sendInitialEvents") === "true") response.writeHead(400).end();
      else response.writeHead(200).write(`${event("ADDED", object("after", "11"))}\n`);
    } else json(list([object("before", "9")]))(response);
  };
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const clock = new ScaledClock(20);
  const { transport, close } = createHttpTransport({ server: `http://127.0.0.1:${port}` });
  const errors: string[] = [];
  const informer = new SharedInformer<ConfigMap>({
    client: new Client({ transport, clock }).resource(configMaps),
    clock,
    random: realRandom,
    watchList,
    onError: ({ message }) => void errors.push(message),
  });
  const stop = new AbortController();
  const stopped = informer.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await stopped;
    await close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const names = (): string[] =>
    informer.store
      .list()
      .map(({ metadata }) => metadata.name!)
      .toSorted();
  await expect.poll(names).toEqual(["after", "before"]);
  return { errors, attackEnded: () => closed > 0 };
}

const TOO_LONG = "object to decode was longer than maximum allowed size, 16 MiB";
const good = event("ADDED", object("after", "11"));

test.each<[string, Attack, RegExp]>([
  ["a line without an end", forEver('{"type":"', MiB), new RegExp(`ended: unable to decode an event .*${TOO_LONG}`)],
  ["a line of many small pieces", forEver('{"type":"', MiB.subarray(0, 3000)), new RegExp(TOO_LONG)],
  ["what is not JSON", lines("{oops}"), /unable to decode an event from the watch stream/],
  ["an ERROR that is not a Status", lines(event("ERROR", { a: 1 })), /an ERROR event without a Status: \{"a":1\}/],
  ["an ERROR of nothing", lines('{"type":"ERROR"}'), /an ERROR event without a Status: nothing/],
  ["an ERROR nested deeply", lines(deep('{"type":"ERROR","object":DEEP}')), /without a Status: what cannot be shown/],
  [
    "a Status of wrong types",
    lines(event("ERROR", { kind: "Status", message: 5, reason: {}, details: { causes: 5 } })),
    /watch of configmaps ended/,
  ],
  [
    "what is packed",
    (response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(MiB)),
    /the answer is encoded as "gzip", which was not asked for/,
  ],
  [
    "headers without an end",
    (response) => response.writeHead(200, { "x-long": MiB.toString() }).end(),
    /Headers Overflow/,
  ],
  ["a refusal without an end", forEver("no", MiB, 403), /failed to watch configmaps: nox+ \(get configmaps\)$/],
  [
    "a refusal of wrong types",
    refuse(403, '{"kind":"Status","message":[],"details":{"causes":[null]}}'),
    /failed to watch configmaps: the server answered 403/,
  ],
])("%s instead of a watch: reported once, and the informer continues", async (_, attack, message) => {
  const { errors, attackEnded } = await survive("watch", attack);
  expect(errors).toEqual([expect.stringMatching(message)]);
  await expect.poll(attackEnded).toBe(true);
});

test.each<[string, string, RegExp]>([
  ["of an unknown type", event("RENAMED", object("before", "12")), /unable to understand watch event "RENAMED"/],
  ["without a type", '{"object":{"metadata":{"name":"x"}}}', /unable to understand watch event nothing/],
  ["of no object", '{"type":"ADDED"}', /expected a ConfigMap, got nothing/],
  ["that is null", "null", /expected a ConfigMap, got nothing/],
  ["that is a number", "5", /expected a ConfigMap, got nothing/],
  ["of another kind", event("ADDED", { kind: "Secret", metadata: {} }), /expected a ConfigMap, got a Secret/],
  [
    "of a version that is no text",
    event("ADDED", { metadata: { name: "x", resourceVersion: {} } }),
    /expected a ConfigMap, got/,
  ],
  ["nested deeply", deep('{"type":"ADDED","object":{"data":DEEP}}'), /expected a ConfigMap, got what cannot be shown/],
])("an event %s is reported once and skipped, and the watch continues", async (_, bad, message) => {
  const { errors, attackEnded } = await survive("watch", lines(bad, good));
  expect(errors).toEqual([expect.stringMatching(message)]);
  expect(attackEnded()).toBe(false);
});

test("an object nested deeply is kept like any other", async () => {
  const nested = deep(
    '{"type":"ADDED","object":{"metadata":{"name":"after","namespace":"default","resourceVersion":"11"},"data":DEEP}}',
  );
  expect((await survive("watch", lines(nested))).errors).toEqual([]);
});

test.each<[string, Attack, RegExp]>([
  [
    "an item without an end",
    forEver('{"items":[{"a":"', MiB),
    /an item of the list is longer than 16 MiB, the most that is read/,
  ],
  ["metadata without an end", forEver('{"metadata":{"a":"', MiB), /the list, without its items, is longer than 16 MiB/],
  [
    "items that are none, without an end",
    forEver('{"items":[1', ",1".repeat(2 ** 18)),
    /the list, without its items, is longer/,
  ],
  ["no list", json({ kind: "Status", status: "Success" }), /the answer is not a list/],
  [
    "a failure that is sent as a success",
    json({ kind: "Status", message: "really not" }),
    /failed to list configmaps: really not/,
  ],
  [
    "a list nested deeply",
    (response) => response.end(deep('{"a":DEEP}')),
    /the answer is not a list: what cannot be shown/,
  ],
  ["items that are null", json(list([null])), /failed to take in the list of configmaps/],
  ["items that are lists", json(list([[]])), /failed to take in the list of configmaps/],
  [
    "half a list",
    (response) => response.writeHead(200, { "content-length": 1000 }).write('{"items":[{}', () => response.destroy()),
    /failed to list configmaps: GET /,
  ],
  ["an empty answer", refuse(200, ""), /0-length response with status code: 200/],
  [
    "what is packed",
    (response) => response.writeHead(200, { "content-encoding": "br" }).end(MiB),
    /is encoded as "br"/,
  ],
  ["a page for people", refuse(502, "<html>"), /an error on the server \("<html>"\) has prevented/],
])("%s instead of a list: reported once, and the informer continues", async (_, attack, message) => {
  const { errors, attackEnded } = await survive("list", attack);
  expect(errors).toEqual([expect.stringMatching(message)]);
  await expect.poll(attackEnded).toBe(true);
});

test("a streamed list with a line without an end is listed instead", async () => {
  const { errors, attackEnded } = await survive("watch", forEver('{"type":"', MiB), true);
  expect(errors).toEqual([]);
  await expect.poll(attackEnded).toBe(true);
});

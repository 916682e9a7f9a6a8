import { expect, test } from "vitest";
import { type KubernetesObject, fnv1a64, formatHash, formatShardSelector, namespaceShard } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";

import { type ApiServer, createApiServer } from "./api-server.js";
import type { ApiServerOptions } from "./api-server-options.js";

const UID = "object.metadata.uid";
const ZERO = "0x0000000000000000";
const HALF = "0x8000000000000000";
const END = "0x10000000000000000";

interface Answer {
  readonly code: number;
  readonly value: {
    readonly metadata: Record<string, unknown>;
    readonly items: readonly KubernetesObject[];
    readonly [member: string]: unknown;
  };
}

interface Event {
  readonly type: string;
  readonly object: KubernetesObject;
}

function setUp(options: Partial<ApiServerOptions> = {}) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({
    clock,
    random: seededRandom(1),
    freeze: true,
    featureGates: { ShardedListAndWatch: true },
    ...options,
  });
  return { clock, server, send: sender(server) };
}

function sender({ transport }: ApiServer) {
  return async (
    method: "GET" | "POST" | "PUT" | "DELETE",
    path: string,
    body?: object,
    accept = "application/json",
  ) => {
    const response = await transport({
      method,
      path,
      headers: { accept, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: { type: "decoded" as const, value: body } }),
    });
    if (response.body.type !== "decoded") throw new Error(`${path} answered with ${response.body.type}`);
    return { code: response.status, value: response.body.value } as Answer;
  };
}

/** Opens a watch. Returns a list that grows with the type and name of each event. */
async function openWatch(server: ApiServer, path: string) {
  const response = await server.transport({ method: "GET", path, headers: {} });
  if (response.body.type !== "events") throw new Error(`the watch was refused: ${JSON.stringify(response.body)}`);
  const received: string[] = [];
  const events = response.body.events as AsyncIterable<Event>;
  void (async () => {
    for await (const { type, object } of events) received.push(`${type} ${object.metadata.name ?? ""}`.trim());
  })();
  return received;
}

type Send = ReturnType<typeof sender>;

async function createConfigMaps(send: Send, namespace: string, names: readonly string[]): Promise<KubernetesObject[]> {
  const created: KubernetesObject[] = [];
  for (const name of names) {
    const { value } = await send("POST", `/api/v1/namespaces/${namespace}/configmaps`, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name },
    });
    created.push(value);
  }
  return created;
}

const range = (key: string, start: string, end: string): string => `shardRange(${key}, '${start}', '${end}')`;
const selected = (path: string, selector: string): string =>
  `${path}${path.includes("?") ? "&" : "?"}shardSelector=${encodeURIComponent(selector)}`;
const uidHash = ({ metadata }: KubernetesObject): string => formatHash(fnv1a64(metadata.uid ?? ""));
const names = (items: readonly KubernetesObject[]): (string | undefined)[] =>
  items.map(({ metadata }) => metadata.name);
const MAPS = "/api/v1/namespaces/default/configmaps";
const TEN = Array.from({ length: 10 }, (_, index) => `m${index}`);

test("a list has the objects whose hash is in a range, and says so in the selector's canonical form", async () => {
  const { send } = setUp();
  const all = await createConfigMaps(send, "default", TEN);
  const lower = all.filter((object) => uidHash(object) < HALF);
  expect(lower.length).toBeGreaterThan(1);
  expect(lower.length).toBeLessThan(9);
  const sent = `( shardRange(object.metadata.uid,"${ZERO}" ,'${HALF}'))`;
  const { value } = await send("GET", selected(MAPS, sent));
  expect(value.metadata["shardInfo"]).toEqual({ selector: range(UID, ZERO, HALF) });
  expect(names(value.items)).toEqual(names(lower));
  const rest = await send("GET", selected(MAPS, range(UID, HALF, END)));
  expect(names(rest.value.items)).toEqual(names(all.filter((object) => !lower.includes(object))));
  expect(rest.value.metadata["resourceVersion"]).toBe(value.metadata["resourceVersion"]);
});

test("ranges are joined by ||, each as it was sent; an object in two of them is listed once", async () => {
  const { send } = setUp();
  await createConfigMaps(send, "default", TEN);
  const both = `${range(UID, ZERO, HALF)}||${range(UID, HALF, END)} || (x.shardRange(${UID}, '${ZERO}', '${END}'))`;
  const { value } = await send("GET", selected(MAPS, both));
  expect(names(value.items)).toEqual(TEN);
  expect(value.metadata["shardInfo"]).toEqual({
    selector: `${range(UID, ZERO, HALF)} || ${range(UID, HALF, END)} || ${range(UID, ZERO, END)}`,
  });
});

test("objects of a namespace are chosen by its hash, and those of none by that of the empty text", async () => {
  const { send } = setUp();
  for (const name of ["ns-a", "ns-b"]) {
    await send("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await createConfigMaps(send, name, [`in-${name}`]);
  }
  const selector = formatShardSelector(namespaceShard(["ns-a"]));
  expect(names((await send("GET", selected("/api/v1/configmaps", selector))).value.items)).toEqual(["in-ns-a"]);
  expect((await send("GET", selected("/api/v1/namespaces", selector))).value.items).toEqual([]);
  const clusterScoped = formatShardSelector(namespaceShard([""]));
  expect(names((await send("GET", selected("/api/v1/namespaces", clusterScoped))).value.items)).toContain("ns-a");
});

test("a thousand ranges are taken", async () => {
  const { send } = setUp();
  const many = Array.from({ length: 1200 }, (_, index) => {
    const digits = (index: number): string => `0x${index.toString(16).padStart(4, "0")}000000000000`;
    return `shardRange(${UID},'${digits(index)}','${digits(index + 1)}')`;
  }).join("||");
  expect((await send("GET", selected(MAPS, many))).code).toBe(200);
});

const call = (...args: readonly string[]): string => `shardRange(${args.join(", ")})`;
const from = (start: string): string => call(UID, start, `'${END}'`);
const to = (end: string): string => call(UID, `'${ZERO}'`, end);

test.each([
  ["  ", "empty shard selector is not allowed; omit the parameter for unfiltered lists"],
  [from("'0x0'"), 'hexStart must be a 0x-prefixed 16-digit hex value, got "0x0" (did you mean "0x0000000000000000"?)'],
  [to("'0xFFFFFFFFFFFFFFFF'"), 'hexEnd: invalid hex character "F" in "0xFFFFFFFFFFFFFFFF"'],
  [from("'0000000000000000'"), `hexStart must have '0x' prefix, got "0000000000000000"`],
  [from("'0x'"), "hexStart: hex value is required after '0x'"],
  [
    to("'0x10000000000000001'"),
    `hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got "0x10000000000000001"`,
  ],
  [to("'0x100000000000000000'"), 'hexEnd: hex value too long (18 chars, max 17): "100000000000000000"'],
  [call(UID, `'${HALF}'`, `'${HALF}'`), `shard range start ${HALF} must be less than end ${HALF}`],
  [from("0"), "hexStart must be a string literal, got int64"],
  [from("f('0x')"), "hexStart must be a string literal (e.g. '0xff'), got expression kind 1"],
  [call(UID, `'${ZERO}'`), "shardRange() requires exactly 3 arguments, got 2"],
  [
    range("object.metadata.name", ZERO, HALF),
    'unsupported field path "object.metadata.name"; supported: object.metadata.uid, object.metadata.namespace',
  ],
  [
    range("metadata.uid", ZERO, HALF),
    'unsupported field path "metadata.uid"; supported: object.metadata.uid, object.metadata.namespace',
  ],
  [
    range("'object.metadata.uid'", ZERO, HALF),
    "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 5",
  ],
  [
    range("object.metadata['uid']", ZERO, HALF),
    "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 1",
  ],
  [
    `${range(UID, ZERO, HALF)} || ${range("object.metadata.namespace", ZERO, HALF)}`,
    'all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"',
  ],
  ["foo(1)", 'unsupported function "foo"; only shardRange() and || are allowed'],
  ["has(object.metadata)", 'unsupported function "has"; only shardRange() and || are allowed'],
  ["a && b", 'unsupported function "_&&_"; only shardRange() and || are allowed'],
  [`!${from(`'${ZERO}'`)}`, 'unsupported function "!_"; only shardRange() and || are allowed'],
  ["a > b", 'unsupported function "_>_"; only shardRange() and || are allowed'],
  ["true", "unexpected expression kind 5; expected shardRange() call or || operator"],
  [UID, "unexpected expression kind 7; expected shardRange() call or || operator"],
  ["bad", "unexpected expression kind 3; expected shardRange() call or || operator"],
  [`shardRange(${UID}`, "CEL parse error: Syntax error: missing ')' at '<EOF>'"],
  [" ".repeat(101_995) + "x", "CEL parse error: expression code point size exceeds limit: size: 101996, limit 100000"],
])(
  "%.60s is refused in upstream's words with 500 and no reason, by lists, watches and deletions",
  async (sent, why) => {
    const { send } = setUp();
    const refusal = {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `invalid shard selector: ${why}`,
      code: 500,
    };
    for (const [method, path] of [
      ["GET", MAPS],
      ["GET", `${MAPS}?watch=1`],
      ["DELETE", MAPS],
    ] as const) {
      const { code, value } = await send(method, selected(path, sent));
      expect({ code, value }).toEqual({ code: 500, value: refusal });
    }
  },
);

test("an empty selector is none, the first of two counts, and one object is got whatever the selector", async () => {
  const { send } = setUp();
  await createConfigMaps(send, "default", ["a"]);
  const { value } = await send("GET", `${MAPS}?shardSelector=`);
  expect(value.items).toHaveLength(1);
  expect(value.metadata).not.toHaveProperty("shardInfo");
  const twice = `${selected(MAPS, range(UID, ZERO, END))}&shardSelector=bad`;
  expect((await send("GET", twice)).code).toBe(200);
  expect((await send("GET", `${MAPS}/a?shardSelector=bad`)).code).toBe(200);
});

test("pages are filled with what matches and each says its shard; what remains is counted of all shards; the token holds no selector", async () => {
  const { send } = setUp();
  const all = await createConfigMaps(send, "default", TEN);
  const lower = names(all.filter((object) => uidHash(object) < HALF));
  const first = (await send("GET", selected(`${MAPS}?limit=2`, range(UID, ZERO, HALF)))).value;
  expect(names(first.items)).toEqual(lower.slice(0, 2));
  expect(first.metadata["remainingItemCount"]).toBe(TEN.length - 1 - TEN.indexOf(lower[1]!));
  const token = String(first.metadata["continue"]);
  const second = (await send("GET", selected(`${MAPS}?limit=2&continue=${token}`, range(UID, ZERO, HALF)))).value;
  expect(names(second.items)).toEqual(lower.slice(2, 4));
  expect(second.metadata["shardInfo"]).toEqual({ selector: range(UID, ZERO, HALF) });
  const without = (await send("GET", `${MAPS}?continue=${token}`)).value;
  expect(names(without.items)).toEqual(TEN.slice(TEN.indexOf(lower[1]!) + 1));
  const labelled = await send("GET", selected(`${MAPS}?limit=1&labelSelector=!a`, range(UID, ZERO, HALF)));
  expect(labelled.value.metadata).not.toHaveProperty("remainingItemCount");
});

test("other selectors hold as well, and versions are as without", async () => {
  const { send } = setUp();
  const all = await createConfigMaps(send, "default", TEN);
  const foreign = all.find((object) => uidHash(object) >= HALF)!;
  const path = `${MAPS}?fieldSelector=metadata.name=${foreign.metadata.name}`;
  const { value } = await send("GET", selected(path, range(UID, ZERO, HALF)));
  expect(value.items).toEqual([]);
  expect(value.metadata).toHaveProperty("shardInfo");
  const first = all[0]!.metadata.resourceVersion;
  const old = `${MAPS}?resourceVersion=${first}&resourceVersionMatch=Exact`;
  expect(names((await send("GET", selected(old, range(UID, ZERO, END)))).value.items)).toEqual(["m0"]);
  const any = await send("GET", selected(`${MAPS}?resourceVersion=0&limit=1`, range(UID, ZERO, END)));
  expect(any.value.items).toHaveLength(TEN.length);
});

test.each(["Table", "PartialObjectMetadataList"])("a list as %s is filtered, and does not say so", async (as) => {
  const { send } = setUp();
  const all = await createConfigMaps(send, "default", TEN);
  const accept = `application/json;as=${as};v=v1;g=meta.k8s.io`;
  const { value } = await send("GET", selected(MAPS, range(UID, ZERO, HALF)), undefined, accept);
  const shown = (value["rows"] ?? value.items) as readonly unknown[];
  expect(shown).toHaveLength(all.filter((object) => uidHash(object) < HALF).length);
  expect(value.metadata).not.toHaveProperty("shardInfo");
});

test("custom resources are filtered, and do not say so", async () => {
  const { clock, send } = setUp();
  await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  });
  await clock.advance(10_000);
  const path = "/apis/example.com/v1/namespaces/default/things";
  const hashes: string[] = [];
  for (const name of TEN) {
    const thing = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name } };
    hashes.push(uidHash((await send("POST", path, thing)).value));
  }
  const { value } = await send("GET", selected(path, range(UID, ZERO, HALF)));
  expect(value.items).toHaveLength(hashes.filter((hash) => hash < HALF).length);
  expect(value.metadata).not.toHaveProperty("shardInfo");
});

test("a deletion of a collection deletes the shard's objects", async () => {
  const { send } = setUp();
  const all = await createConfigMaps(send, "default", TEN);
  await send("DELETE", selected(MAPS, range(UID, ZERO, HALF)));
  expect(names((await send("GET", MAPS)).value.items)).toEqual(names(all.filter((object) => uidHash(object) >= HALF)));
});

test("a watch reports the shard's objects from the first list to their deletion, and bookmarks of the whole store", async () => {
  const { clock, server, send } = setUp();
  const [first] = await createConfigMaps(send, "default", ["m0"]);
  const mine = uidHash(first!) < HALF ? range(UID, ZERO, HALF) : range(UID, HALF, END);
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const received = await openWatch(server, selected(`${MAPS}?${query}`, mine));
  const created = await createConfigMaps(send, "default", TEN.slice(1));
  const ours = names(created.filter((object) => uidHash(object) < HALF === uidHash(first!) < HALF));
  for (const name of TEN) await send("DELETE", `${MAPS}/${name}`);
  await clock.advance(0);
  const kept = ["m0", ...ours];
  expect(received.map((event) => event.trim())).toEqual([
    "ADDED m0",
    "BOOKMARK",
    ...ours.map((name) => `ADDED ${name}`),
    ...kept.map((name) => `DELETED ${name}`),
  ]);
  await clock.advance(130_000);
  expect(received.at(-1)).toBe("BOOKMARK");
});

const EVENTS = "/api/v1/namespaces/default/events";

test("a watch of Events, which have no watch cache, is not filtered by its shard alone, though the list is", async () => {
  const { clock, server, send } = setUp();
  const emptyRange = range("object.metadata.namespace", ZERO, "0x0000000000000001");
  const alone = await openWatch(server, selected(`${EVENTS}?watch=1`, emptyRange));
  const withField = await openWatch(server, selected(`${EVENTS}?watch=1&fieldSelector=metadata.name!=zzz`, emptyRange));
  await send("POST", EVENTS, {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "e" },
    involvedObject: { namespace: "default", kind: "Pod", name: "p" },
  });
  await clock.advance(0);
  expect(alone).toEqual(["ADDED e"]);
  expect(withField).toEqual([]);
  expect((await send("GET", selected(EVENTS, emptyRange))).value.items).toEqual([]);
});

test("without a watch cache no watch is filtered by its shard alone", async () => {
  const { clock, server, send } = setUp({ watchCache: false });
  const emptyRange = range("object.metadata.namespace", ZERO, "0x0000000000000001");
  const alone = await openWatch(server, selected(`${MAPS}?watch=1`, emptyRange));
  await createConfigMaps(send, "default", ["a"]);
  await clock.advance(0);
  expect(alone).toEqual(["ADDED a"]);
});

test("with the gate off, which is the default, the parameter is ignored", async () => {
  const { clock, server, send } = setUp({ featureGates: {} });
  await createConfigMaps(send, "default", TEN);
  const { code, value } = await send("GET", selected(MAPS, "bad"));
  expect(code).toBe(200);
  expect(value.items).toHaveLength(10);
  expect(value.metadata).not.toHaveProperty("shardInfo");
  const received = await openWatch(server, selected(`${MAPS}?watch=1`, range(UID, ZERO, "0x0000000000000001")));
  await clock.advance(0);
  expect(received).toHaveLength(10);
  await send("DELETE", selected(MAPS, range(UID, ZERO, "0x0000000000000001")));
  expect((await send("GET", MAPS)).value.items).toEqual([]);
});

test("watches of shards are counted, and what they leave out: a foreign change is looked at twice", async () => {
  const counts = { opened: 0, ended: 0, filtered: 0 };
  const { clock, server, send } = setUp({
    shardMetrics: {
      watchOpened: () => counts.opened++,
      watchEnded: () => counts.ended++,
      eventFiltered: ({ group, resource }) => (counts.filtered += group === "" && resource === "configmaps" ? 1 : 0),
    },
  });
  await openWatch(server, selected(`${MAPS}?watch=1&timeoutSeconds=60`, range(UID, ZERO, "0x0000000000000001")));
  await createConfigMaps(send, "default", ["a"]);
  await clock.advance(0);
  expect(counts).toEqual({ opened: 1, ended: 0, filtered: 1 });
  await send("PUT", `${MAPS}/a`, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { b: "c" } });
  expect(counts.filtered).toBe(3);
  await send("DELETE", `${MAPS}/a`);
  expect(counts.filtered).toBe(4);
  await clock.advance(61_000);
  expect(counts).toMatchObject({ opened: 1, ended: 1 });
});

import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { KubeConfig, type V1ConfigMap, Watch } from "@kubernetes/client-node";
import { type ConfigMap, configMaps, defineResource } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { listen } from "@kubewright/apiserver/http";
import { Client } from "@kubewright/client";
import { realClock, seededRandom } from "@kubewright/clock";
import { afterEach, expect, test, vi } from "vitest";

import { FaultProxy } from "../test/fault-proxy.js";
import { answer, errorAfter, hangUp } from "../test/faults.js";
import { ScaledClock } from "../test/scaled-clock.js";
import {
  ADD,
  CHANGE,
  CONNECT,
  DELETE,
  ERROR,
  ListWatch,
  UPDATE,
  makeInformer,
  withoutManagedFields,
} from "./client-node.js";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const neverCalled = (): never => {
  throw new Error("the list function was called");
};

async function setUp() {
  const server = createApiServer({ clock: realClock, random: seededRandom(1) });
  const listener = await listen(server);
  const proxy = await FaultProxy.start(listener.url);
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser(
    { name: "embedded", server: proxy.url, skipTLSVerify: true },
    { name: "somebody", token: "secret" },
  );
  closing.push(async () => {
    await proxy.close();
    await server.close();
  });
  const maps = new Client({ transport: server.transport, clock: realClock }).resource(configMaps);
  const create = (name: string, metadata: ConfigMap["metadata"] = {}) =>
    maps.create({ metadata: { name, namespace: "default", ...metadata } });
  return { server, proxy, kubeConfig, maps, create };
}

function start(kubeConfig: KubeConfig, path: string, labelSelector?: string) {
  const clock = new ScaledClock(40);
  const informer = makeInformer<V1ConfigMap>(kubeConfig, path, neverCalled, labelSelector, { clock });
  const log: string[] = [];
  for (const verb of [ADD, UPDATE, DELETE] as const)
    informer.on(verb, ({ metadata }) => log.push(`${verb} ${metadata?.name}`));
  informer.on(CONNECT, () => log.push("connect"));
  informer.on(ERROR, (error: unknown) => log.push(`error ${(error as Error).name}`));
  closing.push(() => informer.stop());
  return { informer, log, clock };
}

const MAPS = "/api/v1/namespaces/default/configmaps";
const until = (condition: () => void): Promise<void> => vi.waitFor(condition, { timeout: 60_000, interval: 2 });

test("used like client-node's informer, it delivers and caches the server's objects", async () => {
  const { kubeConfig, maps, create } = await setUp();
  await create("a");
  const { informer, log, clock } = start(kubeConfig, MAPS);
  await informer.start();
  expect(log).toEqual(["connect", "add a"]);

  const b = await create("b");
  await maps.update({ ...b, data: { key: "value" } });
  await maps.delete("a", { namespace: "default" });
  await until(() => expect(log.slice(2)).toEqual(["add b", "update b", "delete a"]));
  expect(informer.get("b", "default")?.data).toEqual({ key: "value" });
  expect(informer.get("b")).toBeUndefined();
  expect(informer.list().map(({ metadata }) => metadata?.name)).toEqual(["b"]);
  expect(informer.list("default")).toEqual(informer.list());
  expect(informer.list("elsewhere")).toEqual([]);

  await informer.stop();
  expect(clock.pending).toBe(0);
  await informer.stop();
});

test("it authenticates as the KubeConfig says, request by request", async () => {
  const { server, kubeConfig } = await setUp();
  const seen: unknown[] = [];
  const intercepted = createApiServer({
    clock: realClock,
    random: seededRandom(1),
    intercept: ({ headers }) => void seen.push(headers["authorization"]),
  });
  const { url } = await listen(intercepted);
  closing.push(() => intercepted.close());
  const cluster = { name: "embedded", server: url, skipTLSVerify: true };
  kubeConfig.loadFromClusterAndUser(cluster, { name: "token", token: "secret" });
  await start(kubeConfig, MAPS).informer.start();
  kubeConfig.loadFromClusterAndUser(cluster, { name: "basic", username: "me", password: "mine" });
  await start(kubeConfig, MAPS).informer.start();
  kubeConfig.addAuthenticator({
    isAuthProvider: ({ name }) => name === "own",
    applyAuthentication: async (_user, { headers }) =>
      void Object.assign(headers ?? {}, { Authorization: "Bearer own" }),
  });
  kubeConfig.loadFromClusterAndUser(cluster, { name: "own" });
  await start(kubeConfig, MAPS).informer.start();
  expect(new Set(seen)).toEqual(new Set(["Bearer secret", "Basic bWU6bWluZQ==", "Bearer own"]));
  expect(server.resourceVersion).not.toBe("");
});

test("a credential plugin is run as upstream runs it, once for all, and ended with the informer", async () => {
  const seen: unknown[] = [];
  const server = createApiServer({
    clock: realClock,
    random: seededRandom(1),
    intercept: ({ headers }) => void seen.push(headers["authorization"]),
  });
  const { url } = await listen(server);
  closing.push(() => server.close());
  const apiVersion = "client.authentication.k8s.io/v1";
  const plugin = (script: string): KubeConfig => {
    const kubeConfig = new KubeConfig();
    const exec = { apiVersion, command: "/bin/sh", args: ["-c", script], interactiveMode: "Never" };
    kubeConfig.loadFromClusterAndUser({ name: "embedded", server: url, skipTLSVerify: true }, { name: "p", exec });
    return kubeConfig;
  };
  const credential = JSON.stringify({ apiVersion, kind: "ExecCredential", status: { token: "of-a-plugin" } });
  await start(plugin(`printf %s '${credential}'`), MAPS).informer.start();
  expect(new Set(seen)).toEqual(new Set(["Bearer of-a-plugin"]));

  const folder = await mkdtemp(join(tmpdir(), "kubewright-"));
  closing.push(() => rm(folder, { recursive: true }));
  const { informer } = start(plugin(`echo $$ > ${folder}/new; mv ${folder}/new ${folder}/pid; exec sleep 1000`), MAPS);
  const started = informer.start();
  await until(() => expect(existsSync(join(folder, "pid"))).toBe(true));
  const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
  await informer.stop();
  await started;
  await until(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"));
});

test("it continues after errors that end client-node's informer, and a second start has no effect", async () => {
  const { kubeConfig, proxy, create } = await setUp();
  proxy.inject("watch", answer(500, "InternalError"));
  proxy.inject("list", answer(500, "InternalError"));
  const { informer, log } = start(kubeConfig, MAPS);
  informer.on(ERROR, () => void informer.start());
  await informer.start();
  expect(log).toEqual(["error InformerError"]);
  await create("a");
  await until(() => expect(log).toContain("add a"));

  proxy.inject("watch", hangUp, errorAfter(0, 410, "Expired"));
  proxy.cutAll();
  await create("b");
  await until(() => expect(log).toContain("add b"));
  expect(log.filter((line) => line === "add a")).toHaveLength(1);
});

test("stopped and started again, it delivers only what changed meanwhile", async () => {
  const { kubeConfig, maps, create } = await setUp();
  for (const name of ["kept", "changed", "gone"]) await create(name);
  const { informer, log } = start(kubeConfig, MAPS);
  await informer.start();
  await informer.stop();
  expect(informer.list()).toHaveLength(3);
  log.length = 0;

  await maps.patch("changed", { type: "merge", body: { data: { key: "value" } } }, { namespace: "default" });
  await maps.delete("gone", { namespace: "default" });
  await create("new");
  expect(log).toEqual([]);
  await informer.start();
  expect(log).toEqual(["connect", "delete gone", "update changed", "add new"]);
});

test("stopped, it holds no connection, neither that of its watch nor those of its lists", async () => {
  const { kubeConfig, proxy } = await setUp();
  const informer = makeInformer(kubeConfig, MAPS, neverCalled, undefined, { watchList: false });
  await informer.start();
  expect(proxy.requests).toContain("list");
  expect(proxy.connections).toBeGreaterThan(0);
  await informer.stop();
  // Without a close, an idle connection would be kept for four seconds.
  await vi.waitFor(() => expect(proxy.connections).toBe(0), { timeout: 3500, interval: 2 });
});

test("selectors restrict it, given as an argument or in the path", async () => {
  const { kubeConfig, create } = await setUp();
  await create("red", { labels: { colour: "red" } });
  await create("blue", { labels: { colour: "blue" } });
  const { informer } = start(kubeConfig, MAPS, "colour=red");
  await informer.start();
  expect(informer.list().map(({ metadata }) => metadata?.name)).toEqual(["red"]);
  const byField = start(kubeConfig, `${MAPS}?fieldSelector=metadata.name%3Dblue`);
  await byField.informer.start();
  expect(byField.informer.list().map(({ metadata }) => metadata?.name)).toEqual(["blue"]);
});

test("a transform is applied before anything is delivered or cached", async () => {
  const { kubeConfig, create } = await setUp();
  await create("a");
  const informer = makeInformer<V1ConfigMap>(kubeConfig, MAPS, neverCalled, undefined, {
    transform: withoutManagedFields,
  });
  closing.push(() => informer.stop());
  await informer.start();
  expect(informer.get("a", "default")?.metadata).not.toHaveProperty("managedFields");
});

test("a callback that throws is reported to error, and a removed callback is not called", async () => {
  const { kubeConfig, create } = await setUp();
  const { informer, log } = start(kubeConfig, MAPS);
  const counted = vi.fn();
  informer.on(CHANGE, counted);
  informer.on(ADD, () => {
    throw new Error("no");
  });
  const after = vi.fn();
  informer.on(ADD, after);
  await informer.start();
  await create("a");
  await until(() => expect(after).toHaveBeenCalledTimes(1));
  expect(counted).toHaveBeenCalledTimes(1);
  expect(log).toEqual(["connect", "add a", "error InformerError"]);
  informer.off(CHANGE, counted);
  informer.off(CHANGE, counted);
  await create("b");
  await until(() => expect(after).toHaveBeenCalledTimes(2));
  expect(counted).toHaveBeenCalledTimes(1);
});

test("ListWatch takes client-node's Watch, starts by itself, and follows custom resources", async () => {
  const { kubeConfig, server } = await setUp();
  const client = new Client({ transport: server.transport, clock: realClock });
  const crds = defineResource<ConfigMap>({
    group: "apiextensions.k8s.io",
    version: "v1",
    resource: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
    namespaced: false,
  });
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  await client.resource(crds).create({
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  } as never);
  const widgets = defineResource<ConfigMap>({
    group: "example.com",
    version: "v1",
    resource: "widgets",
    kind: "Widget",
    namespaced: true,
  });
  const path = "/apis/example.com/v1/widgets";
  await vi.waitFor(() => client.resource(widgets).list(), { timeout: 60_000, interval: 2 });
  const watch = new ListWatch<V1ConfigMap>(path, new Watch(kubeConfig), neverCalled);
  closing.push(() => watch.stop());
  await client.resource(widgets).create({ metadata: { name: "w", namespace: "default" } });
  await until(() => expect(watch.get("w", "default")?.kind).toBe("Widget"));
  expect(watch.latestResourceVersion()).toBe(server.resourceVersion);
});

test("what cannot work is refused at once, with the path or verb that is wrong", async () => {
  const { kubeConfig } = await setUp();
  for (const path of [
    "",
    "/healthz",
    "/api/v1",
    "/api/v1/namespaces/default/pods/one",
    "/apis/batch/v1/namespaces/x/jobs/y/status",
    "/api/v1/namespaces/%zz/pods",
  ])
    expect(() => makeInformer(kubeConfig, path)).toThrow(`${JSON.stringify(path)} is not the path of a collection`);
  const informer = makeInformer(kubeConfig, MAPS);
  expect(() => informer.on("changed" as "change", () => {})).toThrow("Unknown verb: changed");
  const nowhere = makeInformer(new KubeConfig(), MAPS, neverCalled, undefined, { clock: new ScaledClock(40) });
  const errors: unknown[] = [];
  nowhere.on(ERROR, (error: unknown) => errors.push((error as Error).message));
  await nowhere.start();
  expect(errors[0]).toContain("No currently active cluster");
  await nowhere.stop();
});

test("errors are written to standard error when there is no callback for them", async () => {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  try {
    const { kubeConfig, proxy } = await setUp();
    proxy.inject("watch", answer(500, "InternalError"));
    proxy.inject("list", answer(500, "InternalError"));
    const clock = new ScaledClock(80);
    const informer = makeInformer<V1ConfigMap>(kubeConfig, MAPS, neverCalled, undefined, { clock });
    closing.push(() => informer.stop());
    await informer.start();
    expect(error.mock.calls.map(([line]) => String(line).replace(/^(E).*? informer\]/, "$1"))).toEqual([
      expect.stringMatching(/^E "Informer failed, going on" step="list" err="failed to list configmaps: /),
    ]);
  } finally {
    error.mockRestore();
  }
});

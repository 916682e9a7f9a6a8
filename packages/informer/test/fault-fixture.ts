import { getEventListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

import { type ConfigMap, type DeepReadonly, configMaps, keyOf } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { listen } from "@kubewright/apiserver/http";
import { Client } from "@kubewright/client";
import { realClock, seededRandom } from "@kubewright/clock";
import { createHttpTransport } from "@kubewright/transport-http";

import { SharedInformer, type SharedInformerOptions } from "../src/shared-informer.js";
import { deletedObject } from "../src/tombstone.js";
import { FaultProxy, type Verb } from "./fault-proxy.js";
import { ScaledClock } from "./scaled-clock.js";

/** After this time a condition counts as never reached. */
const HANG_TIMEOUT_MS = 60_000;
/** The informer's clock runs this many times as fast as real time. */
const TIME_FACTOR = 80;

/**
 * Starts an embedded API server behind a {@link FaultProxy}, an informer, and a writer. The informer reaches the server
 * only through the proxy, over HTTP. The writer bypasses the proxy.
 */
export async function startFaultyInformer({
  seed = 1,
  ...options
}: Partial<SharedInformerOptions<ConfigMap>> & { readonly seed?: number } = {}) {
  const resourcesBefore = handles();
  const random = seededRandom(seed);
  const server = createApiServer({ clock: realClock, random, trackFields: false, historyLimit: 2000 });
  const listener = await listen(server);
  const proxy = await FaultProxy.start(listener.url);
  const http = createHttpTransport({ server: proxy.url });
  const clock = new ScaledClock(TIME_FACTOR);
  const errors: string[] = [];
  const informer = new SharedInformer<ConfigMap>({
    client: new Client({ transport: http.transport, clock }).resource(configMaps),
    clock,
    random: random.fork("informer"),
    onError: (error) => errors.push(error.message),
    ...options,
  });
  const view = new HandlerView();
  informer.addEventHandler(view);
  const stop = new AbortController();
  const writer = new Client({ transport: server.transport, clock: realClock }).resource(configMaps);
  const inDefault = { namespace: "default" };
  let value = 0;
  const writeRandom = random.fork("writes");
  const names = new Set<string>();
  const put = async (name: string): Promise<void> => {
    const data = { value: `${value++} – äöü ${"🙂".repeat(5)}` };
    if (names.has(name)) await writer.update({ metadata: { name, ...inDefault }, data });
    else await writer.create({ metadata: { name, ...inDefault }, data });
    names.add(name);
  };
  const remove = async (name: string): Promise<void> => {
    await writer.delete(name, inDefault);
    names.delete(name);
  };
  await put("first");
  const truth = async (): Promise<Map<string, string>> => contents((await writer.list()).items);
  let stopped: Promise<void> | undefined;

  return {
    server,
    proxy,
    clock,
    informer,
    view,
    errors,
    put,
    remove,
    random,
    watchList: options.watchList ?? true,
    /** Creates, changes and deletes objects at random, with pauses. */
    async write(count: number): Promise<void> {
      for (let index = 0; index < count; index++) {
        const name = `map-${Math.floor(writeRandom.next() * 10)}`;
        if (names.has(name) && writeRandom.next() < 0.3) await remove(name);
        else await put(name);
        if (writeRandom.next() < 0.3) await sleep(1);
      }
    },
    start(): void {
      stopped = informer.run(stop.signal);
    },
    /** Resolves when the cache and the handler's view equal the server's state. */
    async converged(): Promise<void> {
      const wanted = await truth();
      const deadline = realClock.monotonic() + HANG_TIMEOUT_MS;
      while (!equal(contents(informer.store.list()), wanted) || !equal(view.seen, wanted)) {
        if (realClock.monotonic() > deadline)
          throw new Error(difference(contents(informer.store.list()), wanted, errors));
        await sleep(2);
      }
    },
    /** Resolves when all injected faults of this kind have been applied to a request. */
    async injected(verb: Verb): Promise<void> {
      const deadline = realClock.monotonic() + HANG_TIMEOUT_MS;
      while (proxy.waiting(verb) > 0) {
        if (realClock.monotonic() > deadline)
          throw new Error(`${proxy.waiting(verb)} faults met no request: ${errors.join("\n")}`);
        await sleep(2);
      }
    },
    /** Stops everything, and returns the numbers of leaked sockets, timers and listeners. */
    async finish() {
      // Expected while running: one listener to end the informer, one for the current request, one for a pause.
      const listeners = Math.max(0, getEventListeners(stop.signal, "abort").length - 3);
      stop.abort(new Error("test is over"));
      await stopped;
      const timers = clock.pending;
      await http.close();
      await proxy.close();
      await listener.close();
      await server.close();
      const deadline = realClock.monotonic() + HANG_TIMEOUT_MS;
      while (handles() > resourcesBefore && realClock.monotonic() < deadline) await sleep(2);
      return { listeners, timers, handles: Math.max(0, handles() - resourcesBefore), connections: proxy.connections };
    },
  };
}

export const NO_LEAKS = { listeners: 0, timers: 0, handles: 0, connections: 0 };

/** The state according to the handler calls, and the calls that contradict it. */
class HandlerView {
  readonly seen = new Map<string, string>();
  updates = 0;
  readonly surprises: string[] = [];

  onAdd(object: DeepReadonly<ConfigMap>): void {
    const key = keyOf(object);
    if (this.seen.has(key)) this.surprises.push(`added twice: ${key}`);
    this.seen.set(key, content(object));
  }

  onUpdate(old: DeepReadonly<ConfigMap>, object: DeepReadonly<ConfigMap>): void {
    const key = keyOf(object);
    this.updates++;
    if (this.seen.get(key) !== content(old)) this.surprises.push(`updated from what it was not: ${key}`);
    if (Number(old.metadata.resourceVersion) > Number(object.metadata.resourceVersion))
      this.surprises.push(`went back in time: ${key}`);
    this.seen.set(key, content(object));
  }

  onDelete(deleted: Parameters<typeof deletedObject<ConfigMap>>[0]): void {
    const key = keyOf(deletedObject(deleted)!);
    if (!this.seen.delete(key)) this.surprises.push(`deleted, but never added: ${key}`);
  }
}

function content({ metadata, data }: DeepReadonly<ConfigMap>): string {
  return JSON.stringify([metadata, data]);
}

function contents(objects: readonly DeepReadonly<ConfigMap>[]): Map<string, string> {
  return new Map(objects.map((object) => [keyOf(object), content(object)]));
}

function equal(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (b.get(key) !== value) return false;
  return true;
}

function difference(have: Map<string, string>, wanted: Map<string, string>, errors: readonly string[]): string {
  const wrong = [...new Set([...have.keys(), ...wanted.keys()])].filter((key) => have.get(key) !== wanted.get(key));
  return `the cache does not equal the server's truth in ${wrong.slice(0, 5).join(", ")}:\n${errors.slice(-5).join("\n")}`;
}

/** Returns the number of open sockets and armed timers of this thread. */
function handles(): number {
  return process.getActiveResourcesInfo().filter((name) => /^TCP|^Pipe|^Timeout$/.test(name)).length;
}

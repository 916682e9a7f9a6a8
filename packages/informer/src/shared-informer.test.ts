import { type DeepReadonly, type ObjectKey, type Pod, type WatchEvent, pods } from "@kubewright/api";
import type { Reader } from "@kubewright/client";
import { SimulatedClock } from "@kubewright/clock";
import { afterEach, expect, test, vi } from "vitest";

import {
  leastRandom,
  loggingHandler,
  newInformer,
  show,
  startInformer,
  stopInformers,
} from "../test/informer-fixture.js";
import { added, bookmark, connectionRefused, deleted, errorEvent, modified, pod } from "../test/scripted-server.js";
import { filteringHandler } from "./filtering-handler.js";
import { isRecreated } from "./recreation.js";
import { SharedInformer } from "./shared-informer.js";
import { withoutManagedFields } from "./transform.js";

afterEach(stopInformers);

test("existing objects are added as initial, and the informer has synced after the last of them", async () => {
  const synced: boolean[] = [];
  const { server, clock, informer, log } = startInformer({}, (fresh) =>
    fresh.addEventHandler({ onAdd: () => synced.push(fresh.hasSynced) }),
  );
  expect(informer.hasSynced).toBe(false);
  server.list("10", [pod("a", "7"), pod("b", "8")]);
  server.watch(added(pod("c", "11")));
  await clock.settle();
  expect(log).toEqual(["add a@7 initial", "add b@8 initial", "add c@11"]);
  expect(synced).toEqual([false, false, true]);
});

test("an empty list syncs without a word", async () => {
  const { server, clock, informer, log } = startInformer();
  server.list("10", []);
  await clock.settle();
  expect(informer.hasSynced).toBe(true);
  expect(informer.store.lastStoreSyncResourceVersion).toBe("10");
  expect(log).toEqual([]);
});

test("the cached object decides between add and update, and every deletion is delivered", async () => {
  const { server, clock, log, informer } = startInformer();
  server.list("10", [pod("a", "7")]);
  server.watch(
    added(pod("a", "11")),
    modified(pod("b", "12")),
    deleted(pod("c", "13")),
    deleted(pod("a", "14")),
    bookmark("20"),
  );
  await clock.settle();
  expect(log).toEqual(["add a@7 initial", "update a@7 a@11", "add b@12", "delete c@13", "delete a@14"]);
  expect(informer.store.list().map(show)).toEqual(["b@12"]);
  expect(informer.store.lastStoreSyncResourceVersion).toBe("20");
});

test("a list after a gap delivers deletions first, as tombstones, after the cache has reached its final state", async () => {
  const { server, clock, log, informer } = startInformer();
  server.list("10", [pod("a", "7"), pod("b", "8")]);
  server.watch(errorEvent(410, "Expired"));
  await clock.settle();
  const states: string[][] = [];
  informer.addEventHandler({ onDelete: () => states.push(informer.store.list().map(show)) });
  log.length = 0;
  server.list("50", [pod("a", "40"), pod("c", "41")]);
  await clock.advance(800);
  expect(log).toEqual(["tombstone b@8", "update a@7 a@40", "add c@41"]);
  expect(states).toEqual([["a@40", "c@41"]]);
});

test("a deletion and re-creation that were missed show as one update to another UID", async () => {
  const uids: unknown[] = [];
  const { server, clock } = startInformer({}, (informer) =>
    informer.addEventHandler({
      onUpdate: (oldObject, newObject) =>
        uids.push([oldObject.metadata.uid, newObject.metadata.uid, isRecreated(oldObject, newObject)]),
    }),
  );
  server.list("10", [pod("a", "7", { uid: "first" })]);
  server.watch(errorEvent(410, "Expired"));
  server.list("50", [pod("a", "40", { uid: "second" })]);
  server.watch(modified(pod("a", "51", { uid: "second" })));
  await clock.advance(800);
  expect(uids).toEqual([
    ["first", "second", true],
    ["second", "second", false],
  ]);
});

test("the time since the last contact with the server is reported, after any kind of message", async () => {
  const { server, clock, informer } = startInformer();
  expect(informer.sinceContactMs).toBeUndefined();
  server.list("10", []);
  const watch = server.watch();
  await clock.advance(7000);
  expect(informer.sinceContactMs).toBe(7000);
  watch.send(bookmark("20"));
  await clock.settle();
  expect(informer.sinceContactMs).toBe(0);
  watch.cut();
  server.fail(connectionRefused());
  await clock.advance(500);
  expect(informer.sinceContactMs).toBe(500);
  server.watch();
  await clock.advance(300);
  expect(informer.sinceContactMs).toBe(0);
});

test("refused from the start, it recovers as soon as the server accepts connections", async () => {
  const { server, clock, informer, log } = startInformer();
  for (let refusal = 0; refusal < 5; refusal++) server.fail(connectionRefused());
  let synced = false;
  void informer.waitForSync().then(() => (synced = true));
  await clock.advance(12_400);
  expect(synced).toBe(false);
  server.list("10", [pod("a", "7")]);
  await clock.advance(12_800);
  expect(synced).toBe(true);
  expect(log).toEqual(["add a@7 initial"]);
});

test("waiting out an outage keeps the process alive, but no simulation going", async () => {
  const { server, clock } = startInformer();
  server.fail(connectionRefused());
  await clock.settle();
  expect(clock.nextTimerInMs).toBe(800);
  expect(clock.pendingTimers).toBe(0);
  expect(clock.keepAliveCount).toBe(1);
  server.list("10", []);
  server.watch();
  await clock.advance(800);
  expect(clock.nextTimerInMs).toBeGreaterThan(0);
  expect(clock.pendingTimers).toBe(0);
});

test("a handler that throws is reported, and harms neither the others nor the informer", async () => {
  const { server, clock, log, errors } = startInformer({}, (informer) => {
    const fail = (): never => {
      throw new Error("broken handler");
    };
    informer.addEventHandler({ onAdd: fail, onUpdate: fail, onDelete: fail });
    informer.addEventHandler(loggingHandler(afterwards));
  });
  server.list("10", [pod("a", "7")]);
  server.watch(modified(pod("a", "11")), deleted(pod("a", "12")));
  await clock.settle();
  expect(log).toEqual(["add a@7 initial", "update a@7 a@11", "delete a@12"]);
  expect(afterwards).toEqual(log);
  expect(errors.map(({ step, message }) => `${step}: ${message}`)).toEqual([
    'handler: a handler failed to add pods "default/a": broken handler',
    'handler: a handler failed to update pods "default/a": broken handler',
    'handler: a handler failed to delete pods "default/a": broken handler',
  ]);
});

const afterwards: string[] = [];

test("a handler whose promise rejects is reported like one that throws", async () => {
  const onAdd: (object: DeepReadonly<Pod>) => unknown = async ({ metadata }: DeepReadonly<Pod>) => {
    await clock.sleep(10);
    throw new Error(`cannot handle ${metadata.name}`);
  };
  const { server, clock, errors } = startInformer({}, (informer) => informer.addEventHandler({ onAdd }));
  server.list("10", [pod("a", "7")]);
  server.watch();
  await clock.advance(10);
  expect(errors.map(({ step, message }) => `${step}: ${message}`)).toEqual([
    'handler: a handler failed to add pods "default/a": cannot handle a',
  ]);
});

test("an error listener that throws harms nothing", async () => {
  const { server, clock, log } = startInformer({
    onError: () => {
      throw new Error("broken listener");
    },
  });
  server.refuse(500, "InternalError");
  server.list("10", [pod("a", "7")]);
  await clock.advance(800);
  expect(log).toEqual(["add a@7 initial"]);
});

test("without onError failures are written to standard error, the same one once a minute; so are errors of onError", async () => {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  const lines = (): string[] =>
    error.mock.calls.splice(0).map(([line]) => String(line).replace(/^(E).*? informer\]/, "$1"));
  try {
    const { server, clock } = startInformer({ onError: undefined });
    for (let attempt = 0; attempt < 100; attempt++) server.fail(connectionRefused());
    await clock.advance(59_000);
    const refused = expect.stringMatching(
      /^E "Informer failed, going on" step="list" err="failed to list pods: .*refused/i,
    );
    expect(lines()).toEqual([refused]);
    await clock.advance(60_000);
    expect(lines()).toEqual([expect.stringMatching(/ repeated=\d+$/)]);

    const broken = startInformer({ onError: () => Promise.reject(new Error("no disk")) as unknown as void });
    broken.server.refuse(500, "InternalError");
    await broken.clock.settle();
    expect(lines()).toEqual([
      expect.stringContaining('err="failed to list pods: scripted InternalError"'),
      'E "onError failed" err="no disk"',
    ]);
  } finally {
    error.mockRestore();
  }
});

test("a handler that never returns, and metrics that throw, neither hold up the informer nor its end", async () => {
  const fail = (): never => {
    throw new Error("no registry");
  };
  const { server, clock, errors, log, informer, stop } = startInformer(
    { metrics: { setQueuedItems: fail, observeProcessingLatency: fail, setStoreResourceVersion: fail } },
    (informer) => informer.addEventHandler({ onAdd: () => new Promise<never>(() => {}) as unknown as void }),
  );
  server.list("10", [pod("a", "7")]);
  server.watch().send(modified(pod("a", "11")));
  await clock.settle();
  expect(log).toEqual(["add a@7 initial", "update a@7 a@11"]);
  expect(informer.hasSynced).toBe(true);
  expect(new Set(errors.map(({ step, message }) => `${step}: ${message}`))).toEqual(
    new Set(["metrics: measuring the informer of pods failed: no registry"]),
  );
  await stop();
});

test("a late handler gets every existing object as initial, then every change once", async () => {
  const { server, clock, informer, log } = startInformer();
  server.list("10", [pod("a", "7"), pod("b", "8"), pod("c", "9")]);
  const watch = server.watch();
  await clock.settle();
  const late: string[] = [];
  watch.send(modified(pod("a", "11")));
  const registration = informer.addEventHandler(loggingHandler(late));
  expect(late).toEqual(["add a@7 initial", "add b@8 initial", "add c@9 initial"]);
  expect(registration.hasSynced()).toBe(true);
  await clock.settle();
  expect(late.slice(3)).toEqual(["update a@7 a@11"]);
  expect(log.slice(3)).toEqual(["update a@7 a@11"]);
});

test("a handler added by a handler during the initial list sees each object once", async () => {
  const inner: string[] = [];
  let once = true;
  const { server, clock } = startInformer({}, (informer) =>
    informer.addEventHandler({
      onAdd: () => {
        if (once) informer.addEventHandler(loggingHandler(inner));
        once = false;
      },
    }),
  );
  server.list("10", [pod("a", "7"), pod("b", "8")]);
  server.watch(added(pod("c", "11")));
  await clock.settle();
  expect(inner).toEqual(["add a@7 initial", "add b@8 initial", "add c@11"]);
});

test("a removed handler is not called any more, not even for the change under delivery", async () => {
  const heard: string[] = [];
  const { server, clock } = startInformer({}, (informer) => {
    const remove: { now(): void } = { now: () => {} };
    informer.addEventHandler({ onAdd: () => remove.now() });
    const registration = informer.addEventHandler(loggingHandler(heard));
    remove.now = () => registration.remove();
  });
  server.list("10", [pod("a", "7")]);
  server.watch(added(pod("b", "11")));
  await clock.settle();
  expect(heard).toEqual([]);
});

test("removing a handler twice, or from a stopped informer, is no error", async () => {
  const { informer, stop } = startInformer();
  const registration = informer.addEventHandler({});
  registration.remove();
  registration.remove();
  await stop();
  expect(() => registration.remove()).not.toThrow();
});

test("every update of one object is delivered, in order", async () => {
  const { server, clock, log } = startInformer();
  server.list("10", [pod("a", "7")]);
  server.watch(...["11", "12", "13", "14", "15"].map((version) => modified(pod("a", version))));
  await clock.settle();
  expect(log.slice(1)).toEqual([
    "update a@7 a@11",
    "update a@11 a@12",
    "update a@12 a@13",
    "update a@13 a@14",
    "update a@14 a@15",
  ]);
});

test("abort ends everything: the request, the timers and run, and no handler is called any more", async () => {
  for (const phase of ["listing", "watching", "backing off", "streaming"] as const) {
    const { server, clock, informer, log, stop } = startInformer({ watchList: phase === "streaming" });
    if (phase === "backing off") server.refuse(500, "InternalError");
    if (phase === "watching") server.list("10", [pod("a", "7")]);
    const watch = phase === "streaming" ? server.watch(added(pod("a", "7"))) : server.watch();
    await clock.settle();
    const told = log.length;
    watch.send(added(pod("late", "11")));
    watch.send(bookmark("12", { initialEventsEnd: true }));
    await stop();
    expect(log.length).toBe(told);
    expect(clock.pendingTimers).toBe(0);
    expect(clock.nextTimerInMs).toBeUndefined();
    const requests = server.requests.length;
    await clock.advance(3_600_000);
    expect(server.requests.length).toBe(requests);
    expect(() => informer.addEventHandler({})).toThrow(
      "was not added to shared informer of pods because it has stopped already",
    );
    expect(() => informer.addIndexers({})).toThrow("indexer was not added because it has stopped already");
    expect(watch.closed).toBe(phase === "watching" || phase === "streaming");
  }
});

test("abort ends the informer even when the transport does not notice; later events are dropped", async () => {
  const clock = new SimulatedClock();
  let send = (_event: WatchEvent<Pod>): void => {};
  const events = async function* (): AsyncGenerator<WatchEvent<Pod>> {
    for (;;) yield await new Promise<WatchEvent<Pod>>((resolve) => (send = resolve));
  };
  const client: Reader<Pod> = {
    definition: pods,
    get: () => Promise.reject(new Error("not asked for")),
    list: async () => ({ metadata: { resourceVersion: "10" }, items: [] }),
    watch: async () => events(),
  };
  const log: string[] = [];
  const informer = new SharedInformer({ client, clock, random: leastRandom, watchList: false });
  informer.addEventHandler(loggingHandler(log));
  const controller = new AbortController();
  const stopped = informer.run(controller.signal);
  await informer.waitForSync();
  await clock.settle();
  controller.abort();
  await stopped;
  send({ type: "ADDED", object: pod("late", "11") });
  await clock.settle();
  expect(log).toEqual([]);
  expect(clock.nextTimerInMs).toBeUndefined();
});

test("an informer aborted before it runs sends nothing and resolves", async () => {
  const { informer, server } = newInformer();
  await informer.run(AbortSignal.abort());
  expect(server.requests).toEqual([]);
  await expect(informer.waitForSync()).rejects.toThrow("the informer of pods stopped before it synced");
});

test("an informer runs once", async () => {
  const { informer } = startInformer();
  await expect(informer.run(new AbortController().signal)).rejects.toThrow("run more than once is not allowed");
});

test("waiting for the sync ends with the signal of who waits, or with the informer", async () => {
  const { informer, stop } = startInformer();
  const controller = new AbortController();
  const reason = new Error("enough");
  const impatient = informer.waitForSync(controller.signal);
  const patient = informer.waitForSync();
  controller.abort(reason);
  await expect(impatient).rejects.toBe(reason);
  await expect(informer.waitForSync(controller.signal)).rejects.toBe(reason);
  void stop();
  await expect(patient).rejects.toThrow("stopped before it synced");
});

test("a transform is applied before anything sees the object", async () => {
  const { server, clock, informer } = startInformer({ transform: withoutManagedFields });
  const managed = { managedFields: [{ manager: "kubectl" }] };
  server.list("10", [pod("a", "7", managed)]);
  const seen: DeepReadonly<Pod>[] = [];
  informer.addEventHandler({
    onAdd: (object) => seen.push(object),
    onDelete: (object) => seen.push(object as DeepReadonly<Pod>),
  });
  server.watch(added(pod("b", "11", managed)), deleted(pod("b", "12", managed)));
  await clock.settle();
  expect(seen.map(show)).toEqual(["a@7", "b@11", "b@12"]);
  expect(seen.some((object) => "managedFields" in object.metadata)).toBe(false);
  const plain = pod("c", "1");
  expect(withoutManagedFields(plain)).toBe(plain);
});

test("a transform that throws loses that event only; in a list, it makes the list fail", async () => {
  const { server, clock, errors, log } = startInformer({
    transform: (object) => {
      if (object.metadata.name === "bad") throw new Error("cannot transform");
      return object;
    },
  });
  server.list("10", [pod("bad", "7")]);
  server.list("11", [pod("a", "7")]);
  server.watch(added(pod("bad", "12")), added(pod("b", "13")));
  await clock.advance(800);
  expect(log).toEqual(["add a@7 initial", "add b@13"]);
  expect(errors.map(({ step, message }) => `${step}: ${message}`)).toEqual([
    "list: failed to list pods: cannot transform",
    'event: failed to take in pods "default/bad": cannot transform',
  ]);
});

test("indexes may be added while the informer runs, and the namespace index is always there", async () => {
  const { server, clock, informer } = startInformer();
  server.list("10", [pod("a", "7", { namespace: "one" }), pod("b", "8", { namespace: "two" })]);
  await clock.settle();
  const indexed = informer.addIndexers({ byName: (object) => [object.metadata.name ?? ""] });
  expect(indexed.byIndex("byName", "b").map(show)).toEqual(["b@8"]);
  expect(informer.store.byIndex("namespace", "one").map(show)).toEqual(["a@7"]);
  expect(informer.store.get("two/b" as ObjectKey)?.metadata.name).toBe("b");
});

test("a filtering handler sees objects come and go as they begin and cease to pass", async () => {
  const log: string[] = [];
  const { server, clock } = startInformer({}, (informer) =>
    informer.addEventHandler(
      filteringHandler((object) => object.metadata.labels?.["app"] === "web", loggingHandler(log)),
    ),
  );
  const web = { labels: { app: "web" } };
  server.list("10", [pod("a", "7", web), pod("b", "8")]);
  server.watch(
    modified(pod("a", "11", web)),
    modified(pod("a", "12")),
    modified(pod("a", "13")),
    modified(pod("a", "14", web)),
    deleted(pod("b", "15")),
    deleted(pod("a", "16", web)),
  );
  await clock.settle();
  expect(log).toEqual(["add a@7 initial", "update a@7 a@11", "delete a@11", "add a@14", "delete a@16"]);
});

test("a resync delivers everything again without a request, and a list restarts the period", async () => {
  const { server, clock, log } = startInformer({ resyncMs: 30_000 });
  server.list("10", [pod("a", "7")]);
  const watch = server.watch();
  await clock.settle();
  log.length = 0;
  const times: number[] = [];
  const run = async (untilMs: number): Promise<void> => {
    while (clock.monotonic() < untilMs) {
      await clock.advance(200);
      if (log.splice(0).length > 0) times.push(clock.monotonic());
    }
  };
  await run(44_200);
  expect(times).toEqual([30_000]);
  expect(server.requests.length).toBe(2);
  watch.send(errorEvent(410, "Expired"));
  server.list("50", [pod("a", "7")]);
  await run(80_000);
  // At 45 s it is the list: the handler is still marked as syncing by the last check.
  expect(times).toEqual([30_000, 45_000, 75_000]);
});

test("without resyncs every handler gets an update for objects that a list showed unchanged; with resyncs, only those that are due", async () => {
  for (const [resyncMs, told] of [
    [0, ["update a@7 a@7"]],
    [10_000, []],
  ] as const) {
    const quiet: string[] = [];
    const { server, clock } = startInformer({ resyncMs }, (informer) =>
      informer.addEventHandler(loggingHandler(quiet), { resyncMs: 0 }),
    );
    server.list("10", [pod("a", "7")]);
    const watch = server.watch();
    await clock.advance(11_000);
    quiet.length = 0;
    watch.send(errorEvent(410, "Expired"));
    server.list("50", [pod("a", "7")]);
    await clock.advance(800);
    expect(quiet).toEqual(told);
  }
});

test("handlers are resynced at their own periods, rounded up to the informer's checks", async () => {
  const times: Record<string, number[]> = { two: [], five: [], short: [] };
  const { server, clock, informer } = startInformer({ resyncMs: 60_000 }, (fresh) => {
    fresh.addEventHandler({ onUpdate: () => times["five"]!.push(clock.monotonic()) }, { resyncMs: 5000 });
    fresh.addEventHandler({ onUpdate: () => times["two"]!.push(clock.monotonic()) }, { resyncMs: 2000 });
  });
  server.list("10", [pod("a", "7")]);
  await clock.settle();
  informer.addEventHandler({ onUpdate: () => times["short"]!.push(clock.monotonic()) }, { resyncMs: 200 });
  await clock.advance(13_000);
  expect(times).toEqual({
    two: [2000, 4000, 6000, 8000, 10_000, 12_000],
    five: [6000, 12_000],
    short: [2000, 4000, 6000, 8000, 10_000, 12_000],
  });
});

test("a period of less than a second counts as a second, and none at all is possible without the informer's", async () => {
  const second: number[] = [];
  const frequent = startInformer({ resyncMs: 60_000 }, (informer) =>
    informer.addEventHandler({ onUpdate: () => second.push(frequent.clock.monotonic()) }, { resyncMs: 200 }),
  );
  frequent.server.list("10", [pod("a", "7")]);
  await frequent.clock.advance(2500);
  expect(second).toEqual([1000, 2000]);

  const never: string[] = [];
  const none = startInformer({}, (informer) => informer.addEventHandler(loggingHandler(never), { resyncMs: 5000 }));
  none.server.list("10", [pod("a", "7")]);
  await none.clock.advance(60_000);
  expect(never).toEqual(["add a@7 initial"]);
});

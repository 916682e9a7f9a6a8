import { getEventListeners } from "node:events";

import { afterEach, expect, test } from "vitest";

import { show, startInformer, stopInformers } from "../test/informer-fixture.js";
import {
  type ScriptedWatch,
  type SeenRequest,
  added,
  bookmark,
  connectionRefused,
  deleted,
  errorEvent,
  modified,
  pod,
} from "../test/scripted-server.js";

afterEach(stopInformers);

const LIST_AT_ZERO: SeenRequest = { verb: "list", path: "/api/v1/pods", query: { resourceVersion: "0", limit: "500" } };

function watchFrom(resourceVersion: string): SeenRequest {
  return {
    verb: "watch",
    path: "/api/v1/pods",
    query: { resourceVersion, allowWatchBookmarks: "true", timeoutSeconds: "300" },
  };
}

function listFrom(resourceVersion: string): SeenRequest {
  return { verb: "list", path: "/api/v1/pods", query: { resourceVersion } };
}

function stream(resourceVersion?: string): SeenRequest {
  const query = {
    resourceVersionMatch: "NotOlderThan",
    sendInitialEvents: "true",
    allowWatchBookmarks: "true",
    timeoutSeconds: "300",
  };
  return {
    verb: "watch",
    path: "/api/v1/pods",
    query: resourceVersion === undefined ? query : { resourceVersion, ...query },
  };
}

test("first comes a paged list of any version, then a watch from the list's", async () => {
  const { server, clock, informer } = startInformer();
  server.list("10", [pod("a", "7")]);
  server.watch(added(pod("b", "11")));
  await clock.settle();
  expect(server.requests).toEqual([LIST_AT_ZERO, watchFrom("10")]);
  expect(informer.store.list().map((object) => object.metadata.name)).toEqual(["a", "b"]);
});

test("who has to start with all that was written lists without a version first, and as ever afterwards", async () => {
  const { server, clock } = startInformer({ consistentFirstList: true });
  server.refuse(503, "ServiceUnavailable");
  server.list("10", [pod("a", "7")]);
  server.watch(errorEvent(410, "Expired"));
  await clock.advance(5_000);
  const consistent = { ...LIST_AT_ZERO, query: { limit: "500" } };
  expect(server.requests.slice(0, 4)).toEqual([consistent, consistent, watchFrom("10"), listFrom("10")]);
});

test("and a stream of the initial list says no version either", async () => {
  const { server, clock } = startInformer({ consistentFirstList: true, watchList: true });
  await clock.settle();
  expect(server.requests).toEqual([stream()]);
});

test("a watch asks to be ended between the shortest time-out and twice that", async () => {
  const asked = async (draw: number, minWatchTimeoutMs?: number): Promise<unknown> => {
    const random = { next: () => draw, uint32: () => 0, fork: () => random };
    const { server, clock } = startInformer({
      random,
      ...(minWatchTimeoutMs === undefined ? {} : { minWatchTimeoutMs }),
    });
    server.list("10", []);
    await clock.settle();
    return server.requests[1]?.query["timeoutSeconds"];
  };
  expect(await asked(0)).toBe("300");
  expect(await asked(0.9999)).toBe("599");
  expect(await asked(0, 600_000)).toBe("600");
  expect(await asked(0, 1000)).toBe("300");
});

test("namespace and selectors go with every request", async () => {
  const { server, clock } = startInformer({
    namespace: "default",
    labelSelector: "a=b",
    fieldSelector: "spec.nodeName=n",
  });
  server.list("10", []);
  await clock.settle();
  for (const { path, query } of server.requests) {
    expect(path).toBe("/api/v1/namespaces/default/pods");
    expect(query).toMatchObject({ labelSelector: "a=b", fieldSelector: "spec.nodeName=n" });
  }
  expect(server.requests.length).toBe(2);
});

test("pages are put together without a resourceVersion, under that of the first page", async () => {
  const { server, clock, informer } = startInformer();
  server.list("10", [pod("a", "1"), pod("b", "2")], { continue: "t1" });
  server.list("11", [pod("c", "3"), pod("d", "4")], { continue: "t2" });
  server.list("12", [pod("e", "5")]);
  await clock.settle();
  expect(server.requests.map(({ query }) => query)).toEqual([
    { resourceVersion: "0", limit: "500" },
    { limit: "500", continue: "t1" },
    { limit: "500", continue: "t2" },
    watchFrom("10").query,
  ]);
  expect(informer.store.list().length).toBe(5);
  expect(informer.store.lastStoreSyncResourceVersion).toBe("10");
});

test("a continuation that expires is replaced by one full answer", async () => {
  const { server, clock, informer } = startInformer();
  server.list("10", [pod("deleted", "1")], { continue: "t1" });
  server.refuse(410, "Expired");
  server.list("15", [pod("a", "1"), pod("b", "12")]);
  await clock.settle();
  expect(server.requests[2]).toEqual(listFrom("0"));
  expect(informer.store.list().map((object) => object.metadata.name)).toEqual(["a", "b"]);
  expect(server.requests[3]).toEqual(watchFrom("15"));
});

test("a server that pages at version 0 is asked for pages ever after", async () => {
  const { server, clock } = startInformer();
  server.list("10", [], { continue: "t1" });
  server.list("10", []);
  server.watch(errorEvent(410, "Expired"));
  await clock.settle();
  server.takeRequests();
  server.list("20", []);
  await clock.advance(800);
  expect(server.requests[0]?.query).toEqual({ resourceVersion: "10", limit: "500" });
});

test("a watch that ends cleanly is opened again at once from the last version seen", async () => {
  const { server, clock } = startInformer();
  server.list("10", []);
  const watch = server.watch(added(pod("a", "120")));
  await clock.advance(300_000);
  watch.end();
  const next = server.watch(bookmark("200"));
  await clock.settle();
  next.end();
  await clock.settle();
  expect(server.requests).toEqual([LIST_AT_ZERO, watchFrom("10"), watchFrom("120"), watchFrom("200")]);
});

test("a connection that breaks loses nothing: the watch continues from the last version observed", async () => {
  const { server, clock, log, errors } = startInformer();
  server.list("10", [pod("a", "7")]);
  const watch = server.watch(modified(pod("a", "11")));
  await clock.settle();
  server.watch(modified(pod("a", "12")), added(pod("b", "13")));
  watch.cut();
  await clock.settle();
  expect(server.requests.at(-1)).toEqual(watchFrom("11"));
  expect(log).toEqual(["add a@7 initial", "update a@7 a@11", "update a@11 a@12", "add b@13"]);
  expect(errors).toEqual([]);
});

test("a watch that closes within a second without events is followed by a back-off and one full list", async () => {
  const { server, clock, errors } = startInformer();
  server.list("10", []);
  const watch = server.watch();
  await clock.advance(400);
  watch.end();
  await clock.advance(799);
  expect(server.takeRequests().length).toBe(2);
  expect(errors.map((error) => error.message)).toEqual([
    "very short watch of pods: Unexpected watch close - watch lasted less than a second and no items received",
  ]);
  await clock.advance(1);
  expect(server.requests).toEqual([listFrom("10")]);
});

test("an expired watch is followed by a list of what was last seen; if that has expired too, of the present", async () => {
  const { server, clock, errors, log } = startInformer();
  server.list("10", [pod("a", "7"), pod("b", "8")]);
  server.watch(errorEvent(410, "Expired"));
  await clock.settle();
  server.takeRequests();
  server.refuse(410, "Expired");
  server.list("50", [pod("a", "7"), pod("c", "40")]);
  await clock.advance(800);
  expect(server.takeRequests()).toEqual([
    listFrom("10"),
    { verb: "list", path: "/api/v1/pods", query: {} },
    watchFrom("50"),
  ]);
  expect(log.slice(2)).toEqual(["tombstone b@8", "update a@7 a@7", "add c@40"]);
  expect(errors).toEqual([]);

  server.watch(errorEvent(410, "Gone")).end();
  await clock.advance(1600);
});

test("a watch that is given up is closed, and leaves nothing on the signal", async () => {
  const { server, clock, signal } = startInformer();
  server.list("10", []);
  const watches: ScriptedWatch[] = [];
  for (let round = 0; round < 20; round++) {
    watches.push(server.watch(errorEvent(429, "TooManyRequests")));
    await clock.advance(30_000);
  }
  expect(watches.map(({ closed }) => closed)).toEqual(watches.map(() => true));
  expect(getEventListeners(signal, "abort").length).toBeLessThanOrEqual(3);
});

test("after a list of the present, lists start from the version seen again", async () => {
  const { server, clock } = startInformer();
  server.list("10", []);
  server.watch(errorEvent(410, "Expired"));
  await clock.settle();
  server.refuse(410, "Expired");
  server.list("50", []);
  server.watch(errorEvent(410, "Expired"));
  await clock.advance(800);
  server.takeRequests();
  await clock.advance(1600);
  expect(server.requests).toEqual([listFrom("50")]);
});

test("a version too large for the server is given up at once", async () => {
  const { server, clock } = startInformer();
  server.list("10", []);
  server.watch(errorEvent(410, "Expired"));
  await clock.settle();
  server.takeRequests();
  server.refuse(504, "Timeout", {
    details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }] },
  });
  server.list("5", []);
  await clock.advance(800);
  expect(server.requests.map(({ query }) => query["resourceVersion"])).toEqual(["10", undefined, "5"]);
});

test("while connections are refused the watch is retried with growing pauses, without a list", async () => {
  const { server, clock, errors, informer } = startInformer();
  server.list("10", [pod("a", "7")]);
  for (let refusal = 0; refusal < 3; refusal++) server.fail(connectionRefused());
  await clock.settle();
  const times: number[] = [];
  for (let elapsedMs = 0; elapsedMs <= 6000; elapsedMs += 100) {
    if (server.takeRequests().length > 0) times.push(elapsedMs);
    await clock.advance(100);
  }
  expect(times).toEqual([0, 800, 2400, 5600]);
  server.watch(added(pod("b", "11")));
  await clock.settle();
  expect(informer.store.list().length).toBe(2);
  expect(errors.length).toBe(3);
  expect(errors[0]?.message).toContain("failed to watch pods: fetch failed: connect ECONNREFUSED");
});

test("too many requests: the watch waits, and is opened again without a list", async () => {
  const { server, clock } = startInformer();
  server.list("10", []);
  server.watch(errorEvent(429, "TooManyRequests"));
  await clock.settle();
  server.refuse(429, "TooManyRequests");
  await clock.advance(800);
  server.watch();
  await clock.advance(1600);
  expect(server.requests).toEqual([LIST_AT_ZERO, watchFrom("10"), watchFrom("10"), watchFrom("10")]);
});

test("a watch refused for another reason is reported once and followed by a list", async () => {
  const { server, clock, errors } = startInformer();
  server.list("10", []);
  server.refuse(403, "Forbidden");
  await clock.advance(800);
  expect(errors.map(({ step, message }) => `${step}: ${message}`)).toEqual([
    "watch: failed to watch pods: scripted Forbidden",
  ]);
  expect(server.requests.at(-1)).toEqual(listFrom("10"));
});

test("another error in the stream is reported and followed by a list", async () => {
  const { server, clock, errors } = startInformer();
  server.list("10", []);
  server.watch(errorEvent(500, "InternalError"));
  await clock.advance(800);
  expect(errors.map(({ message }) => message)).toEqual(["watch of pods ended: scripted InternalError"]);
  expect(server.requests.at(-1)).toEqual(listFrom("10"));
});

test("the pauses double up to thirty seconds and start over after more than two minutes", async () => {
  const { server, clock, errors } = startInformer();
  for (let attempt = 0; attempt < 60; attempt++) server.refuse(500, "InternalError");
  const times: number[] = [];
  for (let elapsedMs = 0; elapsedMs < 600_000; elapsedMs += 100) {
    await clock.settle();
    if (server.takeRequests().length > 0) times.push(elapsedMs);
    await clock.advance(100);
  }
  const pauses = times.slice(1).map((time, index) => time - times[index]!);
  expect(pauses.slice(0, 12)).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000, 800, 1600, 3200]);
  expect(pauses.filter((pause) => pause === 800).length).toBe(5);
  expect(errors[0]).toMatchObject({ step: "list", message: "failed to list pods: scripted InternalError" });
});

test("an event of another kind, without metadata or that is none at all is reported and passed over", async () => {
  const { server, clock, errors, informer } = startInformer();
  server.list("10", []);
  const watch = server.watch(
    added({ ...pod("x", "11"), kind: "Job" }),
    added({ kind: "Pod" } as never),
    null as never,
    added(pod("a", "12")),
  );
  await clock.settle();
  expect(errors.map(({ message }) => message)).toEqual([
    "watch of pods: expected a Pod, got a Job",
    "watch of pods: expected a Pod, got a Pod without metadata",
    "watch of pods: expected a Pod, got nothing",
  ]);
  expect(informer.store.list().map((object) => object.metadata.name)).toEqual(["a"]);
  expect(watch.closed).toBe(false);
});

test("a line that is not JSON is followed by a back-off and a list; a line cut short is a clean end", async () => {
  const { server, clock, errors } = startInformer();
  server.list("10", []);
  server.watchBytes(`${JSON.stringify(added(pod("a", "11")))}\n{"type":"ADDED","obj`);
  server.watchBytes(`{broken}\n`);
  await clock.advance(800);
  expect(server.requests).toEqual([LIST_AT_ZERO, watchFrom("10"), watchFrom("11"), listFrom("11")]);
  expect(errors[0]?.message).toContain("unable to decode an event from the watch stream");
});

test("a stream without a word is closed by us some time after the server should have", async () => {
  const { server, clock } = startInformer();
  server.list("10", []);
  const watch = server.watch();
  await clock.advance(329_999);
  expect(watch.closed).toBe(false);
  await clock.advance(1);
  expect(watch.closed).toBe(true);
  expect(server.requests.at(-1)).toEqual(watchFrom("10"));
});

test("a list that is never answered is given up and asked for again", async () => {
  const { server, clock, errors } = startInformer();
  await clock.advance(300_800);
  expect(errors.map(({ message }) => message)).toEqual(["failed to list pods: no answer within 300 s"]);
  expect(server.requests).toEqual([LIST_AT_ZERO, LIST_AT_ZERO]);
});

test("streaming: the initial list is a watch; the store stays empty until its end, and the stream continues", async () => {
  const { server, clock, informer, log } = startInformer({ watchList: true });
  const watch = server.watch(
    added(pod("a", "7")),
    added(pod("b", "8")),
    added(pod("c", "9")),
    deleted(pod("c", "10")),
    bookmark("10"),
  );
  await clock.settle();
  expect(server.requests).toEqual([stream()]);
  expect(informer.store.list()).toEqual([]);
  expect(informer.hasSynced).toBe(false);
  watch.send(bookmark("12", { initialEventsEnd: true }));
  watch.send(modified(pod("a", "13")));
  await clock.settle();
  expect(log).toEqual(["add a@7 initial", "add b@8 initial", "update a@7 a@13"]);
  expect(informer.hasSynced).toBe(true);
  watch.end();
  await clock.settle();
  expect(server.requests).toEqual([stream(), watchFrom("13")]);
});

test("events that are sent again do not take the cache back in time", async () => {
  const { server, clock, informer, log, errors } = startInformer({ watchList: true });
  const watch = server.watch(
    added(pod("a", "7")),
    added(pod("b", "9")),
    added(pod("b", "8")),
    deleted(pod("a", "6")),
    bookmark("10", { initialEventsEnd: true }),
  );
  await clock.settle();
  expect(log).toEqual(["add a@7 initial", "add b@9 initial"]);
  watch.send(modified(pod("a", "12")));
  watch.send(modified(pod("a", "11")));
  watch.send(deleted(pod("b", "8")));
  watch.send(bookmark("9"));
  await clock.settle();
  expect(log.slice(2)).toEqual(["update a@7 a@12"]);
  expect(informer.store.lastStoreSyncResourceVersion).toBe("12");
  expect(errors.map(({ step, message }) => `${step}: ${message}`)).toEqual([
    "event: watch of pods: passed over what was sent again: 11 after 12",
    "event: watch of pods: passed over what was sent again: 8 after 12",
    "event: watch of pods: passed over what was sent again: 9 after 12",
  ]);
  watch.end();
  await clock.settle();
  expect(server.requests.at(-1)).toEqual(watchFrom("12"));
});

test("an answer that is no list leaves the cache alone", async () => {
  const { server, clock, informer, errors } = startInformer();
  server.list("10", [pod("a", "7")]);
  server.watch(errorEvent(410, "Expired"));
  server.answer({ kind: "PodList", metadata: {} });
  server.answer({ kind: "Table", metadata: { resourceVersion: "30" }, rows: [] });
  server.list("50", [pod("b", "40")]);
  await clock.advance(800 + 1599);
  expect(informer.store.list().map(show)).toEqual(["a@7"]);
  await clock.advance(60_000);
  expect(informer.store.list().map(show)).toEqual(["b@40"]);
  expect(errors.map(({ message }) => message)).toEqual([
    'failed to list pods: the answer is not a list: {"kind":"PodList","metadata":{}}',
    "failed to list pods: unsupported list gvk: a Table",
  ]);
});

test("streaming: a server that refuses gets a list request at once, and is asked again at the next occasion", async () => {
  const { server, clock } = startInformer({ watchList: true });
  server.refuse(400, "BadRequest");
  server.list("10", []);
  server.watch(errorEvent(410, "Expired"));
  await clock.advance(800);
  expect(server.requests).toEqual([stream(), LIST_AT_ZERO, watchFrom("10"), stream("10")]);
});

test("streaming: what came over a stream cut before its end is forgotten", async () => {
  const { server, clock, informer, log } = startInformer({ watchList: true });
  const watch = server.watch(added(pod("a", "7")), added(pod("b", "8")), added(pod("c", "9")));
  await clock.settle();
  watch.cut();
  server.watch(added(pod("b", "8")), bookmark("12", { initialEventsEnd: true }));
  await clock.settle();
  expect(server.requests).toEqual([stream(), stream()]);
  expect(log).toEqual(["add b@8 initial"]);
  expect(informer.store.lastStoreSyncResourceVersion).toBe("12");
});

test("streaming: a server that cuts every stream is not asked without pause", async () => {
  const { server, clock } = startInformer({ watchList: true });
  for (let attempt = 0; attempt < 10; attempt++) server.watch(added(pod("a", "7"))).cut();
  await clock.settle();
  expect(server.requests.length).toBe(2);
  await clock.advance(800);
  expect(server.requests.length).toBe(3);
});

test("streaming: an expired version is dropped at once, and the next one is used again", async () => {
  const { server, clock, informer } = startInformer({ watchList: true });
  server.watch(bookmark("500", { initialEventsEnd: true }), errorEvent(410, "Expired"));
  await clock.settle();
  server.refuse(410, "Expired");
  server.watch(bookmark("900", { initialEventsEnd: true }), errorEvent(410, "Expired"));
  await clock.advance(800);
  expect(server.requests).toEqual([stream(), stream("500"), stream()]);
  expect(informer.store.lastStoreSyncResourceVersion).toBe("900");
  await clock.advance(1600);
  expect(server.requests.at(-1)).toEqual(stream("900"));
});

test("streaming: a server that says expired to everything gets a list request, not a storm", async () => {
  const { server, clock } = startInformer({ watchList: true });
  server.refuse(410, "Expired");
  server.refuse(410, "Expired");
  server.list("10", []);
  await clock.settle();
  expect(server.requests).toEqual([stream(), stream(), LIST_AT_ZERO_UNAVAILABLE, watchFrom("10")]);
});

const LIST_AT_ZERO_UNAVAILABLE: SeenRequest = { verb: "list", path: "/api/v1/pods", query: { limit: "500" } };

test("streaming: a refused connection and a full server are waited for", async () => {
  const { server, clock } = startInformer({ watchList: true });
  server.fail(connectionRefused());
  server.refuse(429, "TooManyRequests");
  server.watch(bookmark("10", { initialEventsEnd: true }));
  await clock.settle();
  expect(server.requests).toEqual([stream()]);
  await clock.advance(800);
  expect(server.requests).toEqual([stream(), stream()]);
  await clock.advance(1600);
  expect(server.requests).toEqual([stream(), stream(), stream()]);
});

test("a long burst of events lets others have their turn", async () => {
  const { server, clock, informer } = startInformer();
  server.list("10", []);
  let turns = 0;
  const turn = clock.yieldToEventLoop.bind(clock);
  clock.yieldToEventLoop = () => {
    turns++;
    return turn();
  };
  server.watch(...Array.from({ length: 5000 }, (_, index) => added(pod(`p${index}`, `${100 + index}`))));
  await clock.settle();
  expect(informer.store.list().length).toBe(5000);
  expect(turns).toBeGreaterThanOrEqual(4);
  expect(turns).toBeLessThan(50);
});

test("what comes one by one is taken in at once, however much has come before", async () => {
  const { server, clock, informer } = startInformer();
  server.list("10", []);
  const watch = server.watch();
  await clock.settle();
  const late: number[] = [];
  for (let index = 1; index <= 2000; index++) {
    watch.send(added(pod(`p${index}`, `${100 + index}`)));
    // Only promises run, as within one instant of simulated time.
    for (let tick = 0; tick < 20; tick++) await Promise.resolve();
    if (informer.store.list().length < index) late.push(index);
    if (index % 400 === 0) await clock.settle();
  }
  expect(late).toEqual([]);
});

test("streaming: a list that cannot be taken in is given up with its stream, and asked for again", async () => {
  let broken = true;
  const { server, clock, errors, log } = startInformer({
    watchList: true,
    indexers: {
      picky: () => {
        if (broken) throw new Error("cannot index");
        return [];
      },
    },
  });
  const watch = server.watch(added(pod("a", "7")), bookmark("10", { initialEventsEnd: true }), added(pod("b", "11")));
  await clock.settle();
  expect(watch.closed).toBe(true);
  expect(log).toEqual([]);
  expect(errors.map(({ message }) => message)).toEqual([
    'failed to take in the list of pods: unable to calculate an index entry for key "default/a" on index "picky": cannot index',
  ]);
  broken = false;
  server.watch(added(pod("a", "7")), bookmark("10", { initialEventsEnd: true }));
  await clock.advance(800);
  expect(log).toEqual(["add a@7 initial"]);
});

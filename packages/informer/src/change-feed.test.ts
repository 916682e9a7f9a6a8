import { pods } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { SimulatedClock } from "@kubewright/clock";
import { expect, test } from "vitest";

import { leastRandom } from "../test/informer-fixture.js";
import { ScriptedServer, pod } from "../test/scripted-server.js";
import { InformerFactory } from "./informer-factory.js";

function newFeed() {
  const clock = new SimulatedClock();
  const server = new ScriptedServer();
  const client = new Client({ transport: server.transport, clock });
  const received: string[] = [];
  const errors: string[] = [];
  const factory = new InformerFactory({
    client,
    clock,
    random: leastRandom,
    watchList: false,
    onError: ({ step, message }) => void errors.push(`${step}: ${message}`),
  });
  const stop = new AbortController();
  const follow = (): void =>
    factory.follow(pods, (type, { metadata: { name, resourceVersion } }) => {
      received.push(`${type} ${name} ${resourceVersion}`);
      if (name === "bad") throw new Error("no good");
    });
  return { clock, server, factory, stop, follow, received: () => received.splice(0), errors };
}

test("a feed delivers existing, new and changed objects, and no deletions", async () => {
  const { clock, server, factory, stop, follow, received } = newFeed();
  follow();
  const stopped = factory.run(stop.signal);
  server.list("10", [pod("a", "7"), pod("b", "9")]);
  const watch = server.watch();
  await clock.settle();
  expect(received()).toEqual(["LISTED a 7", "LISTED b 9"]);
  watch.send({ type: "ADDED", object: pod("c", "11") });
  watch.send({ type: "MODIFIED", object: pod("a", "12") });
  watch.send({ type: "DELETED", object: pod("b", "13") });
  await clock.settle();
  expect(received()).toEqual(["ADDED c 11", "MODIFIED a 12"]);
  stop.abort();
  await stopped;
  expect(clock.nextTimerInMs).toBeUndefined();
});

test("after a gap a feed delivers only what it has not delivered", async () => {
  const { clock, server, factory, stop, follow, received } = newFeed();
  follow();
  const stopped = factory.run(stop.signal);
  server.list("9", [pod("a", "9")]);
  const watch = server.watch({ type: "ADDED", object: pod("b", "99") });
  await clock.settle();
  watch.send({ type: "DELETED", object: pod("a", "100") });
  watch.send({
    type: "ERROR",
    object: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "Expired", code: 410 },
  });
  server.list("103", [pod("b", "99"), pod("a", "101"), pod("c", "103")]);
  server.watch({ type: "ADDED", object: pod("d", "104") });
  await clock.advance(60_000);
  expect(received()).toEqual(["LISTED a 9", "ADDED b 99", "LISTED a 101", "LISTED c 103", "ADDED d 104"]);
  stop.abort();
  await stopped;
});

test("a feed requested later starts by itself, and a listener that throws is reported and receives the rest", async () => {
  const { clock, server, factory, stop, follow, received, errors } = newFeed();
  const stopped = factory.run(stop.signal);
  follow();
  server.list("10", [pod("bad", "7"), pod("b", "9")]);
  server.watch({ type: "MODIFIED", object: pod("bad", "11") }, { type: "ADDED", object: pod("c", "12") });
  await clock.settle();
  expect(received()).toEqual(["LISTED bad 7", "LISTED b 9", "MODIFIED bad 11", "ADDED c 12"]);
  const failed = 'handler: a listener failed to take in pods "default/bad": no good';
  expect(errors).toEqual([failed, failed]);
  stop.abort();
  await stopped;
});

import { afterEach, expect, test } from "vitest";

import { startInformer, stopInformers } from "../test/informer-fixture.js";
import { errorEvent } from "../test/scripted-server.js";

afterEach(stopInformers);

const verbs = (requests: readonly { readonly verb: string }[]): string => requests.map(({ verb }) => verb).join(" ");

test("within the window after the first InternalError a watch is opened again at once, then there is a list", async () => {
  const { server, clock, errors } = startInformer({ internalErrorRetryMs: 10_000 });
  server.list("10", []);
  let watch = server.watch();
  await clock.advance(5000);
  server.takeRequests();
  for (const atMs of [0, 4000, 10_000]) {
    watch.send(errorEvent(500, "InternalError"));
    watch = server.watch();
    await clock.settle();
    expect(verbs(server.takeRequests()), `${atMs} ms after the first`).toBe("watch");
    await clock.advance(atMs === 0 ? 4000 : 6000);
  }
  expect(errors).toEqual([]);
  // Now 16 s have passed since the first error.
  watch.send(errorEvent(500, "InternalError"));
  await clock.settle();
  expect(server.takeRequests()).toEqual([]);
  expect(errors.map(({ message }) => message)).toEqual(["watch of pods ended: scripted InternalError"]);
  server.list("20", []);
  watch = server.watch();
  await clock.advance(800);
  expect(verbs(server.takeRequests())).toBe("list watch");
  // The previous window has ended, and a new one begins.
  watch.send(errorEvent(500, "InternalError"));
  server.watch();
  await clock.settle();
  expect(verbs(server.takeRequests())).toBe("watch");
});

test("a minute without an InternalError restarts the window", async () => {
  const { server, clock, errors } = startInformer({ internalErrorRetryMs: 1000 });
  server.list("10", []);
  let watch = server.watch();
  await clock.settle();
  for (let round = 0; round < 3; round++) {
    server.takeRequests();
    watch.send(errorEvent(500, "InternalError"));
    watch = server.watch();
    await clock.settle();
    expect(verbs(server.takeRequests())).toBe("watch");
    await clock.advance(60_000);
  }
  expect(errors).toEqual([]);
});

test("without a window an InternalError is followed by a list", async () => {
  const { server, clock } = startInformer();
  server.list("10", []);
  server.watch(errorEvent(500, "InternalError"));
  server.list("20", []);
  await clock.advance(800);
  expect(verbs(server.takeRequests())).toBe("list watch list watch");
});

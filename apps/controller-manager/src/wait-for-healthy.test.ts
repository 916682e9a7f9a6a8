import { SimulatedClock } from "@kubewright/clock";
import { silentLogger } from "@kubewright/controller";
import type { ApiResponse, Transport } from "@kubewright/transport";
import { expect, test } from "vitest";

import { waitForHealthy } from "./wait-for-healthy.js";

function answer(status: number, text: string): ApiResponse {
  return { status, headers: {}, body: { type: "decoded", value: text } };
}

/** Waits for a server with the given response for each second since the start; returns the time and the outcome. */
async function wait(
  answerAt: (second: number) => ApiResponse | Error,
  signal = new AbortController().signal,
): Promise<{ clock: SimulatedClock; ended: Promise<string> }> {
  const clock = new SimulatedClock();
  const transport: Transport = async () => {
    const given = answerAt(clock.monotonic() / 1000);
    if (given instanceof Error) throw given;
    return given;
  };
  const waiting = waitForHealthy({ transport, clock, logger: silentLogger, userAgent: "test", signal });
  const ended = waiting.then(
    () => `healthy after ${clock.monotonic()} ms`,
    (error: unknown) => `${clock.monotonic()} ms: ${(error as Error).message}`,
  );
  return { clock, ended };
}

test("a healthy server is not waited for", async () => {
  const { clock, ended } = await wait(() => answer(200, "ok"));
  expect(await ended).toBe("healthy after 0 ms");
  expect(clock.pendingTimers).toBe(0);
});

test("a server that answers 503 for five seconds is waited for", async () => {
  const { clock, ended } = await wait((second) => (second < 5 ? answer(503, "not yet") : answer(200, "ok")));
  await clock.advance(20_000);
  expect(await ended).toBe("healthy after 5000 ms");
});

test("after ten seconds it fails with what went wrong last", async () => {
  const { clock, ended } = await wait((second) =>
    second < 4 ? new Error("connect ECONNREFUSED") : answer(503, "etcd failed"),
  );
  await clock.advance(20_000);
  expect(await ended).toBe(
    "10000 ms: failed to wait for apiserver being healthy: timed out waiting for the condition: failed to get apiserver /healthz status: etcd failed",
  );
});

test("of an answer without an end only the beginning is read", async () => {
  let ended = false;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield new Uint8Array(1000).fill(0x78);
    } finally {
      ended = true;
    }
  }
  const { clock, ended: waited } = await wait((second) =>
    second < 1 ? { status: 500, headers: {}, body: { type: "bytes", chunks: chunks() } } : answer(200, "ok"),
  );
  await clock.advance(5000);
  expect([await waited, ended]).toEqual(["healthy after 1000 ms", true]);
});

test("the abort signal ends the wait immediately", async () => {
  const stop = new AbortController();
  const { clock, ended } = await wait(() => answer(503, "no"), stop.signal);
  await clock.advance(1_500);
  stop.abort(new Error("stopped"));
  expect(await ended).toBe("1500 ms: stopped");
});

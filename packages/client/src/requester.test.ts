import { SimulatedClock } from "@kubewright/clock";
import type { ApiRequest, ApiResponse } from "@kubewright/transport";
import { expect, test } from "vitest";

import type { RequestMetrics } from "./request-metrics.js";
import { Requester, type RequesterOptions } from "./requester.js";

const OK: ApiResponse = { status: 200, headers: {}, body: { type: "decoded", value: "done" } };
const GET: Pick<ApiRequest, "method" | "path"> = { method: "GET", path: "/" };

function refused(status: number, retryAfter?: string): ApiResponse {
  return {
    status,
    headers: retryAfter === undefined ? {} : { "retry-after": retryAfter },
    body: { type: "decoded", value: `${status}` },
  };
}

function lost(message = "other side closed", code = "UND_ERR_SOCKET"): Error {
  return new Error("GET https://example/", { cause: Object.assign(new Error(message), { code }) });
}

/** Returns the error of a promise. Handles the rejection from the start, so that an early one is not unhandled. */
function failure(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => expect.unreachable("it did not fail"),
    (error: unknown) => error as Error,
  );
}

/** Returns a requester whose server sends these responses in order, then OK. `at` has the time of each request. */
function setUp(
  answers: readonly (ApiResponse | Error)[],
  rateLimit?: RequesterOptions["rateLimit"],
  timeoutMs?: number,
): { clock: SimulatedClock; requester: Requester; at: number[] } {
  const clock = new SimulatedClock();
  const at: number[] = [];
  const transport = async ({ signal }: ApiRequest): Promise<ApiResponse> => {
    signal?.throwIfAborted();
    const answer = answers[at.push(clock.monotonic()) - 1] ?? OK;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return {
    clock,
    at,
    requester: new Requester({ transport, clock, timeoutMs, ...(rateLimit === undefined ? {} : { rateLimit }) }),
  };
}

test("an endless response body is not read to its end before the retry", async () => {
  let ended = false;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield new Uint8Array(1000);
    } finally {
      ended = true;
    }
  }
  const endless: ApiResponse = { ...refused(503, "1"), body: { type: "bytes", chunks: chunks() } };
  const { clock, requester } = setUp([endless]);
  const answer = requester.send(GET);
  await clock.advance(1000);
  expect([await answer, ended]).toEqual([OK, true]);
});

test("a 429 with Retry-After is repeated after that many seconds, also for a POST", async () => {
  const { clock, requester, at } = setUp([refused(429, "2"), refused(503, "0"), refused(429, "2")]);
  const answer = requester.send({ method: "POST", path: "/" });
  await clock.advance(3_999);
  expect(at).toEqual([0, 2_000, 2_000]);
  await clock.advance(1);
  expect(await answer).toBe(OK);
  expect(at).toEqual([0, 2_000, 2_000, 4_000]);
});

test.each([undefined, "Wed, 21 Oct 2026 07:28:00 GMT", "1.5", "-1"])(
  "a 429 with Retry-After %j is not repeated",
  async (header) => {
    const { requester, at } = setUp([refused(429, header)]);
    expect((await requester.send(GET)).status).toBe(429);
    expect(at).toEqual([0]);
  },
);

test("a 409 with Retry-After is not repeated", async () => {
  const { requester, at } = setUp([refused(409, "1")]);
  expect((await requester.send(GET)).status).toBe(409);
  expect(at).toEqual([0]);
});

test("the eleventh refusal in a row is the answer", async () => {
  const { clock, requester, at } = setUp(Array.from({ length: 11 }, () => refused(503, "1")));
  const answer = requester.send(GET);
  await clock.advance(60_000);
  expect((await answer).status).toBe(503);
  expect(at).toHaveLength(11);
});

test("the body of an answer that is repeated is read to its end, so that the connection is free again", async () => {
  let ended = false;
  const chunks = (async function* () {
    yield new Uint8Array(1);
    ended = true;
  })();
  const { requester } = setUp([{ status: 429, headers: { "retry-after": "0" }, body: { type: "bytes", chunks } }]);
  const answer = requester.send(GET);
  await new SimulatedClock().settle();
  expect(ended).toBe(true);
  void answer;
});

test("a GET whose connection was lost is repeated a second later, a write is not", async () => {
  const { clock, requester, at } = setUp([lost(), lost("read ECONNRESET", "ECONNRESET")]);
  const answer = requester.send(GET);
  await clock.advance(2_000);
  expect(await answer).toBe(OK);
  expect(at).toEqual([0, 1_000, 2_000]);

  const write = setUp([lost()]);
  await expect(write.requester.send({ method: "PUT", path: "/" })).rejects.toThrow("GET https://example/");
  expect(write.at).toEqual([0]);
});

test("a refused connection is not repeated", async () => {
  const { requester, at } = setUp([Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" })]);
  await expect(requester.send(GET)).rejects.toThrow("connect ECONNREFUSED");
  expect(at).toEqual([0]);
});

test("an error after retries names the one before it", async () => {
  const { clock, requester } = setUp([lost(), new Error("certificate has expired")]);
  const error = failure(requester.send(GET));
  await clock.advance(1_000);
  expect((await error).message).toBe(
    "certificate has expired - error from a previous attempt: GET https://example/: other side closed",
  );
});

test("aborting ends the pause before a repetition with the signal's reason", async () => {
  const { clock, requester, at } = setUp([refused(429, "60")]);
  const abort = new AbortController();
  const error = failure(requester.send({ ...GET, signal: abort.signal }));
  await clock.settle();
  const reason = new Error("enough");
  abort.abort(reason);
  expect(await error).toBe(reason);
  expect(at).toEqual([0]);
  expect(clock.pendingTimers).toBe(0);
});

test("5 requests a second with a burst of 10: ten at once, then one every 200 ms, in order", async () => {
  const { clock, requester, at } = setUp([], { qps: 5, burst: 10 });
  const order: number[] = [];
  for (let index = 0; index < 12; index++) void requester.send(GET).then(() => order.push(index));
  await clock.advance(1_000);
  expect(at).toEqual([...Array.from({ length: 10 }, () => 0), 200, 400]);
  expect(order).toEqual([...Array(12).keys()]);
});

test("a watch's first attempt takes no token, its repetitions do", async () => {
  const { clock, requester, at } = setUp([OK, refused(429, "0")], { qps: 1, burst: 1 });
  await requester.send(GET);
  const watch = requester.send({ ...GET, watch: true });
  await clock.advance(999);
  expect(at).toEqual([0, 0]);
  await clock.advance(1);
  await watch;
  expect(at).toEqual([0, 0, 1_000]);
});

test("a request given up while waiting for a token hands the token back", async () => {
  const { clock, requester, at } = setUp([], { qps: 1, burst: 1 });
  await requester.send(GET);
  const abort = new AbortController();
  const error = failure(requester.send({ ...GET, signal: abort.signal }));
  await clock.settle();
  abort.abort(new Error("enough"));
  expect((await error).message).toBe("enough");
  void requester.send(GET);
  await clock.advance(1_000);
  expect(at).toEqual([0, 1_000]);
});

/** A server that responds after `delayMs`, unless the request is aborted before. */
function slowServer(clock: SimulatedClock, delayMs: number) {
  const sent: { path: string; atMs: number }[] = [];
  const transport = async ({ path, signal }: ApiRequest): Promise<ApiResponse> => {
    sent.push({ path, atMs: clock.monotonic() });
    await clock.sleep(delayMs, signal);
    return OK;
  };
  return { sent, transport };
}

test("a time-out begins after the wait for the rate limit, and is sent to the server", async () => {
  const clock = new SimulatedClock();
  const { sent, transport } = slowServer(clock, 4_900);
  const requester = new Requester({ transport, clock, timeoutMs: 5_000, rateLimit: { qps: 0.125, burst: 1 } });
  const answers = [requester.send(GET), requester.send({ method: "GET", path: "/a?b=c" })];
  await clock.advance(20_000);
  expect(await Promise.all(answers)).toEqual([OK, OK]);
  expect(sent).toEqual([
    { path: "/?timeout=5s", atMs: 0 },
    { path: "/a?b=c&timeout=5s", atMs: 8_000 },
  ]);
  expect(clock.nextTimerInMs).toBeUndefined();
});

test("a time-out covers the call with its repetitions, and the reading of the answer", async () => {
  const { clock, requester } = setUp(
    Array.from({ length: 11 }, () => refused(503, "1")),
    undefined,
    2_500,
  );
  const error = failure(requester.send(GET));
  await clock.advance(10_000);
  expect((await error).message).toBe("GET /: not answered within 2500 ms");

  const slow = new SimulatedClock();
  const chunks = (signal: AbortSignal) =>
    (async function* () {
      yield new Uint8Array(1);
      await slow.sleep(60_000, signal);
    })();
  const transport = async ({ signal }: ApiRequest): Promise<ApiResponse> => ({
    ...OK,
    body: { type: "bytes", chunks: chunks(signal!) },
  });
  const { body } = await new Requester({ transport, clock: slow, timeoutMs: 1_500 }).send(GET);
  const reading = failure(
    (async () => {
      if (body.type === "bytes") for await (const _chunk of body.chunks);
    })(),
  );
  await slow.advance(1_500);
  expect((await reading).message).toBe("GET /: not answered within 1500 ms");
});

test("a caller's abort wins over a time-out, and a watch has none", async () => {
  const clock = new SimulatedClock();
  const { sent, transport } = slowServer(clock, 60_000);
  const requester = new Requester({ transport, clock, timeoutMs: 5_000 });
  const abort = new AbortController();
  const error = failure(requester.send({ ...GET, signal: abort.signal }));
  const watch = requester.send({ ...GET, watch: true });
  await clock.advance(1_000);
  abort.abort(new Error("enough"));
  expect((await error).message).toBe("enough");
  await clock.advance(59_000);
  expect(await watch).toBe(OK);
  expect(sent.map(({ path }) => path).sort()).toEqual(["/", "/?timeout=5s"]);
});

test.each([0, -1, Number.NaN])("a time-out of %s is refused", (timeoutMs) => {
  const clock = new SimulatedClock();
  expect(() => new Requester({ transport: async () => OK, clock, timeoutMs })).toThrow("timeoutMs must be positive");
});

test("attempts, waits, sizes and durations are measured per call; a watch only has attempts", async () => {
  const clock = new SimulatedClock();
  const log: unknown[][] = [];
  const metrics: RequestMetrics = {
    countAttempt: (...args) => log.push(["attempt", ...args]),
    observeRateLimiter: (...args) => log.push(["wait", ...args]),
    observeRequestSize: (...args) => log.push(["sent", ...args]),
    observeResponseSize: (...args) => log.push(["received", ...args]),
    observeDuration: (...args) => log.push(["took", ...args]),
  };
  const answers: (ApiResponse | Error)[] = [
    { ...refused(429, "2"), sentBytes: 30 },
    { ...refused(429, "2"), sentBytes: 30 },
    { ...OK, status: 201, sentBytes: 30 },
    new Error("connection refused"),
    OK,
  ];
  const transport = async (): Promise<ApiResponse> => {
    const answer = answers.shift()!;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const requester = new Requester({ transport, clock, metrics, rateLimit: { qps: 10, burst: 1 } });
  const created = requester.send({ method: "POST", path: "/" });
  await clock.advance(10_000);
  await created;
  await failure(requester.send(GET));
  await requester.send({ ...GET, watch: true });
  expect(log).toEqual([
    ["wait", "POST", 0],
    ["attempt", "POST", 429, false],
    ["sent", "POST", 30],
    ["wait", "POST", 0],
    ["attempt", "POST", 429, true],
    ["sent", "POST", 30],
    ["wait", "POST", 0],
    ["attempt", "POST", 201, true],
    ["sent", "POST", 30],
    ["took", "POST", 4],
    ["wait", "GET", 0],
    ["attempt", "GET", undefined, false],
    ["took", "GET", 0],
    ["attempt", "GET", 200, false],
  ]);
});

test("a rate limit without a burst is refused; a negative rate means none", async () => {
  const clock = new SimulatedClock();
  const make = (qps: number, burst: number) =>
    new Requester({ transport: async () => OK, clock, rateLimit: { qps, burst } });
  expect(() => make(5, 0)).toThrow("burst is required to be greater than 0 when RateLimiter is not set and QPS is set");
  expect(() => make(0, 10)).toThrow("qps must not be 0");
  expect(() => make(Number.NaN, 10)).toThrow("qps must not be NaN");
  const unlimited = make(-1, 0);
  await Promise.all(Array.from({ length: 100 }, () => unlimited.send(GET)));
  expect(clock.monotonic()).toBe(0);
});

test("a request that is waited for keeps the process alive until its time is over, though its transport holds nothing", async () => {
  const clock = new SimulatedClock();
  const requester = new Requester({ transport: () => new Promise<never>(() => {}), clock, timeoutMs: 5_000 });
  void requester.send(GET).catch(() => undefined);
  await clock.settle();
  expect(clock.pendingTimers).toBe(1);
  const { signal } = new AbortController();
  const answered = new Requester({ transport: async () => OK, clock, timeoutMs: 5_000 });
  await answered.send({ ...GET, signal });
  expect(clock.pendingTimers).toBe(1);
  await clock.advance(5_000);
  expect(clock.nextTimerInMs).toBeUndefined();
});

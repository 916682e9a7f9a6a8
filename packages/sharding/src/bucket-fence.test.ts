import { SimulatedClock } from "@kubewright/clock";
import type { ApiRequest, ApiResponse } from "@kubewright/transport";
import { expect, test } from "vitest";

import { BucketFence } from "./bucket-fence.js";

const ok: ApiResponse = { status: 200, headers: {}, body: { type: "decoded", value: {} } };
const write: ApiRequest = { method: "POST", path: "/api/v1/namespaces/a/pods", headers: {} };

function setUp(answer: (request: ApiRequest) => Promise<ApiResponse> = async () => ok) {
  const clock = new SimulatedClock();
  const sent: ApiRequest[] = [];
  const refused: string[] = [];
  const lease = { endMs: Infinity };
  const fence = new BucketFence({
    transport: (request) => {
      sent.push(request);
      return answer(request);
    },
    clock,
    requestTimeoutMs: 4_000,
    maxWriteDelayMs: 7_000,
    holdsLease: () => clock.monotonic() < lease.endMs,
    onRefused: (reason) => refused.push(reason),
  });
  let settledMs: number | undefined;
  const settle = (): void => void fence.settled().then(() => (settledMs = clock.monotonic()));
  return { clock, fence, sent, refused, lease, settle, settledMs: () => settledMs };
}

test("writes pass while it is open and the lease holds, reads always", async () => {
  const { fence, sent, refused, lease } = setUp();
  const attempt = (): Promise<unknown> => fence.transport(write).catch((error: unknown) => (error as Error).message);
  expect(await attempt()).toBe("POST /api/v1/namespaces/a/pods not sent: the bucket has not synced yet");
  fence.open();
  expect(await attempt()).toBe(ok);
  lease.endMs = 0;
  expect(await attempt()).toBe("POST /api/v1/namespaces/a/pods not sent: the lease was not renewed in time");
  lease.endMs = Infinity;
  fence.close();
  fence.open();
  expect(await attempt()).toBe("POST /api/v1/namespaces/a/pods not sent: the bucket was released");
  expect(await fence.transport({ ...write, method: "GET" })).toBe(ok);
  expect(refused).toEqual(["not open", "lease", "closed"]);
  expect(sent.map(({ path }) => path)).toEqual([`${write.path}?timeout=4000ms`, write.path]);
});

test("a write that was answered is settled", async () => {
  const { clock, fence, settle, settledMs } = setUp();
  fence.open();
  await fence.transport(write);
  fence.close();
  settle();
  await clock.settle();
  expect(settledMs()).toBe(0);
});

test.each([
  ["never", () => new Promise<ApiResponse>(() => {}), 7_000],
  ["with a broken connection", () => Promise.reject<ApiResponse>(new Error("read ECONNRESET")), 7_000],
  ["that it took too long", async () => ({ ...ok, status: 504 }), 7_000],
])("a write that is answered %s can happen for as long as it may be on its way", async (_, answer, untilMs) => {
  const { clock, fence, settle, settledMs } = setUp(answer);
  fence.open();
  void fence.transport({ ...write, path: `${write.path}?fieldManager=a` }).catch(() => {});
  await clock.settle();
  fence.close();
  settle();
  await clock.advance(untilMs - 1);
  expect(settledMs()).toBeUndefined();
  await clock.advance(1);
  expect(settledMs()).toBe(untilMs);
});

test("a write that is queued for a connection when the lease ends is not sent, and release does not wait for it", async () => {
  let send: (() => void) | undefined;
  const waits = (request: ApiRequest): Promise<ApiResponse> =>
    new Promise((_, reject) => {
      send = () => {
        try {
          request.beforeSend!();
        } catch (error) {
          reject(error);
        }
      };
    });
  const { clock, fence, refused, lease, settle, settledMs } = setUp(waits);
  lease.endMs = 5_000;
  fence.open();
  const failed = fence.transport(write).catch((error: unknown) => (error as Error).message);
  await clock.advance(5_000);
  send!();
  expect(await failed).toBe("POST /api/v1/namespaces/a/pods not sent: the lease was not renewed in time");
  fence.close();
  settle();
  await clock.settle();
  expect([refused, settledMs()]).toEqual([["lease"], 5_000]);
});

test("a write has no time limit, even while the lease is late, and is aborted when the bucket is released", async () => {
  const { clock, fence, lease } = setUp(() => new Promise<ApiResponse>(() => {}));
  lease.endMs = 5_000;
  fence.open();
  let failure: string | undefined;
  fence.transport(write).catch((error: Error) => (failure = `${clock.monotonic()}: ${error.message}`));
  await clock.advance(14_000);
  lease.endMs = 20_000;
  await clock.advance(60_000);
  expect(failure).toBeUndefined();
  fence.close();
  await clock.settle();
  expect(failure).toBe("74000: the bucket was released");
});

test("release does not wait for a write that was cancelled before it was sent", async () => {
  const { clock, fence, sent, settle, settledMs } = setUp();
  fence.open();
  await expect(fence.transport({ ...write, signal: AbortSignal.abort(new Error("stopped")) })).rejects.toThrow(
    "stopped",
  );
  fence.close();
  settle();
  await clock.settle();
  expect([sent, settledMs()]).toEqual([[], 0]);
});

import { type Clock, SimulatedClock } from "@kubewright/clock";
import type { ApiServer, PathResponse } from "@kubewright/cluster";
import type { ApiRequest } from "@kubewright/transport";

import { readJsonObject, refusal, reply } from "./path-responses.js";

export const ADVANCE_PATH = "/_kubewright/clock/advance";

/** Maximum step of one request in seconds, unless the request has `maxSeconds`: a year. */
const DEFAULT_MAX_SECONDS = 366 * 86_400;
/** Maximum of `maxSeconds`: a hundred years. */
const MAX_SECONDS = 100 * DEFAULT_MAX_SECONDS;
/** Real time after which an advance serves sockets, in milliseconds. Serving a request takes several such turns. */
const YIELD_INTERVAL_MS = 10;
/** Maximum quiet time of one request: ten minutes. */
const MAX_SETTLE_MS = 600_000;

/**
 * The clock of `serve --speed manual`. It is paused until a client POSTs `{"seconds": N, "settleMs": M}` to {@link
 * ADVANCE_PATH}.
 *
 * Each such request does three things:
 *
 * - All timers due up to now + N fire in order. The cluster's own components are idle at every step.
 * - Outside watchers receive their pending events.
 * - The request waits until M real milliseconds (default 0) pass without a write. Each write restarts this period.
 *
 * An advance ends early when its client disconnects, and when the cluster is reset. Other requests are served meanwhile.
 *
 * With `"untilWrite": true` the clock stops at the first instant at which an object is written. An outside controller
 * with a clock in step then sees the write at its time.
 */
export class ManualClock {
  readonly clock: SimulatedClock;
  readonly #real: Clock;
  /** The last advance; the next one waits for it. */
  #last: Promise<void> = Promise.resolve();
  #willFireDue = false;
  #interruption = new AbortController();

  /** @param startMs - Initial time, in epoch milliseconds. Default: the real time. */
  constructor(real: Clock, startMs: number = real.now()) {
    this.#real = real;
    let yieldedMs = real.monotonic();
    const mustYield = (): boolean => {
      const nowMs = real.monotonic();
      if (nowMs - yieldedMs < YIELD_INTERVAL_MS) return false;
      yieldedMs = nowMs;
      return true;
    };
    this.clock = new SimulatedClock(startMs, { mustYield });
  }

  /** Resolves when no advance is pending. */
  get idle(): Promise<void> {
    return this.#last;
  }

  /** Ends all pending advances. */
  interrupt(): void {
    this.#interruption.abort(new Error("the clock was interrupted"));
    this.#interruption = new AbortController();
  }

  /**
   * Fires due timers after each request that the API server has served, because nothing else moves this clock. Returns
   * a function that stops this.
   */
  fireDueTimersAfterRequests(apiServer: ApiServer): () => void {
    return apiServer.observe(() => {
      if (this.#willFireDue) return;
      this.#willFireDue = true;
      void this.#enqueue(() => this.#fireDue());
    });
  }

  /** Answers requests to {@link ADVANCE_PATH}. */
  async serve({ method, body, signal: client }: ApiRequest, apiServer: ApiServer): Promise<PathResponse> {
    if (method !== "POST") return refusal(405, "MethodNotAllowed", `POST to ${ADVANCE_PATH}`);
    const advance = parseAdvance(body);
    if (typeof advance === "string") return refusal(400, "BadRequest", advance);
    const durationMs = advance.seconds * 1000;
    const { signal: interruption } = this.#interruption;
    const signal = client === undefined ? interruption : AbortSignal.any([client, interruption]);
    await this.#enqueue(async () => {
      if (signal.aborted) return;
      if (advance.untilWrite) await this.#advanceUntilWrite(durationMs, apiServer, signal);
      else await this.clock.advance(durationMs, signal);
    });
    if (!signal.aborted) await this.#waitUntilQuiet(apiServer, advance.settleMs);
    if (interruption.aborted) return refusal(409, "Conflict", "the cluster was reset while the clock was advanced");
    return reply(200, { now: new Date(this.clock.now()).toISOString(), resourceVersion: apiServer.resourceVersion });
  }

  async #advanceUntilWrite(durationMs: number, apiServer: ApiServer, signal: AbortSignal): Promise<void> {
    const { clock } = this;
    const before = apiServer.resourceVersion;
    const endMs = clock.monotonic() + durationMs;
    await clock.advance(0);
    while (apiServer.resourceVersion === before && clock.monotonic() < endMs && !signal.aborted)
      await clock.advance(Math.min(clock.nextTimerInMs ?? Infinity, endMs - clock.monotonic()), signal);
  }

  async #fireDue(): Promise<void> {
    await this.#real.yieldToEventLoop();
    this.#willFireDue = false;
    if ((this.clock.nextTimerInMs ?? 1) <= 0) await this.clock.advance(0);
  }

  async #waitUntilQuiet(apiServer: ApiServer, settleMs: number): Promise<void> {
    let lastVersion = apiServer.resourceVersion;
    let lastWriteMs = this.#real.monotonic();
    const stop = apiServer.observe(() => {
      if (apiServer.resourceVersion === lastVersion) return;
      lastVersion = apiServer.resourceVersion;
      lastWriteMs = this.#real.monotonic();
    });
    try {
      // Gives sockets a turn even when `settleMs` is 0.
      await this.#real.yieldToEventLoop();
      for (let leftMs = settleMs; leftMs > 0; leftMs = lastWriteMs + settleMs - this.#real.monotonic())
        await this.#real.sleep(leftMs);
      await this.#last;
    } finally {
      stop();
    }
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}

/** Returns the parsed body of a request, or the error message for an invalid one. */
function parseAdvance(body: ApiRequest["body"]): { seconds: number; settleMs: number; untilWrite: boolean } | string {
  const value = readJsonObject(body, '{"seconds": 60, "settleMs": 0}');
  if (typeof value === "string") return value;
  const { seconds, maxSeconds = DEFAULT_MAX_SECONDS, settleMs = 0, untilWrite = false } = value;
  if (typeof maxSeconds !== "number" || !(maxSeconds >= 0 && maxSeconds <= MAX_SECONDS))
    return `maxSeconds: ${JSON.stringify(maxSeconds)} is not a number from 0 to ${MAX_SECONDS}`;
  if (typeof seconds !== "number" || !(seconds >= 0 && seconds <= maxSeconds))
    return `seconds: ${JSON.stringify(seconds)} is not a number from 0 to ${maxSeconds}; "maxSeconds" raises the limit`;
  if (typeof settleMs !== "number" || !(settleMs >= 0 && settleMs <= MAX_SETTLE_MS))
    return `settleMs: ${JSON.stringify(settleMs)} is not a number from 0 to ${MAX_SETTLE_MS}`;
  if (typeof untilWrite !== "boolean") return `untilWrite: ${JSON.stringify(untilWrite)} is neither true nor false`;
  return { seconds, settleMs, untilWrite };
}

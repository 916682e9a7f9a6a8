import { type Clock, type Timer, TokenBucket } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

import { retryAfter } from "./decode.js";
import { errorMessage, isConnectionLost } from "./errors.js";
import { limits } from "./limits.js";
import type { RequestMetrics } from "./request-metrics.js";

export interface RequesterOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Sent with every request. The server derives the field manager from the part before the first `/`. */
  readonly userAgent?: string;
  /**
   * Client-side rate limit of one client, or a token bucket shared by several clients. Default, and for a negative
   * `qps`: none.
   */
  readonly rateLimit?: { readonly qps: number; readonly burst: number } | TokenBucket;
  /**
   * Maximum duration of a call, including retries and reading the response, but not the wait for the rate limit. Also
   * sent as `timeout=`, so that the server stops too. Does not apply to watches. Default: none.
   */
  readonly timeoutMs?: number | undefined;
  /** Default: no measurements. */
  readonly metrics?: RequestMetrics | undefined;
}

interface Call extends Omit<ApiRequest, "headers"> {
  readonly contentType?: string;
  /** Default: plain JSON. */
  readonly accept?: string;
  /** A watch. Its first attempt takes no token, as in client-go, and its duration is not measured. */
  readonly watch?: boolean;
}

const MAX_RETRIES = 10;
const LOST_CONNECTION_RETRY_DELAY_MS = 1_000;

/**
 * Sends requests under one rate limit, and retries at most ten times (client-go `rest.Request`). It retries responses
 * that request it (429 or any 5xx with a `Retry-After`), and reads whose connection broke before a response.
 */
export class Requester {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #headers: Readonly<Record<string, string>>;
  /** Headers by accepted type, or by content type of the body, reused for every request. */
  readonly #headersByType = new Map<string | undefined, Readonly<Record<string, string>>>();
  readonly #bucket: TokenBucket | undefined;
  readonly #timeoutMs: number | undefined;
  readonly #metrics: RequestMetrics | undefined;

  /** @throws RangeError for a time-out that is not positive, a rate of 0, or a burst that is not positive. */
  constructor({ transport, clock, userAgent = "kubewright", rateLimit, timeoutMs, metrics }: RequesterOptions) {
    if (timeoutMs !== undefined && !(timeoutMs > 0))
      throw new RangeError(`timeoutMs must be positive, not ${timeoutMs}`);
    this.#transport = transport;
    this.#clock = clock;
    this.#headers = { accept: "application/json", "user-agent": userAgent };
    this.#bucket = rateLimit === undefined ? undefined : bucketOf(rateLimit, clock);
    this.#timeoutMs = timeoutMs;
    this.#metrics = metrics;
  }

  send(call: Call): Promise<ApiResponse> {
    const isPlain = this.#bucket === undefined && this.#metrics === undefined;
    if (isPlain && (this.#timeoutMs === undefined || call.watch === true)) return this.#sendPlain(call);
    if (call.watch === true) return this.#sendWithRetries(call, true);
    return this.#metrics === undefined && this.#timeoutMs === undefined
      ? this.#sendWithRetries(call, false)
      : this.#sendTimed(call);
  }

  /**
   * Does the same as {@link #sendWithRetries}, without its overhead for the usual case: a response at the first
   * attempt.
   */
  #sendPlain(call: Call): Promise<ApiResponse> {
    const first = this.#transport(this.#requestOf(call));
    const retry = (): Promise<ApiResponse> => this.#sendWithRetries(call, true, first);
    return first.then((response) => (mayRequestRetry(response) ? retry() : response), retry);
  }

  async #sendTimed(call: Call): Promise<ApiResponse> {
    const startMs = this.#clock.monotonic();
    let deadline: Deadline | undefined;
    const onFinished = (bytes?: number): void => {
      deadline?.end();
      this.#metrics?.observeDuration(call.method, (this.#clock.monotonic() - startMs) / 1000);
      if (bytes !== undefined) this.#metrics?.observeResponseSize(call.method, bytes);
    };
    let response: ApiResponse;
    try {
      await this.#takeToken(call);
      if (this.#timeoutMs !== undefined) deadline = new Deadline(call, this.#timeoutMs, this.#clock);
      response = await this.#sendWithRetries(deadline?.call ?? call, true);
    } catch (error) {
      onFinished();
      throw error;
    }
    const { body } = response;
    if (body.type === "bytes")
      return { ...response, body: { type: "bytes", chunks: countBytes(body.chunks, onFinished) } };
    onFinished();
    return response;
  }

  /**
   * @param hasToken - Whether the first attempt needs no token, or has one already.
   * @param first - The first attempt, if it has been made.
   */
  async #sendWithRetries(call: Call, hasToken: boolean, first?: Promise<ApiResponse>): Promise<ApiResponse> {
    const request = this.#requestOf(call);
    let previous: unknown;
    for (let attempt = 0; ; attempt++) {
      if (this.#bucket !== undefined && (!hasToken || attempt > 0)) await this.#takeToken(call);
      let response: ApiResponse;
      try {
        response = await (attempt === 0 && first !== undefined ? first : this.#transport(request));
      } catch (error) {
        this.#metrics?.countAttempt(call.method, undefined, attempt > 0);
        if (call.method !== "GET" || attempt >= MAX_RETRIES || call.signal?.aborted || !isConnectionLost(error))
          throw withPreviousError(error, previous);
        previous = error;
        await this.#clock.sleep(LOST_CONNECTION_RETRY_DELAY_MS, call.signal);
        continue;
      }
      this.#metrics?.countAttempt(call.method, response.status, attempt > 0);
      if (response.sentBytes !== undefined) this.#metrics?.observeRequestSize(call.method, response.sentBytes);
      if (!mayRequestRetry(response)) return response;
      const seconds = retryAfter(response);
      if (seconds === undefined || attempt >= MAX_RETRIES) return response;
      await discard(response);
      await this.#clock.sleep(seconds * 1000, call.signal);
    }
  }

  #requestOf({ method, path, body, signal, contentType, accept }: Call): ApiRequest {
    // Only reads have an `accept`, and they have no content type.
    const key = accept ?? contentType;
    let headers = this.#headersByType.get(key);
    if (headers === undefined) {
      if (accept !== undefined) headers = { ...this.#headers, accept };
      else headers = contentType === undefined ? this.#headers : { ...this.#headers, "content-type": contentType };
      this.#headersByType.set(key, headers);
    }
    if (signal === undefined) return body === undefined ? { method, path, headers } : { method, path, headers, body };
    return body === undefined ? { method, path, headers, signal } : { method, path, headers, body, signal };
  }

  async #takeToken({ method, signal }: Pick<Call, "method" | "signal">): Promise<void> {
    if (this.#bucket === undefined) return;
    const waitMs = this.#bucket.reserve();
    if (waitMs > 0) {
      try {
        await this.#clock.sleep(waitMs, signal);
      } catch (error) {
        this.#bucket.giveBack();
        throw error;
      }
    }
    this.#metrics?.observeRateLimiter(method, Math.max(0, waitMs) / 1000);
  }
}

function mayRequestRetry({ status }: ApiResponse): boolean {
  return status === 429 || status >= 500;
}

/** Aborts a call when its time-out expires. `end` removes its timer and its listener. */
class Deadline {
  readonly call: Call;
  readonly #timer: Timer;
  readonly #removeListener: () => void;

  constructor(call: Call, timeoutMs: number, clock: Clock) {
    const { method, path, signal } = call;
    const stop = new AbortController();
    const expire = (): void => stop.abort(new Error(`${method} ${path}: not answered within ${timeoutMs} ms`));
    const onAbort = (): void => stop.abort(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    this.call = {
      ...call,
      path: `${path}${path.includes("?") ? "&" : "?"}timeout=${timeoutMs / 1000}s`,
      signal: stop.signal,
    };
    // A foreground timer, because a caller is waiting and the transport does not have to keep the process alive.
    this.#timer = clock.setTimer(timeoutMs, expire);
    this.#removeListener = () => signal?.removeEventListener("abort", onAbort);
  }

  end(): void {
    this.#timer.cancel();
    this.#removeListener();
  }
}

/**
 * Passes chunks on, and calls `onFinished` with the number of bytes after the last one. Calls it without a number if
 * the reader or the connection stopped early.
 */
async function* countBytes(
  chunks: AsyncIterable<Uint8Array>,
  onFinished: (bytes?: number) => void,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  let complete = false;
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      yield chunk;
    }
    complete = true;
  } finally {
    onFinished(complete ? bytes : undefined);
  }
}

function bucketOf(limit: NonNullable<RequesterOptions["rateLimit"]>, clock: Clock): TokenBucket | undefined {
  if (limit instanceof TokenBucket) return limit;
  const { qps, burst } = limit;
  if (qps < 0) return undefined;
  if (!(qps > 0)) throw new RangeError(`qps must not be ${qps}`);
  if (!(burst > 0)) {
    throw new RangeError(
      "burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0",
    );
  }
  return new TokenBucket({ clock, perSecond: qps, burst });
}

/** Adds the previous attempt's error to the message, unless both messages are equal. */
function withPreviousError(error: unknown, previous: unknown): unknown {
  if (previous === undefined || errorMessage(previous) === errorMessage(error)) return error;
  return new Error(`${errorMessage(error)} - error from a previous attempt: ${errorMessage(previous)}`, {
    cause: error,
  });
}

/**
 * Reads the rest of an unneeded response, so that its connection can be reused. Stops at {@link limits}.discarded
 * bytes.
 */
async function discard({ body }: ApiResponse): Promise<void> {
  if (body.type !== "bytes") return;
  let bytes = 0;
  for await (const chunk of body.chunks) {
    bytes += chunk.length;
    if (bytes > limits.discarded) return;
  }
}

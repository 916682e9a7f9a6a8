import { type Clock, TokenBucket } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

import { retryAfter } from "./decode.js";
import { errorMessage, isConnectionLost } from "./errors.js";

export interface RequesterOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Sent with every request; the server derives the field manager from the part before the first `/`. */
  readonly userAgent?: string;
  /** Client-side rate limit shared by everything made from one client. Default: none. */
  readonly rateLimit?: { readonly qps: number; readonly burst: number };
}

const MOST_RETRIES = 10;
const LOST_CONNECTION_PAUSE_MS = 1_000;

/**
 * Sends requests under one rate limit, and repeats, at most ten times, those the server asks to repeat (429 or any 5xx
 * with a `Retry-After`) and reads whose connection broke before there was an answer (client-go `rest.Request`).
 */
export class Requester {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #bucket: TokenBucket | undefined;

  constructor({ transport, clock, userAgent = "kubewright", rateLimit }: RequesterOptions) {
    this.#transport = transport;
    this.#clock = clock;
    this.#headers = { accept: "application/json", "user-agent": userAgent };
    this.#bucket =
      rateLimit === undefined
        ? undefined
        : new TokenBucket({ clock, perSecond: rateLimit.qps, burst: rateLimit.burst });
  }

  /** `unlimited`: a watch's first attempt takes no token, as in client-go. */
  async send(
    request: Omit<ApiRequest, "headers"> & { readonly contentType?: string; readonly unlimited?: boolean },
  ): Promise<ApiResponse> {
    const { contentType, unlimited = false, ...rest } = request;
    const headers = contentType === undefined ? this.#headers : { ...this.#headers, "content-type": contentType };
    let previous: unknown;
    for (let attempt = 0; ; attempt++) {
      if (!unlimited || attempt > 0) await this.#takeToken(rest.signal);
      let response: ApiResponse;
      try {
        response = await this.#transport({ ...rest, headers });
      } catch (error) {
        if (rest.method !== "GET" || attempt >= MOST_RETRIES || rest.signal?.aborted || !isConnectionLost(error))
          throw withPrevious(error, previous);
        previous = error;
        await this.#clock.sleep(LOST_CONNECTION_PAUSE_MS, rest.signal);
        continue;
      }
      if (response.status !== 429 && response.status < 500) return response;
      const seconds = retryAfter(response);
      if (seconds === undefined || attempt >= MOST_RETRIES) return response;
      await discard(response);
      await this.#clock.sleep(seconds * 1000, rest.signal);
    }
  }

  async #takeToken(signal: AbortSignal | undefined): Promise<void> {
    if (this.#bucket === undefined) return;
    const waitMs = this.#bucket.reserve();
    if (waitMs <= 0) return;
    try {
      await this.#clock.sleep(waitMs, signal);
    } catch (error) {
      this.#bucket.giveBack();
      throw error;
    }
  }
}

/** An error after retries tells what went wrong before, unless that was the same. */
function withPrevious(error: unknown, previous: unknown): unknown {
  if (previous === undefined || errorMessage(previous) === errorMessage(error)) return error;
  return new Error(`${errorMessage(error)} - error from a previous attempt: ${errorMessage(previous)}`, {
    cause: error,
  });
}

/** Reads what is left of an answer nobody wants, so that its connection can be used again. */
async function discard({ body }: ApiResponse): Promise<void> {
  if (body.type !== "bytes") return;
  for await (const _chunk of body.chunks);
}

import { type Clock, TokenBucket } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

import { retryAfter } from "./decode.js";

export interface RequesterOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Sent with every request; the server derives the field manager from the part before the first `/`. */
  readonly userAgent?: string;
  /** Client-side rate limit shared by everything made from one client. Default: none. */
  readonly rateLimit?: { readonly qps: number; readonly burst: number };
}

const MOST_RETRIES = 10;

/**
 * Sends requests under one rate limit, and repeats those the server asks to repeat: 429 or any 5xx with a `Retry-After`,
 * at most ten times (client-go `rest.Request`).
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
    for (let attempt = 0; ; attempt++) {
      if (!unlimited || attempt > 0) await this.#takeToken(rest.signal);
      const response = await this.#transport({ ...rest, headers });
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

/** Reads what is left of an answer nobody wants, so that its connection can be used again. */
async function discard({ body }: ApiResponse): Promise<void> {
  if (body.type !== "bytes") return;
  for await (const _chunk of body.chunks);
}

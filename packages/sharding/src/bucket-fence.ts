import type { Clock } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

import { bounded } from "./bounded.js";

/**
 * A write was rejected in this process before it was sent: this member may not write for the bucket yet, or no longer.
 */
export class FencedError extends Error {
  override readonly name = "FencedError";
}

/** Why a write may not be sent. */
export type FenceReason = "not open" | "closed" | "lease";

export interface BucketFenceOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Timeout that the API server applies to each write. */
  readonly requestTimeoutMs: number;
  /** How long after it was sent a write may still take effect: in transit, and then at the API server. */
  readonly maxWriteDelayMs: number;
  /** Whether this member's Lease is valid now. */
  readonly holdsLease: () => boolean;
  /** Called for each rejected write. */
  readonly onRefused: (reason: FenceReason) => void;
}

const READS: ReadonlySet<ApiRequest["method"]> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * The only transport for writes of one bucket.
 *
 * The fence checks at the moment a write is sent, not by a timer. So a process that was paused does no harm when it
 * resumes, and neither does a write that was queued for a connection meanwhile. Reads always pass.
 *
 * A write that was sent has no time limit, even while the Lease is late. An aborted write may still take effect, and a
 * member that continues would then repeat it. Only {@link close} aborts writes.
 */
export class BucketFence {
  readonly transport: Transport;
  readonly #options: BucketFenceOptions;
  readonly #closing = new AbortController();
  #state: "not open" | "open" | "closed" = "not open";
  /** Writes without a response yet. */
  #inFlight = 0;
  /** Monotonic time until which a write with unknown outcome may still take effect. */
  #unknownUntilMs = Number.NEGATIVE_INFINITY;
  #onIdle: (() => void) | undefined;

  constructor(options: BucketFenceOptions) {
    this.#options = options;
    this.transport = (request) => (READS.has(request.method) ? options.transport(request) : this.#write(request));
  }

  /** Allows writes, unless the fence was closed before. */
  open(): void {
    if (this.#state === "not open") this.#state = "open";
  }

  /** Rejects all further writes, and aborts those in flight. */
  close(): void {
    this.#state = "closed";
    this.#closing.abort(new FencedError("the bucket was released"));
  }

  /** Resolves when no write of the bucket can take effect any more. Call it only after {@link close}. */
  async settled(): Promise<void> {
    if (this.#inFlight > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    const waitMs = this.#unknownUntilMs - this.#options.clock.monotonic();
    if (waitMs > 0) await this.#options.clock.sleep(waitMs, undefined, { background: true });
  }

  async #write(request: ApiRequest): Promise<ApiResponse> {
    const refused = this.#refusal(request);
    if (refused !== undefined) throw refused;
    request.signal?.throwIfAborted();
    const { transport, clock, requestTimeoutMs } = this.#options;
    let sentMs = clock.monotonic();
    let isUnsent = false;
    const beforeSend = (): void => {
      request.beforeSend?.();
      const refusal = this.#refusal(request);
      isUnsent = refusal !== undefined;
      if (refusal !== undefined) throw refusal;
      sentMs = clock.monotonic();
    };
    const { signal: closing } = this.#closing;
    const signals = request.signal === undefined ? [closing] : [request.signal, closing];
    this.#inFlight++;
    try {
      const timed = { ...request, beforeSend, path: withTimeout(request.path, requestTimeoutMs) };
      const limit = { clock, limitMs: Infinity, signals };
      const response = await bounded((signal) => transport({ ...timed, signal }), limit);
      // The API server timed out: the write may or may not have taken effect.
      if (response.status === 504) this.#recordUnknownOutcome(sentMs);
      return response;
    } catch (error) {
      if (!isUnsent) this.#recordUnknownOutcome(sentMs);
      throw error;
    } finally {
      if (--this.#inFlight === 0) this.#onIdle?.();
    }
  }

  #refusal({ method, path }: ApiRequest): FencedError | undefined {
    const reason = this.#state !== "open" ? this.#state : this.#options.holdsLease() ? undefined : "lease";
    if (reason === undefined) return undefined;
    this.#options.onRefused(reason);
    return new FencedError(`${method} ${path} not sent: ${REASON_TEXTS[reason]}`);
  }

  #recordUnknownOutcome(sentMs: number): void {
    this.#unknownUntilMs = Math.max(this.#unknownUntilMs, sentMs + this.#options.maxWriteDelayMs);
  }
}

const REASON_TEXTS: Readonly<Record<FenceReason, string>> = {
  "not open": "the bucket has not synced yet",
  closed: "the bucket was released",
  lease: "the lease was not renewed in time",
};

function withTimeout(path: string, timeoutMs: number): string {
  return `${path}${path.includes("?") ? "&" : "?"}timeout=${timeoutMs}ms`;
}

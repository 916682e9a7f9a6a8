import type { Clock } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

import { bounded } from "./bounded.js";

/** A write was refused here, before it was sent: this member may not write for the bucket any more, or not yet. */
export class FencedError extends Error {
  override readonly name = "FencedError";
}

/** Why a write may not be sent; `undefined`: it may. */
export type FenceReason = "not open" | "closed" | "lease";

export interface BucketFenceOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** When the server gives up a write by itself. */
  readonly requestTimeoutMs: number;
  /** How long after it was sent a write may still happen: on its way, and then at the server. */
  readonly maxWriteDelayMs: number;
  /** Whether this member's lease holds right now. */
  readonly holdsLease: () => boolean;
  /** Told of what was refused. */
  readonly onRefused: (reason: FenceReason) => void;
}

const READS: ReadonlySet<ApiRequest["method"]> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * The only way to the API server for the work of one bucket: asked at the moment a write is sent, not by a timer, so that a
 * process that was held up does no harm when it wakes up, nor does what waited for a connection meanwhile. Reads always pass.
 *
 * A write that was sent has all the time it takes, also while the lease is late: given up, it would be done all the same, and
 * again by a member that goes on. Only who gives up the bucket cuts it off.
 */
export class BucketFence {
  readonly transport: Transport;
  readonly #options: BucketFenceOptions;
  readonly #closing = new AbortController();
  #state: "not open" | "open" | "closed" = "not open";
  /** Writes without an answer yet. */
  #inFlight = 0;
  /** Monotonic: until then a write whose outcome is unknown may still happen. */
  #unknownUntilMs = Number.NEGATIVE_INFINITY;
  #onIdle: (() => void) | undefined;

  constructor(options: BucketFenceOptions) {
    this.#options = options;
    this.transport = (request) => (READS.has(request.method) ? options.transport(request) : this.#write(request));
  }

  /** Lets writes pass, unless it was closed before. */
  open(): void {
    if (this.#state === "not open") this.#state = "open";
  }

  /** Lets no write pass any more, and gives up on those that are under way. */
  close(): void {
    this.#state = "closed";
    this.#closing.abort(new FencedError("the bucket was released"));
  }

  /** Resolves when no write of the bucket can happen any more. Only after {@link close}. */
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
      // The server gave up, which says nothing about what it did.
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

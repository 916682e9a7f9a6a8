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
  /** Of a write: the server gives up by itself then, and so does the client. */
  readonly requestTimeoutMs: number;
  /** Whether this member's lease holds right now. */
  readonly holdsLease: () => boolean;
  /** Told of what was refused. */
  readonly onRefused: (reason: FenceReason) => void;
}

const READS: ReadonlySet<ApiRequest["method"]> = new Set(["GET", "HEAD", "OPTIONS"]);
/** What a server may be late with its own time-out. */
const GRACE_MS = 1_000;

/**
 * The only way to the API server for the work of one bucket: asked at the moment a write is sent, not by a timer, so that a
 * process that was held up does no harm when it wakes up. Reads always pass.
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
    this.#closing.abort(new FencedError("the bucket was given up"));
  }

  /** Resolves when no write of the bucket can happen any more. Only after {@link close}. */
  async settled(): Promise<void> {
    if (this.#inFlight > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    const waitMs = this.#unknownUntilMs - this.#options.clock.monotonic();
    if (waitMs > 0) await this.#options.clock.sleep(waitMs, undefined, { background: true });
  }

  async #write(request: ApiRequest): Promise<ApiResponse> {
    const reason = this.#refusal();
    if (reason !== undefined) {
      this.#options.onRefused(reason);
      throw new FencedError(`${request.method} ${request.path} not sent: ${WORDS[reason]}`);
    }
    request.signal?.throwIfAborted();
    const { transport, clock, requestTimeoutMs } = this.#options;
    const sentMs = clock.monotonic();
    this.#inFlight++;
    try {
      const limit = { clock, limitMs: requestTimeoutMs, signals: this.#signals(request.signal) };
      const timed = { ...request, path: withTimeout(request.path, requestTimeoutMs) };
      const response = await bounded((signal) => transport({ ...timed, signal }), limit);
      // The server gave up, which says nothing about what it did.
      if (response.status === 504) this.#isUnknown(sentMs);
      return response;
    } catch (error) {
      this.#isUnknown(sentMs);
      throw error;
    } finally {
      if (--this.#inFlight === 0) this.#onIdle?.();
    }
  }

  #refusal(): FenceReason | undefined {
    if (this.#state !== "open") return this.#state;
    return this.#options.holdsLease() ? undefined : "lease";
  }

  #isUnknown(sentMs: number): void {
    this.#unknownUntilMs = Math.max(this.#unknownUntilMs, sentMs + this.#options.requestTimeoutMs + GRACE_MS);
  }

  #signals(signal: AbortSignal | undefined): readonly AbortSignal[] {
    const { signal: closing } = this.#closing;
    return signal === undefined ? [closing] : [signal, closing];
  }
}

const WORDS: Readonly<Record<FenceReason, string>> = {
  "not open": "the bucket has not synced yet",
  closed: "the bucket was given up",
  lease: "the lease was not renewed in time",
};

function withTimeout(path: string, timeoutMs: number): string {
  return `${path}${path.includes("?") ? "&" : "?"}timeout=${timeoutMs}ms`;
}

import type { Clock } from "@kubewright/clock";
import type { ApiResponse, Transport } from "@kubewright/transport";

/** Idle time in real milliseconds after which all work that needs no virtual time counts as done. */
const QUIET_MS = 25;
const PAUSE_MS = 2;
/** Maximum waiting time in real milliseconds, for activity that continues without the passage of time. */
const MAX_MS = 10_000;

/** Detects when connections are idle. Over sockets, unlike in process, no component knows whether work is pending. */
export class Activity {
  readonly #real: Clock;
  #underWay = 0;
  #lastMs: number;

  constructor(real: Clock) {
    this.#real = real;
    this.#lastMs = real.monotonic();
  }

  /** Returns a transport that reports its activity here. */
  watching(transport: Transport): Transport {
    return async (request) => {
      this.#underWay++;
      this.#recordActivity();
      try {
        return this.#observeResponse(await transport(request));
      } finally {
        this.#underWay--;
        this.#recordActivity();
      }
    };
  }

  /**
   * Resolves when the connections have been idle for a moment. @param settle - Runs the pending work of this process.
   */
  async quiet(settle: () => Promise<void>): Promise<void> {
    const startMs = this.#real.monotonic();
    for (;;) {
      await settle();
      const nowMs = this.#real.monotonic();
      if (this.#underWay === 0 && nowMs - Math.max(this.#lastMs, startMs) >= QUIET_MS) return;
      if (nowMs - startMs >= MAX_MS) return;
      await this.#real.sleep(PAUSE_MS);
    }
  }

  #recordActivity(): void {
    this.#lastMs = this.#real.monotonic();
  }

  #observeResponse(response: ApiResponse): ApiResponse {
    const { body } = response;
    if (body.type !== "bytes") return response;
    return { ...response, body: { type: "bytes", chunks: this.#chunks(body.chunks) } };
  }

  async *#chunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#recordActivity();
      yield chunk;
    }
  }
}

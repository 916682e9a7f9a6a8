import type { Clock } from "@kubewright/clock";
import type { ApiResponse, Transport } from "@kubewright/transport";

/** So long nothing may be sent or received, in real milliseconds, before all counts as done that no time has to pass for. */
const QUIET_MS = 25;
const PAUSE_MS = 2;
/** Something that goes on for longer without time passing is not waited for. */
const MAX_MS = 10_000;

/** Tells when nothing goes over a connection any more: over sockets, unlike in process, nobody can know that. */
export class Activity {
  readonly #real: Clock;
  #underWay = 0;
  #lastMs: number;

  constructor(real: Clock) {
    this.#real = real;
    this.#lastMs = real.monotonic();
  }

  /** The same way, watched. */
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

  /** Resolves once it has been quiet for a moment. @param settle - Lets this process do what it has to. */
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

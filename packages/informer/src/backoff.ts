import type { Clock, Random } from "@kubewright/clock";

const BASE_MS = 800;
const CAP_MS = 30_000;
const RESET_AFTER_MS = 120_000;

/**
 * The back-off of a reflector: 0.8 s, doubling to 30 s, each with a random addition of up to the same length.
 *
 * Restarts at the first call more than two minutes after the last restart, no matter how that time was spent. During a
 * long outage it therefore restarts about every two minutes.
 *
 * @see kubernetes v1.36 client-go tools/cache/reflector.go, apimachinery util/wait/backoff.go
 */
export class Backoff {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #random: Pick<Random, "next">;
  #nextMs = BASE_MS;
  #startedAtMs: number;

  constructor({ clock, random }: { clock: Pick<Clock, "monotonic">; random: Pick<Random, "next"> }) {
    this.#clock = clock;
    this.#random = random;
    this.#startedAtMs = clock.monotonic();
  }

  /** Returns the next delay in milliseconds. */
  next(): number {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#startedAtMs > RESET_AFTER_MS) {
      this.#startedAtMs = nowMs;
      this.#nextMs = BASE_MS;
    }
    const delayMs = this.#nextMs;
    this.#nextMs = Math.min(delayMs * 2, CAP_MS);
    return delayMs * (1 + this.#random.next());
  }
}

import type { Clock, Random } from "@kubewright/clock";

const BASE_MS = 800;
const CAP_MS = 30_000;
const RESET_AFTER_MS = 120_000;

/**
 * How long a reflector waits after trouble: 0.8 s, doubling to 30 s, each plus up to as much again at random.
 *
 * Starts over with the first call more than two minutes after the last start, however the time between was spent; during
 * a long outage it does so every other minute.
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

  /** Milliseconds to wait now. */
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

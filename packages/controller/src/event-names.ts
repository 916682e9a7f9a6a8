import { type Clock, type Random, uuid } from "@kubewright/clock";

import { isDnsSubdomain } from "./object-name.js";

/**
 * Names for Event objects: `<object>.<Unix nanoseconds in hexadecimal>`, or a UUID where that cannot be a name.
 *
 * The clock has milliseconds, and in a simulation stands still: the nanoseconds are counted up from it, strictly, and
 * begin at an offset below a millisecond drawn once, so that two recorders that report about one object at the same
 * instant do not take each other's names.
 */
export class EventNames {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #offsetNs: bigint;
  #lastNs = 0n;

  constructor({ clock, random }: { clock: Clock; random: Random }) {
    this.#clock = clock;
    this.#random = random;
    this.#offsetNs = BigInt(random.uint32() % 1_000_000);
  }

  next(objectName: string): string {
    const nowNs = BigInt(Math.floor(this.#clock.now())) * 1_000_000n + this.#offsetNs;
    this.#lastNs = nowNs > this.#lastNs ? nowNs : this.#lastNs + 1n;
    const name = `${objectName}.${this.#lastNs.toString(16)}`;
    return isDnsSubdomain(name) ? name : uuid(this.#random);
  }
}

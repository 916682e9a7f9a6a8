import { type Clock, type Random, uuid } from "@kubewright/clock";

import { isDnsSubdomain } from "./object-name.js";

/**
 * Generates names for Event objects: `<object>.<Unix nanoseconds in hexadecimal>`, or a UUID if that is not a valid
 * name.
 *
 * The clock has millisecond resolution, and simulated time does not advance by itself. Therefore each name increases
 * the nanoseconds by at least one. They start at a random offset below one millisecond. Therefore two recorders do not
 * generate the same name at the same instant.
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

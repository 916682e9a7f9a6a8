import * as fc from "fast-check";
import { expect, test } from "vitest";

import { UniqueFifo } from "./unique-fifo.js";

test("what arrives leaves in order, once, and may then come again", () => {
  const fifo = new UniqueFifo<string>();
  expect([fifo.push("a"), fifo.push("b"), fifo.push("a")]).toEqual([true, true, false]);
  expect(fifo.size).toBe(2);
  expect(fifo.shift()).toBe("a");
  expect(fifo.push("a")).toBe(true);
  expect([fifo.shift(), fifo.shift(), fifo.size]).toEqual(["b", "a", 0]);
});

type Step = number | { readonly from: number; readonly count: number };

/** A reference implementation: an array with linear search. */
class Model {
  readonly #items: number[] = [];

  get size(): number {
    return this.#items.length;
  }

  push(item: number): boolean {
    if (this.#items.includes(item)) return false;
    this.#items.push(item);
    return true;
  }

  shift(): number {
    return this.#items.shift()!;
  }
}

test("it does what a list that is searched would do, however long it gets and however often it runs empty", () => {
  /** Pushes the items of a range, or removes some items. */
  const step = fc.oneof(
    fc.record({ from: fc.nat(300), count: fc.integer({ min: 1, max: 200 }) }),
    fc.integer({ min: 1, max: 200 }),
  );
  let mostTaken = 0;
  const answers = (queue: Model | UniqueFifo<number>, steps: readonly Step[]): unknown[] => {
    const seen: unknown[] = [];
    let taken = 0;
    for (const what of steps) {
      if (typeof what === "number")
        for (let count = Math.min(what, queue.size); count > 0; count--, taken++) seen.push(queue.shift());
      else for (let item = what.from; item < what.from + what.count; item++) seen.push(queue.push(item));
      seen.push(queue.size);
    }
    mostTaken = Math.max(mostTaken, taken);
    return seen;
  };
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: "max" }), (steps) => {
      expect(answers(new UniqueFifo<number>(), steps)).toEqual(answers(new Model(), steps));
    }),
    { numRuns: 100 },
  );
  // Far more than the number of stale keys in a generation.
  expect(mostTaken).toBeGreaterThan(200);
});

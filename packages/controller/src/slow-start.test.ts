import { expect, test } from "vitest";

import { slowStartBatch } from "./slow-start.js";

/** Runs slowStartBatch with calls that end batch by batch. Returns the batch sizes and the result. */
async function batchesOf(count: number, initial: number, fails: (index: number) => boolean = () => false) {
  const batches: number[] = [];
  let open: (() => void)[] = [];
  const result = slowStartBatch(
    count,
    initial,
    (index) =>
      new Promise<void>((resolve, reject) =>
        open.push(() => (fails(index) ? reject(new Error(`call ${index}`)) : resolve())),
      ),
  );
  while (open.length > 0) {
    batches.push(open.length);
    const batch = open;
    open = [];
    for (const end of batch) end();
    await new Promise(setImmediate);
  }
  return { batches, ...(await result) };
}

test("batches double from the initial size while all calls succeed", async () => {
  expect(await batchesOf(100, 1)).toEqual({ batches: [1, 2, 4, 8, 16, 32, 37], successes: 100, attempted: 100 });
  expect(await batchesOf(10, 4)).toEqual({ batches: [4, 6], successes: 10, attempted: 10 });
});

test("a failure lets its batch finish, starts nothing more, and reports how many calls were never made", async () => {
  const result = await batchesOf(100, 1, (index) => index === 3 || index === 5);
  expect(result).toEqual({ batches: [1, 2, 4], successes: 5, attempted: 7, error: new Error("call 3") });
});

test("a function that throws instead of rejecting counts as a failed call", async () => {
  const result = await slowStartBatch(5, 1, () => {
    throw new Error("at once");
  });
  expect(result).toEqual({ successes: 0, attempted: 1, error: new Error("at once") });
});

test("nothing to do means no calls", async () => {
  expect(await batchesOf(0, 1)).toEqual({ batches: [], successes: 0, attempted: 0 });
  expect(await batchesOf(-3, 1)).toEqual({ batches: [], successes: 0, attempted: 0 });
});

test("a first batch of nothing is refused, instead of quietly doing nothing", async () => {
  await expect(slowStartBatch(3, 0, async () => {})).rejects.toThrow("initialBatchSize must be at least 1, not 0");
});

import { readFileSync } from "node:fs";
import path from "node:path";

import { expect, test } from "vitest";

/**
 * The "cases to test" of the behaviour reference for this package, by number: each with the file and title of its test.
 */
const cases: Readonly<Record<number, readonly [file: string, title: string]>> = {
  1: ["work-queue", "items added twice are handed out once, in order of arrival"],
  2: ["work-queue", "any number of adds during processing cause one more run, queued when it is done"],
  3: ["work-queue", "an item added again goes to the tail"],
  4: ["work-queue", "waiting getters are served in order, one per item"],
  5: ["work-queue", "two workers never process one key at the same time"],
  6: ["work-queue", "after shutdown what is queued is still handed out, and adds are ignored"],
  7: ["work-queue", "an add during processing counts if it came before shutdown, not after"],
  8: ["work-queue", "an add during processing counts if it came before shutdown, not after"],
  9: ["work-queue", "a drain waits for what is in processing, or for a plain shutdown"],
  10: ["work-queue", "a drain with nothing in processing resolves at once, also after shutdown and with items queued"],
  11: ["delaying-queue", "addAfter hands the item out when its delay has passed, not before"],
  12: ["delaying-queue", "two delays of one item collapse to the earlier, whichever came first"],
  13: ["delaying-queue", "an add does not cancel a delay: the item comes twice"],
  14: ["queue-metrics", "retries count every addAfter before shutdown, with whatever delay"],
  15: ["delaying-queue", "a delay of sixty days on the machine's own clock neither fires early nor keeps it busy"],
  16: [
    "delaying-queue",
    "a thousand items due at one instant come at that instant, each once, in the order they were asked for",
  ],
  17: ["queue-metrics", "retries count every addAfter before shutdown, with whatever delay"],
  18: ["rate-limiters", "exponential: delays double up to the maximum, per item, until forgotten"],
  19: ["rate-limiters", "exponential: two thousand failures overflow nothing"],
  20: ["rate-limiters", "fast and slow: the first failures wait little, the others long"],
  21: ["rate-limiters", "the longest delay wins, and every limiter counts every failure"],
  22: ["rate-limiters", "the default limiter: 5 ms doubling to 1000 s per item, and ten per second after a hundred"],
  23: [
    "queue-metrics",
    "an item's wait counts from when it became dirty, so that it includes the rest of a processing",
  ],
  24: ["queue-metrics", "the ages of what is in processing are refreshed twice a second, until shutdown"],
  25: ["queue-metrics", "a queue without a name has no metrics"],
  26: ["parallelize-until", "once aborted, the rest of a chunk is not begun"],
};

test("every case of the reference has its test", () => {
  const numbers = Array.from({ length: 26 - 1 + 1 }, (_, index) => 1 + index);
  expect(Object.keys(cases).map(Number)).toEqual(numbers);
  for (const [number, [file, title]] of Object.entries(cases)) {
    const source = readFileSync(path.join(import.meta.dirname, `${file}.test.ts`), "utf8");
    expect(source.includes(`"${title}`), `case ${number}: ${file}.test.ts has no test "${title}"`).toBe(true);
  }
});

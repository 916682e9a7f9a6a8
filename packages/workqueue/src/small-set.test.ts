import { expect, test } from "vitest";

import { SmallSet } from "./small-set.js";

test("holds what a Set would hold, few items and many, strings and others", () => {
  const items = [...Array.from({ length: 40 }, (_, index) => (index % 3 === 0 ? index : `item ${index}`)), NaN];
  const held = new SmallSet<string | number>();
  const expected = new Set<string | number>();
  // A pseudorandom sequence with a long period.
  let state = 1;
  for (let step = 0; step < 5_000; step++) {
    state = (state * 48_271) % 2_147_483_647;
    // Alternates between few items and many.
    const few = step % 1_000 < 500;
    const item = items[state % (few ? 12 : items.length)]!;
    const adds = (state >> 8) % 3 !== 0;
    const isNews = adds ? !expected.has(item) : expected.delete(item);
    if (adds) expected.add(item);
    expect(adds ? held.add(item) : held.delete(item)).toBe(isNews);
    expect(held.size).toBe(expected.size);
    expect(items.filter((each) => held.has(each))).toEqual(items.filter((each) => expected.has(each)));
  }
});

import { readFileSync } from "node:fs";
import path from "node:path";

import { expect, test } from "vitest";

/**
 * The "cases to test" of the behaviour reference for this package, by number: each with the file and title of its test.
 */
const cases: Readonly<Record<number, readonly [file: string, title: string]>> = {
  71: ["consistency-store", "an owner is ready once the cache has observed its writes, and the record is then deleted"],
  72: ["consistency-store", "the highest version written is required, compared as numbers"],
  73: ["consistency-store", "another owner UID starts over"],
  74: ["consistency-store", "a store that knows no version, and a resource without a store, hold nothing back"],
  75: [
    "controller-expectations",
    "three expected creations are satisfied by three observations, and a fourth does no harm",
  ],
  76: [
    "controller-expectations",
    "an observation before the expectation is lost, and the expectation expires only after five minutes",
  ],
  77: ["controller-expectations", "expecting creations forgets expected deletions, and the other way round"],
  78: ["controller-expectations", "raising and lowering never make a record, nor renew one"],
  79: [
    "controller-expectations",
    "after expiry a late observation still counts, and the next expectation starts fresh",
  ],
  80: ["controller-expectations", "a deleted record frees an owner re-created under the same name"],
  81: ["uid-tracking-expectations", "a deletion counts once, and a foreign one not at all"],
  82: ["uid-tracking-expectations", "duplicate ids count once"],
};

test("every case of the reference has its test", () => {
  const numbers = Array.from({ length: 82 - 71 + 1 }, (_, index) => 71 + index);
  expect(Object.keys(cases).map(Number)).toEqual(numbers);
  for (const [number, [file, title]] of Object.entries(cases)) {
    const source = readFileSync(path.join(import.meta.dirname, `${file}.test.ts`), "utf8");
    expect(source.includes(`"${title}`), `case ${number}: ${file}.test.ts has no test "${title}"`).toBe(true);
  }
});

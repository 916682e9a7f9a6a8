import { readFileSync } from "node:fs";
import path from "node:path";

import { expect, test } from "vitest";

/**
 * The "cases to test" of the behaviour reference for this package, by number: each with the file and title of its test.
 */
const cases: Readonly<Record<number, readonly [file: string, title: string]>> = {
  27: ["reflector", "first comes a paged list of any version, then a watch from the list's"],
  28: [
    "reflector",
    "streaming: the initial list is a watch; the store stays empty until its end, and the stream continues",
  ],
  29: [
    "reflector",
    "streaming: a server that refuses gets a list request at once, and is asked again at the next occasion",
  ],
  30: ["reflector", "streaming: what came over a stream cut before its end is forgotten"],
  31: [
    "reflector",
    "streaming: the initial list is a watch; the store stays empty until its end, and the stream continues",
  ],
  32: ["reflector", "streaming: an expired version is dropped at once, and the next one is used again"],
  33: ["reflector", "a watch that ends cleanly is opened again at once from the last version seen"],
  34: ["reflector", "a watch that ends cleanly is opened again at once from the last version seen"],
  35: ["reflector", "a watch that closes within a second without events is followed by a back-off and one full list"],
  36: [
    "reflector",
    "an expired watch is followed by a list of what was last seen; if that has expired too, of the present",
  ],
  37: ["reflector", "a version too large for the server is given up at once"],
  38: ["reflector", "while connections are refused the watch is retried with growing pauses, without a list"],
  39: ["reflector", "too many requests: the watch waits, and is opened again without a list"],
  40: ["reflector", "a watch refused for another reason is reported once and followed by a list"],
  41: ["reflector", "the pauses double up to thirty seconds and start over after more than two minutes"],
  42: ["reflector", "pages are put together without a resourceVersion, under that of the first page"],
  43: ["reflector", "a continuation that expires is replaced by one full answer"],
  44: ["reflector", "a server that pages at version 0 is asked for pages ever after"],
  45: ["reflector", "an event of another kind, without metadata or that is none at all is reported and passed over"],
  46: ["reflector", "a line that is not JSON is followed by a back-off and a list; a line cut short is a clean end"],
  47: ["shared-informer", "the cached object decides between add and update, and every deletion is delivered"],
  48: ["shared-informer", "a resync delivers everything again without a request, and a list restarts the period"],
  49: ["shared-informer", "existing objects are added as initial, and the informer has synced after the last of them"],
  50: ["shared-informer", "an empty list syncs without a word"],
  51: [
    "shared-informer",
    "a list after a gap delivers deletions first, as tombstones, after the cache has reached its final state",
  ],
  52: [
    "shared-informer",
    "without resyncs every handler gets an update for objects that a list showed unchanged; with resyncs, only those that are due",
  ],
  53: ["shared-informer", "a deletion and re-creation that were missed show as one update to another UID"],
  54: ["shared-informer", "every update of one object is delivered, in order"],
  55: ["shared-informer", "a transform is applied before anything sees the object"],
  56: ["shared-informer", "a transform that throws loses that event only; in a list, it makes the list fail"],
  57: ["shared-informer", "a late handler gets every existing object as initial, then every change once"],
  58: ["shared-informer", "a late handler gets every existing object as initial, then every change once"],
  59: ["shared-informer", "removing a handler twice, or from a stopped informer, is no error"],
  60: ["shared-informer", "a handler that throws is reported, and harms neither the others nor the informer"],
  61: ["shared-informer", "abort ends everything: the request, the timers and run, and no handler is called any more"],
  62: ["shared-informer", "handlers are resynced at their own periods, rounded up to the informer's checks"],
  63: [
    "shared-informer",
    "a period of less than a second counts as a second, and none at all is possible without the informer's",
  ],
  64: ["shared-informer", "a filtering handler sees objects come and go as they begin and cease to pass"],
  65: ["store", "an index follows its objects from value to value, and forgets values without objects"],
  66: ["store", "indexes may be added when there are objects, under names that are free"],
  67: ["store", "the store's version is that of the last list, object, deletion or bookmark"],
  68: ["informer-factory", "every caller gets the same informer for a resource, which lists and watches once"],
};

/** Cases in which this package deliberately differs. */
const different: Readonly<Record<number, string>> = {
  69: "a lister answers undefined for what is missing: the type says so, and nothing needs to be caught",
  70: "cached objects are readonly to the compiler, and frozen in tests: a write throws where it happens",
};

test("every case of the reference has its test", () => {
  const numbers = Array.from({ length: 70 - 27 + 1 }, (_, index) => 27 + index);
  expect(Object.keys({ ...cases, ...different }).map(Number)).toEqual(numbers);
  for (const [number, [file, title]] of Object.entries(cases)) {
    const source = readFileSync(path.join(import.meta.dirname, `${file}.test.ts`), "utf8");
    expect(source.includes(`"${title}`), `case ${number}: ${file}.test.ts has no test "${title}"`).toBe(true);
  }
});

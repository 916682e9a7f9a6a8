import { expect, test } from "vitest";

import { Backlog } from "./backlog.js";
import { Change } from "./change.js";
import { StoredObject } from "./stored-object.js";
import { Watcher } from "./watcher.js";

function setUp(bufferLimit: number): {
  watcher: Watcher;
  write: (count: number) => void;
  read: (count: number) => number[];
} {
  const backlog = new Backlog(Number.POSITIVE_INFINITY);
  const watcher = new Watcher({ namespace: undefined, matches: undefined, bufferLimit, backlog });
  let version = 0;
  const write = (count: number): void => {
    for (let written = 0; written < count; written++) {
      version++;
      const stored = new StoredObject({ metadata: { name: "a" } }, version, 0);
      watcher.onChange(new Change(version, undefined, stored));
    }
  };
  const read = (count: number): number[] => {
    const versions: number[] = [];
    for (let frame = watcher.poll(); frame !== undefined; frame = watcher.poll()) {
      if (frame.type === "ADDED") versions.push(frame.stored.resourceVersion);
      if (versions.length === count) break;
    }
    return versions;
  };
  return { watcher, write, read };
}

test("frames are read once and in order, however many come between two reads", () => {
  const { write, read } = setUp(1000);
  const seen: number[] = [];
  for (const [written, wanted] of [
    [1, 1],
    [3, 2],
    [2, 3],
    [500, 400],
    [1, 101],
    [2, 5],
  ] as const) {
    write(written);
    seen.push(...read(wanted));
  }
  expect(seen).toEqual(Array.from({ length: 509 }, (_, index) => index + 1));
  expect(read(1)).toEqual([]);
});

test("a watcher is cut off when it is more frames behind than its limit, and what was read does not count", () => {
  const { watcher, write, read } = setUp(3);
  for (let round = 0; round < 10; round++) {
    write(3);
    read(2);
    write(2);
    expect(read(10)).toHaveLength(3);
  }
  write(3);
  expect(watcher.closed).toBe(false);
  write(1);
  expect(watcher.closed).toBe(true);
  expect(read(1)).toEqual([]);
});

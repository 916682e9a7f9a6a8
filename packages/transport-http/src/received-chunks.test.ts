import { expect, test } from "vitest";

import { ReceivedChunks } from "./received-chunks.js";

function body(): { chunks: ReceivedChunks; calls: string[] } {
  const calls: string[] = [];
  const record = (what: string) => () => void calls.push(what);
  return {
    chunks: new ReceivedChunks({ pause: record("pause"), resume: record("resume"), cancel: record("cut") }),
    calls,
  };
}

const of = (length: number): Uint8Array => new Uint8Array(length);

test("chunks come to the reader one by one, whether they or the reader came first, and then the end", async () => {
  const { chunks } = body();
  chunks.push(of(1));
  expect(await chunks.next()).toEqual({ done: false, value: of(1) });
  const waiting = chunks.next();
  chunks.push(of(2));
  chunks.push(of(3));
  chunks.end();
  expect(await waiting).toEqual({ done: false, value: of(2) });
  expect(await chunks.next()).toEqual({ done: false, value: of(3) });
  expect(await chunks.next()).toEqual({ done: true });
  expect(await chunks.next()).toEqual({ done: true });
});

test("the source pauses while 64 KiB wait to be read, and resumes once when they are fewer", async () => {
  const { chunks, calls } = body();
  chunks.push(of(65_535));
  expect(calls).toEqual([]);
  chunks.push(of(1));
  expect(calls).toEqual(["pause"]);
  await chunks.next();
  await chunks.next();
  expect(calls).toEqual(["pause", "resume"]);
});

test("a failure comes after what was received before it, once, and to a reader who waits at once", async () => {
  const { chunks, calls } = body();
  chunks.push(of(100_000));
  chunks.fail(new Error("cut"));
  expect(await chunks.next()).toEqual({ done: false, value: of(100_000) });
  await expect(chunks.next()).rejects.toThrow("cut");
  expect(await chunks.next()).toEqual({ done: true });
  expect(calls).toEqual(["pause"]);

  const other = body().chunks;
  const waiting = other.next();
  other.fail(new Error("cut"));
  await expect(waiting).rejects.toThrow("cut");
});

test("a reader that stops early cuts the source, and one that stops after the end does not", async () => {
  const early = body();
  early.chunks.push(of(1));
  expect(await early.chunks.return()).toEqual({ done: true });
  expect(await early.chunks.next()).toEqual({ done: true });
  expect(early.calls).toEqual(["cut"]);

  const late = body();
  late.chunks.end();
  await late.chunks.return();
  expect(late.calls).toEqual([]);
});

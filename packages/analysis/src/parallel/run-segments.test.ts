import { expect, test } from "vitest";

import { ChunkWriter, type SegmentChunk } from "./segment-chunk.js";
import type { SegmentRunner } from "./segment-runners.js";
import { type RunSegmentsOptions, runSegments } from "./run-segments.js";
import type { SegmentResult } from "./simulated-segment.js";
import { RunFollower, packOutcome } from "../run/run-outcome.js";

const HOUR_MS = 3_600_000;

/** Simulates a namespace with one trace line for each hour; each result waits until the gate opens. */
class SlowRunner implements SegmentRunner {
  requested = 0;
  /** Hours of virtual time. */
  simulatedHours = 0;
  readonly #namespace: string;
  readonly #writer: ChunkWriter;
  readonly #turn: () => Promise<void>;
  readonly #line: string;

  constructor(
    namespace: string,
    { turn = async () => {}, line = "" }: { turn?: () => Promise<void>; line?: string } = {},
  ) {
    this.#namespace = namespace;
    this.#writer = new ChunkWriter(namespace);
    this.#turn = turn;
    this.#line = line;
  }

  async run(untilMs: number): Promise<readonly SegmentChunk[]> {
    this.requested++;
    await this.#turn();
    return [this.#chunk(untilMs)];
  }

  async end(): Promise<readonly SegmentResult[]> {
    return [
      {
        namespace: this.#namespace,
        chunk: this.#writer.take(),
        outcome: packOutcome(new RunFollower([], []).outcome(0)),
        groupsAtMs: [],
        objects: [],
      },
    ];
  }

  #chunk(untilMs: number): SegmentChunk {
    while (this.simulatedHours < untilMs / HOUR_MS) {
      this.#writer.at(++this.simulatedHours * HOUR_MS);
      this.#writer.line(`${this.simulatedHours} ${this.#namespace}${this.#line}\n`);
    }
    return this.#writer.take();
  }
}

function listener(lines: string[]): RunSegmentsOptions["listener"] {
  return {
    at: () => {},
    trace: (text) => lines.push(...text.trimEnd().split("\n")),
    level: () => {},
    settled: () => {},
    notice: () => {},
  };
}

const idle = async (): Promise<void> => {
  for (let turn = 0; turn < 1000; turn++) await Promise.resolve();
};

async function run(
  runners: readonly SegmentRunner[],
  more: Partial<Pick<RunSegmentsOptions, "durationMs" | "signal" | "onProgress">> = {},
): Promise<string[]> {
  const lines: string[] = [];
  await runSegments({
    runners,
    durationMs: 400 * HOUR_MS,
    listener: listener(lines),
    signal: new AbortController().signal,
    onProgress: () => {},
    isDiscarded: () => false,
    ...more,
  });
  return lines;
}

test("a runner that is ahead waits for the slowest one: 48 hours, or 8 MiB of trace", async () => {
  const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
  const behind = new SlowRunner("b", { turn: () => gate });
  const ahead = new SlowRunner("a");
  const verbose = new SlowRunner("c", { line: "-".repeat(2 ** 20) });
  const running = run([behind, ahead, verbose]);
  await idle();
  // Two windows are requested at a time.
  expect(behind.requested).toBe(2);
  // One window has been consumed for the merge.
  expect(ahead.requested).toBe(1 + 48);
  expect(verbose.requested).toBeLessThan(12);
  openGate();
  const lines = await running;
  expect(lines.length).toBe(3 * 400);
  expect(lines.map((line) => line.slice(0, 8).split("-")[0]!.trim()).slice(0, 4)).toEqual(["1 a", "1 b", "1 c", "2 a"]);
});

test("time windows are as long as their output fits", async () => {
  const silent = [new SlowRunner("a"), new SlowRunner("b")];
  expect(await run(silent)).toHaveLength(2 * 400);
  expect(silent[0]!.requested).toBeLessThan(40);
  const verbose = [new SlowRunner("a", { line: "-".repeat(4 * 2 ** 20) }), new SlowRunner("b")];
  const ends: number[] = [];
  await run(verbose, { durationMs: 48 * HOUR_MS, onProgress: (elapsedMs) => void ends.push(elapsedMs) });
  expect(ends).toEqual(Array.from({ length: 48 }, (_, hour) => (hour + 1) * HOUR_MS));
});

test("after a stop, all runners stop at the latest time that was requested of any", async () => {
  const stop = new AbortController();
  const runners = [new SlowRunner("a"), new SlowRunner("b", { turn: idle })];
  const lines = await run(runners, { signal: stop.signal, onProgress: () => stop.abort() });
  expect(runners[0]!.simulatedHours).toBe(runners[1]!.simulatedHours);
  expect(lines.length).toBe(2 * runners[0]!.simulatedHours);
  expect(runners[0]!.simulatedHours).toBeLessThanOrEqual(51);
});

test("the error of one runner rejects the whole run", async () => {
  const failing = new SlowRunner("b", { turn: () => Promise.reject(new Error("no memory left")) });
  await expect(run([new SlowRunner("a"), failing])).rejects.toThrow("no memory left");
});

import { expect, test } from "vitest";

import { ChunkWriter, type PartChunk } from "./part-chunk.js";
import type { PartPlayer } from "./part-players.js";
import { type ApartOptions, playApart } from "./play-apart.js";
import type { PartEnd } from "./played-part.js";
import { RunFollower, packOutcome } from "../run-outcome.js";

const HOUR_MS = 3_600_000;

/** Plays a namespace in which one line is told every hour; each answer waits until it is let out. */
class SlowPlayer implements PartPlayer {
  asked = 0;
  /** Hours of virtual time. */
  playedHours = 0;
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

  async play(untilMs: number): Promise<readonly PartChunk[]> {
    this.asked++;
    await this.#turn();
    return [this.#chunk(untilMs)];
  }

  async end(): Promise<readonly PartEnd[]> {
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

  #chunk(untilMs: number): PartChunk {
    while (this.playedHours < untilMs / HOUR_MS) {
      this.#writer.at(++this.playedHours * HOUR_MS);
      this.#writer.line(`${this.playedHours} ${this.#namespace}${this.#line}\n`);
    }
    return this.#writer.take();
  }
}

function listener(lines: string[]): ApartOptions["listener"] {
  return {
    at: () => {},
    trace: (text) => lines.push(...text.trimEnd().split("\n")),
    level: () => {},
    settled: () => {},
    told: () => {},
  };
}

const idle = async (): Promise<void> => {
  for (let turn = 0; turn < 1000; turn++) await Promise.resolve();
};

async function play(
  players: readonly PartPlayer[],
  more: Partial<Pick<ApartOptions, "durationMs" | "signal" | "onProgress">> = {},
): Promise<string[]> {
  const lines: string[] = [];
  await playApart({
    players,
    durationMs: 400 * HOUR_MS,
    listener: listener(lines),
    signal: new AbortController().signal,
    onProgress: () => {},
    isVoid: () => false,
    ...more,
  });
  return lines;
}

test("who is ahead waits for who is behind: 48 hours, or 8 MiB of trace", async () => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const behind = new SlowPlayer("b", { turn: () => held });
  const ahead = new SlowPlayer("a");
  const wordy = new SlowPlayer("c", { line: "-".repeat(2 ** 20) });
  const playing = play([behind, ahead, wordy]);
  await idle();
  // Two are asked for at a time.
  expect(behind.asked).toBe(2);
  // One has been taken, to be merged.
  expect(ahead.asked).toBe(1 + 48);
  expect(wordy.asked).toBeLessThan(12);
  letGo();
  const lines = await playing;
  expect(lines.length).toBe(3 * 400);
  expect(lines.map((line) => line.slice(0, 8).split("-")[0]!.trim()).slice(0, 4)).toEqual(["1 a", "1 b", "1 c", "2 a"]);
});

test("stretches are as long as there is room for what they tell", async () => {
  const silent = [new SlowPlayer("a"), new SlowPlayer("b")];
  expect(await play(silent)).toHaveLength(2 * 400);
  expect(silent[0]!.asked).toBeLessThan(40);
  const wordy = [new SlowPlayer("a", { line: "-".repeat(4 * 2 ** 20) }), new SlowPlayer("b")];
  const ends: number[] = [];
  await play(wordy, { durationMs: 48 * HOUR_MS, onProgress: (elapsedMs) => void ends.push(elapsedMs) });
  expect(ends).toEqual(Array.from({ length: 48 }, (_, hour) => (hour + 1) * HOUR_MS));
});

test("all stop where the one that has been asked to come furthest stops", async () => {
  const stop = new AbortController();
  const players = [new SlowPlayer("a"), new SlowPlayer("b", { turn: idle })];
  const lines = await play(players, { signal: stop.signal, onProgress: () => stop.abort() });
  expect(players[0]!.playedHours).toBe(players[1]!.playedHours);
  expect(lines.length).toBe(2 * players[0]!.playedHours);
  expect(players[0]!.playedHours).toBeLessThanOrEqual(51);
});

test("what a player fails with, all fail with", async () => {
  const failing = new SlowPlayer("b", { turn: () => Promise.reject(new Error("no memory left")) });
  await expect(play([new SlowPlayer("a"), failing])).rejects.toThrow("no memory left");
});

import type { KeptObject } from "../report/object-keeper.js";
import { ONE_RUN } from "../report/report-limits.js";
import { type RunOutcome, unpackOutcome } from "../run-outcome.js";
import { SLICE_MS } from "../simulation.js";
import { emptyTotals } from "../timeline/totals.js";
import { ChunkMerger, type MergedListener } from "./merge-chunks.js";
import type { PartChunk } from "./part-chunk.js";
import type { PartPlayer, PartPlayers } from "./part-players.js";
import type { PartEnd } from "./played-part.js";
import { Stretches } from "./stretches.js";

/** Stretches that a player is asked for at a time, so that it need not wait for the next. */
const ASKED = 2;
/** What a player has played and the others have not yet is kept up to so much: virtual time, and what it takes. */
const MOST_AHEAD_MS = 48 * SLICE_MS;
const MOST_KEPT_BYTES = 8 * 2 ** 20;

export interface ApartOptions {
  readonly players: PartPlayers["players"];
  readonly durationMs: number;
  readonly listener: MergedListener;
  /** Stops all of them at the same time, soon. */
  readonly signal: AbortSignal;
  /** Called after each stretch; may await, which holds the players back. */
  readonly onProgress: (elapsedMs: number) => Promise<void> | void;
  /** Whether what has been played is void: nothing is played on then. */
  readonly isVoid: () => boolean;
}

export interface ApartResult {
  readonly outcome: RunOutcome;
  readonly objects: readonly KeptObject[];
  readonly elapsedMs: number;
}

/**
 * Plays parts and tells of them in canonical order, as they are played.
 *
 * @returns what they come to together; `undefined` when it is void.
 */
export async function playApart(options: ApartOptions): Promise<ApartResult | undefined> {
  const { durationMs, signal, onProgress, isVoid, listener } = options;
  const stretches = new Stretches(durationMs);
  const lanes = options.players.map((player) => new Lane(player, stretches));
  const merger = new ChunkMerger(listener);
  let elapsedMs = 0;
  for (let index = 0; index < stretches.count; index++) {
    const chunks = (await Promise.all(lanes.map((lane) => lane.next()))).flat();
    merger.merge(inOrder(chunks));
    stretches.taken(bytesOf(chunks));
    elapsedMs = stretches.endMs(index);
    await onProgress(elapsedMs);
    if (isVoid()) return undefined;
    // As far as any has been asked to come, all come.
    if (signal.aborted) stretches.stop();
  }
  const ends = inOrder((await Promise.all(options.players.map((player) => player.end()))).flat());
  merger.merge(ends.map(({ chunk }) => chunk));
  if (isVoid()) return undefined;
  return { outcome: together(ends), objects: objectsOf(ends), elapsedMs };
}

/** One player, which is asked for a stretch before the one before it is needed, but not for many. */
class Lane {
  readonly #player: PartPlayer;
  readonly #stretches: Stretches;
  #asked = 0;
  #taken = 0;
  #underWay = 0;
  /** Asked for and not taken. */
  readonly #played: Promise<readonly PartChunk[]>[] = [];
  #keptBytes = 0;

  constructor(player: PartPlayer, stretches: Stretches) {
    this.#player = player;
    this.#stretches = stretches;
    this.#ask();
  }

  async next(): Promise<readonly PartChunk[]> {
    if (this.#played.length === 0) this.#askOne();
    const chunks = await this.#played[0]!;
    void this.#played.shift();
    this.#taken++;
    this.#keptBytes -= bytesOf(chunks);
    this.#ask();
    return chunks;
  }

  #ask(): void {
    while (
      this.#underWay < ASKED &&
      this.#asked < this.#stretches.count &&
      this.#keptBytes < MOST_KEPT_BYTES &&
      this.#stretches.endMs(this.#asked - 1) - this.#stretches.endMs(this.#taken - 1) < MOST_AHEAD_MS
    )
      this.#askOne();
  }

  #askOne(): void {
    this.#underWay++;
    const played = this.#player.play(this.#stretches.endMs(this.#asked++)).then((chunks) => {
      this.#underWay--;
      this.#keptBytes += bytesOf(chunks);
      this.#ask();
      return chunks;
    });
    // Whoever takes it is told.
    played.catch(() => {});
    this.#played.push(played);
  }
}

function bytesOf(chunks: readonly PartChunk[]): number {
  return chunks.reduce((sum, { trace, marks, levels }) => sum + trace.length + marks.byteLength + levels.byteLength, 0);
}

function inOrder<T extends { readonly namespace: string }>(all: readonly T[]): T[] {
  return [...all].sort((a, b) => (a.namespace < b.namespace ? -1 : 1));
}

/** @param ends - In the order of their names. */
function together(ends: readonly PartEnd[]): RunOutcome {
  const totals = emptyTotals();
  const groups = ends.flatMap(({ outcome: packed, groupsAtMs }) => {
    const outcome = unpackOutcome(packed);
    const { warnings, ...counts } = outcome.totals;
    for (const name of Object.keys(counts) as (keyof typeof counts)[]) totals[name] += counts[name];
    for (const [what, count] of warnings) totals.warnings.set(what, (totals.warnings.get(what) ?? 0) + count);
    return outcome.groups.map((group, index) => ({ group, counted: outcome.counted[index], atMs: groupsAtMs[index]! }));
  });
  groups.sort((a, b) => a.atMs - b.atMs);
  return {
    groups: groups.map(({ group }) => group),
    totals,
    counted: groups.flatMap(({ counted }) => counted ?? []),
  };
}

/** The first of each kind, as one cluster's would be. */
function objectsOf(ends: readonly PartEnd[]): KeptObject[] {
  const kept = ends.flatMap(({ objects }) => objects).sort((a, b) => a.atMs - b.atMs);
  const left = new Map<string, number>();
  return kept.filter(({ kind }) => {
    const room = left.get(kind) ?? ONE_RUN.maxObjects;
    left.set(kind, room - 1);
    return room > 0;
  });
}

import type { KeptObject } from "../report/object-keeper.js";
import { ONE_RUN } from "../report/report-limits.js";
import { type RunOutcome, unpackOutcome } from "../run-outcome.js";
import { SLICE_MS } from "../simulation.js";
import { emptyTotals } from "../timeline/totals.js";
import { ChunkMerger, type MergedListener } from "./merge-chunks.js";
import type { PartChunk } from "./part-chunk.js";
import type { PartPlayer, PartPlayers } from "./part-players.js";
import type { PartEnd } from "./played-part.js";

/** Virtual time that is asked for at a time. */
const STRETCH_MS = SLICE_MS;
/** Stretches that a player is asked for at a time, so that it need not wait for the next. */
const ASKED = 2;
/** What a player has played and the others have not yet is kept up to so much: stretches, and characters of trace and marks. */
const MOST_KEPT_STRETCHES = 48;
const MOST_KEPT_SIZE = 8 * 2 ** 20;

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
  const lanes = options.players.map((player) => new Lane(player, durationMs));
  const merger = new ChunkMerger(listener);
  let elapsedMs = 0;
  let lastMs = durationMs;
  while (elapsedMs < lastMs) {
    const chunks = await Promise.all(lanes.map((lane) => lane.next()));
    merger.merge(inOrder(chunks.flat()));
    elapsedMs = Math.min(elapsedMs + STRETCH_MS, durationMs);
    await onProgress(elapsedMs);
    if (isVoid()) return undefined;
    if (signal.aborted && lastMs === durationMs) {
      // As far as any has been asked to come, all come.
      lastMs = Math.max(...lanes.map((lane) => lane.askedMs));
      for (const lane of lanes) lane.endAt(lastMs);
    }
  }
  const ends = inOrder((await Promise.all(options.players.map((player) => player.end()))).flat());
  merger.merge(ends.map(({ chunk }) => chunk));
  if (isVoid()) return undefined;
  return { outcome: together(ends), objects: objectsOf(ends), elapsedMs };
}

/** One player, which is asked for a stretch before the one before it is needed, but not for many. */
class Lane {
  readonly #player: PartPlayer;
  #endMs: number;
  /** How far it has been asked to come. */
  askedMs = 0;
  #underWay = 0;
  /** Asked for and not taken. */
  readonly #stretches: Promise<readonly PartChunk[]>[] = [];
  #keptSize = 0;

  constructor(player: PartPlayer, endMs: number) {
    this.#player = player;
    this.#endMs = endMs;
    this.#ask();
  }

  endAt(endMs: number): void {
    this.#endMs = endMs;
  }

  async next(): Promise<readonly PartChunk[]> {
    if (this.#stretches.length === 0) this.#askOne();
    const chunks = await this.#stretches[0]!;
    void this.#stretches.shift();
    this.#keptSize -= sizeOf(chunks);
    this.#ask();
    return chunks;
  }

  #ask(): void {
    while (
      this.#underWay < ASKED &&
      this.#stretches.length < MOST_KEPT_STRETCHES &&
      this.#keptSize < MOST_KEPT_SIZE &&
      this.askedMs < this.#endMs
    )
      this.#askOne();
  }

  #askOne(): void {
    this.askedMs = Math.min(this.askedMs + STRETCH_MS, this.#endMs);
    this.#underWay++;
    const played = this.#player.play(this.askedMs).then((chunks) => {
      this.#underWay--;
      this.#keptSize += sizeOf(chunks);
      this.#ask();
      return chunks;
    });
    // Whoever takes it is told.
    played.catch(() => {});
    this.#stretches.push(played);
  }
}

function sizeOf(chunks: readonly PartChunk[]): number {
  return chunks.reduce((sum, { trace, marks }) => sum + trace.length + marks.byteLength, 0);
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

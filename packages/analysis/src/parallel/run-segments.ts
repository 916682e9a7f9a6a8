import type { RecordedObject } from "../html-report/object-recorder.js";
import { ONE_RUN } from "../html-report/report-limits.js";
import { type RunOutcome, unpackOutcome } from "../run/run-outcome.js";
import { SLICE_MS } from "../run/simulation.js";
import { emptyTotals } from "../timeline/totals.js";
import { ChunkMerger, type MergedListener } from "./merge-chunks.js";
import type { SegmentChunk } from "./segment-chunk.js";
import type { SegmentRunner, SegmentRunners } from "./segment-runners.js";
import type { SegmentResult } from "./simulated-segment.js";
import { TimeWindows } from "./time-windows.js";

/** Number of time windows requested from a runner at a time, so that it does not wait for the next request. */
const MAX_IN_FLIGHT = 2;
/** Limits on the output of a runner that is ahead of the others: virtual time and bytes. */
const MAX_AHEAD_MS = 48 * SLICE_MS;
const MAX_BUFFERED_BYTES = 8 * 2 ** 20;

export interface RunSegmentsOptions {
  readonly runners: SegmentRunners["runners"];
  readonly durationMs: number;
  readonly listener: MergedListener;
  /** Stops all runners soon, at the same virtual time. */
  readonly signal: AbortSignal;
  /** Called after each time window. The runners wait for the returned promise. */
  readonly onProgress: (elapsedMs: number) => Promise<void> | void;
  /** Whether the results so far must be discarded; the runners then stop. */
  readonly isDiscarded: () => boolean;
}

export interface RunSegmentsResult {
  readonly outcome: RunOutcome;
  readonly objects: readonly RecordedObject[];
  readonly elapsedMs: number;
}

/**
 * Runs segments and delivers their output in canonical order.
 *
 * @returns the merged result; `undefined` when it is discarded.
 */
export async function runSegments(options: RunSegmentsOptions): Promise<RunSegmentsResult | undefined> {
  const { durationMs, signal, onProgress, isDiscarded, listener } = options;
  const windows = new TimeWindows(durationMs);
  const lanes = options.runners.map((runner) => new Lane(runner, windows));
  const merger = new ChunkMerger(listener);
  let elapsedMs = 0;
  for (let index = 0; index < windows.count; index++) {
    const chunks = (await Promise.all(lanes.map((lane) => lane.next()))).flat();
    merger.merge(inOrder(chunks));
    windows.completed(bytesOf(chunks));
    elapsedMs = windows.endMs(index);
    await onProgress(elapsedMs);
    if (isDiscarded()) return undefined;
    // All runners continue to the latest time that was requested of any of them.
    if (signal.aborted) windows.stop();
  }
  const ends = inOrder((await Promise.all(options.runners.map((runner) => runner.end()))).flat());
  merger.merge(ends.map(({ chunk }) => chunk));
  if (isDiscarded()) return undefined;
  return { outcome: mergeOutcomes(ends), objects: objectsOf(ends), elapsedMs };
}

/** One runner. Requests time windows ahead of their use, up to the limits above. */
class Lane {
  readonly #runner: SegmentRunner;
  readonly #windows: TimeWindows;
  #requested = 0;
  #consumed = 0;
  #inFlight = 0;
  /** Requested and not yet consumed. */
  readonly #results: Promise<readonly SegmentChunk[]>[] = [];
  #bufferedBytes = 0;

  constructor(runner: SegmentRunner, windows: TimeWindows) {
    this.#runner = runner;
    this.#windows = windows;
    this.#requestMore();
  }

  async next(): Promise<readonly SegmentChunk[]> {
    if (this.#results.length === 0) this.#requestNext();
    const chunks = await this.#results[0]!;
    void this.#results.shift();
    this.#consumed++;
    this.#bufferedBytes -= bytesOf(chunks);
    this.#requestMore();
    return chunks;
  }

  #requestMore(): void {
    while (
      this.#inFlight < MAX_IN_FLIGHT &&
      this.#requested < this.#windows.count &&
      this.#bufferedBytes < MAX_BUFFERED_BYTES &&
      this.#windows.endMs(this.#requested - 1) - this.#windows.endMs(this.#consumed - 1) < MAX_AHEAD_MS
    )
      this.#requestNext();
  }

  #requestNext(): void {
    this.#inFlight++;
    const result = this.#runner.run(this.#windows.endMs(this.#requested++)).then((chunks) => {
      this.#inFlight--;
      this.#bufferedBytes += bytesOf(chunks);
      this.#requestMore();
      return chunks;
    });
    // The consumer of the promise handles the error.
    result.catch(() => {});
    this.#results.push(result);
  }
}

function bytesOf(chunks: readonly SegmentChunk[]): number {
  return chunks.reduce((sum, { trace, marks, levels }) => sum + trace.length + marks.byteLength + levels.byteLength, 0);
}

function inOrder<T extends { readonly namespace: string }>(all: readonly T[]): T[] {
  return [...all].sort((a, b) => (a.namespace < b.namespace ? -1 : 1));
}

/** @param ends - Ordered by namespace. */
function mergeOutcomes(ends: readonly SegmentResult[]): RunOutcome {
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

/** Returns the first objects of each kind, as a single cluster would store them. */
function objectsOf(ends: readonly SegmentResult[]): RecordedObject[] {
  const objects = ends.flatMap(({ objects }) => objects).sort((a, b) => a.atMs - b.atMs);
  const remaining = new Map<string, number>();
  return objects.filter(({ kind }) => {
    const room = remaining.get(kind) ?? ONE_RUN.maxObjects;
    remaining.set(kind, room - 1);
    return room > 0;
  });
}

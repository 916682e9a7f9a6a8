import { ObjectKeeper, type KeptObject } from "../report/object-keeper.js";
import { ONE_RUN } from "../report/report-limits.js";
import type { Mishap } from "../futures/mishap.js";
import { PodLevels } from "../futures/pod-levels.js";
import { NodePools } from "../node-pools.js";
import { simulationOf } from "../plain-simulation.js";
import { type PackedOutcome, RunFollower, packOutcome } from "../run-outcome.js";
import type { Selection } from "../selection.js";
import { simulate } from "../simulation.js";
import { RecordTimes } from "../timeline/record-times.js";
import type { TimelineListener } from "../timeline/kept-rows.js";
import type { TimelineGroup, TimelineRow } from "@kubewright/timeline/data";
import { type TraceRecord, traceLine } from "../trace.js";
import { EndedPods } from "./ended-pods.js";
import { ChunkWriter, type PartChunk, type PartUsage } from "./part-chunk.js";
import type { Part } from "./split.js";

/** What is wanted of every part. Plain data. */
export interface PartWishes {
  /** Mishaps to be counted. */
  readonly mishaps: readonly Mishap[];
  /** Whose pods at once to tell. */
  readonly selections: readonly Selection[];
  readonly trace: boolean;
  /** Runs, one by one, as they end. */
  readonly settled: boolean;
  /** Objects, for a page to show. */
  readonly objects: boolean;
}

/** The last of a part. Plain data. */
export interface PartEnd {
  readonly namespace: string;
  /** What the end of the window brought about. */
  readonly chunk: PartChunk;
  readonly outcome: PackedOutcome;
  /** When each group was heard of first. */
  readonly groupsAtMs: readonly number[];
  readonly objects: readonly KeptObject[];
}

/** One namespace that is played stretch by stretch. Only one in a thread may be played at a time. */
export class PlayedPart {
  readonly #part: Part;
  readonly #wishes: PartWishes;
  readonly #chunk: ChunkWriter;
  readonly #follower: RunFollower;
  readonly #keeper: ObjectKeeper | undefined;
  readonly #levels: PodLevels;
  readonly #ended = new EndedPods();
  readonly #endedUsage: PartUsage = { of: "ended" };
  readonly #times = new RecordTimes();
  readonly #groupsAtMs: number[] = [];
  readonly #stop = new AbortController();
  #nowMs: number;
  #playing: Promise<void> | undefined;
  #untilMs = 0;
  /** It has come as far as it was to. */
  #arrived: () => void = () => {};
  /** Lets it go on. */
  #goOn: () => void = () => {};

  constructor(part: Part, wishes: PartWishes) {
    const { namespace, startMs } = part;
    this.#part = part;
    this.#wishes = wishes;
    this.#nowMs = startMs;
    this.#chunk = new ChunkWriter(namespace);
    this.#follower = new RunFollower(wishes.mishaps, [this.#listener()]);
    this.#keeper = wishes.objects ? new ObjectKeeper(ONE_RUN.maxObjects, () => this.#nowMs) : undefined;
    this.#levels = new PodLevels(wishes.selections, new NodePools(part), (usage, level, by) =>
      this.#chunk.level(usage, level, by),
    );
  }

  /**
   * Plays on until then.
   *
   * @param untilMs - Since the start; a multiple of the simulation's slices, or the end.
   */
  async play(untilMs: number): Promise<PartChunk> {
    this.#untilMs = untilMs;
    const arrived = new Promise<void>((resolve) => (this.#arrived = resolve));
    if (this.#playing === undefined) this.#begin();
    else this.#goOn();
    await Promise.race([arrived, this.#playing]);
    return this.#chunk.take();
  }

  /** Plays no further than it has come, and tells what all of it comes to. */
  async end(): Promise<PartEnd> {
    if (this.#playing === undefined) this.#begin();
    this.#stop.abort();
    this.#goOn();
    await this.#playing;
    const chunk = this.#chunk.take();
    return {
      namespace: this.#part.namespace,
      chunk,
      outcome: packOutcome(this.#follower.outcome(this.#part.startMs + this.#part.durationMs)),
      groupsAtMs: this.#groupsAtMs,
      objects: this.#keeper?.kept ?? [],
    };
  }

  #begin(): void {
    const { namespace, seed } = this.#part;
    const keeper = this.#keeper;
    this.#playing = simulate({
      ...simulationOf(this.#part),
      seed,
      part: namespace,
      signal: this.#stop.signal,
      emit: (record) => this.#add(record),
      ...(keeper === undefined ? {} : { follow: (informers) => keeper.follow(informers) }),
      onProblem: (message) => this.#chunk.tell({ type: "problem", message }),
      onProgress: (elapsedMs) => {
        if (elapsedMs < this.#untilMs) return undefined;
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#goOn = resolve;
        this.#arrived();
        return promise;
      },
    });
    // Whoever plays on is told.
    this.#playing.catch(() => {});
  }

  #add(record: TraceRecord): void {
    if (record.type === "header") return this.#follower.add(record);
    this.#nowMs = this.#times.msOf(record.at);
    this.#chunk.at(this.#nowMs);
    this.#follower.add(record);
    if (record.type === "end") return;
    if (this.#wishes.trace) this.#chunk.line(traceLine(record));
    if (record.type === "happening") this.#chunk.tell({ type: "happening", record });
    if (record.type !== "object") return;
    this.#levels.add(record);
    if (record.kind !== "Pod") return;
    const ended = this.#ended.add(record);
    if (ended !== 0) this.#chunk.level(this.#endedUsage, "pods", ended);
    const { unschedulable } = record.state;
    if (unschedulable !== undefined && LACK_OF_ROOM.test(unschedulable))
      this.#chunk.tell({
        type: "touched",
        what: `pod ${record.namespace}/${record.name} found no room on a node: ${unschedulable}`,
      });
  }

  #listener(): TimelineListener {
    return {
      groupAdded: () => this.#groupsAtMs.push(this.#nowMs),
      rowAdded: () => {},
      rowSettled: (group, row) => {
        if (this.#wishes.settled) this.#chunk.settled({ group: asItIs(group), row: withoutPods(row) });
      },
    };
  }
}

/** What others would have left room for; a node of the wrong kind is that whoever else there is (kube-scheduler's words). */
const LACK_OF_ROOM = /Insufficient |Too many pods/;

/** Its schedule may change later. */
function asItIs(group: TimelineGroup): TimelineGroup {
  return { ...group };
}

function withoutPods(row: TimelineRow): TimelineRow {
  return row.type === "run" ? { ...row, pods: [] } : row;
}

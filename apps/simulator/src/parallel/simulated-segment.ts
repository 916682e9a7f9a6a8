import { ObjectRecorder, type RecordedObject } from "../report/object-recorder.js";
import { ONE_RUN } from "../report/report-limits.js";
import type { Incident } from "../futures/incident.js";
import { PodLevels } from "../futures/pod-levels.js";
import { NodePools } from "../node-pools.js";
import { simulationOf } from "../plain-simulation.js";
import { type PackedOutcome, RunFollower, packOutcome } from "../run-outcome.js";
import type { Selection } from "../selection.js";
import { simulate } from "../simulation.js";
import { RecordTimes } from "../timeline/record-times.js";
import type { TimelineListener } from "../timeline/bounded-rows.js";
import type { TimelineGroup, TimelineRow } from "@kubewright/timeline/data";
import { type TraceRecord, traceLine } from "../trace.js";
import { EndedPods } from "./ended-pods.js";
import { ChunkWriter, type SegmentChunk, type SegmentUsage } from "./segment-chunk.js";
import type { Segment } from "./split-by-namespace.js";

/** What is wanted of every part. Plain data. */
export interface SegmentOptions {
  /** Mishaps to be counted. */
  readonly incidents: readonly Incident[];
  /** Whose pods at once to tell. */
  readonly selections: readonly Selection[];
  readonly trace: boolean;
  /** Runs, one by one, as they end. */
  readonly settled: boolean;
  /** Objects, for a page to show. */
  readonly objects: boolean;
}

/** The last of a part. Plain data. */
export interface SegmentResult {
  readonly namespace: string;
  /** What the end of the window brought about. */
  readonly chunk: SegmentChunk;
  readonly outcome: PackedOutcome;
  /** When each group was heard of first. */
  readonly groupsAtMs: readonly number[];
  readonly objects: readonly RecordedObject[];
}

/** One namespace that is played stretch by stretch. Only one in a thread may be played at a time. */
export class SimulatedSegment {
  readonly #segment: Segment;
  readonly #options: SegmentOptions;
  readonly #chunk: ChunkWriter;
  readonly #follower: RunFollower;
  readonly #keeper: ObjectRecorder | undefined;
  readonly #levels: PodLevels;
  readonly #ended = new EndedPods();
  readonly #endedUsage: SegmentUsage = { of: "ended" };
  readonly #times = new RecordTimes();
  readonly #groupsAtMs: number[] = [];
  readonly #abort = new AbortController();
  #nowMs: number;
  #simulation: Promise<void> | undefined;
  #untilMs = 0;
  /** It has come as far as it was to. */
  #arrived: () => void = () => {};
  /** Lets it go on. */
  #continue: () => void = () => {};

  constructor(segment: Segment, options: SegmentOptions) {
    const { namespace, startMs } = segment;
    this.#segment = segment;
    this.#options = options;
    this.#nowMs = startMs;
    this.#chunk = new ChunkWriter(namespace);
    this.#follower = new RunFollower(options.incidents, [this.#listener()]);
    this.#keeper = options.objects ? new ObjectRecorder(ONE_RUN.maxObjects, () => this.#nowMs) : undefined;
    this.#levels = new PodLevels(options.selections, new NodePools(segment), (usage, level, by) =>
      this.#chunk.level(usage, level, by),
    );
  }

  /**
   * Plays on until then.
   *
   * @param untilMs - Since the start; a multiple of the simulation's slices, or the end.
   */
  async run(untilMs: number): Promise<SegmentChunk> {
    this.#untilMs = untilMs;
    const arrived = new Promise<void>((resolve) => (this.#arrived = resolve));
    if (this.#simulation === undefined) this.#begin();
    else this.#continue();
    await Promise.race([arrived, this.#simulation]);
    return this.#chunk.take();
  }

  /** Plays no further than it has come, and tells what all of it comes to. */
  async end(): Promise<SegmentResult> {
    if (this.#simulation === undefined) this.#begin();
    this.#abort.abort();
    this.#continue();
    await this.#simulation;
    const chunk = this.#chunk.take();
    return {
      namespace: this.#segment.namespace,
      chunk,
      outcome: packOutcome(this.#follower.outcome(this.#segment.startMs + this.#segment.durationMs)),
      groupsAtMs: this.#groupsAtMs,
      objects: this.#keeper?.objects ?? [],
    };
  }

  #begin(): void {
    const { namespace, seed } = this.#segment;
    const keeper = this.#keeper;
    this.#simulation = simulate({
      ...simulationOf(this.#segment),
      seed,
      segment: namespace,
      signal: this.#abort.signal,
      emit: (record) => this.#add(record),
      ...(keeper === undefined ? {} : { follow: (informers) => keeper.follow(informers) }),
      onProblem: (message) => this.#chunk.notice({ type: "problem", message }),
      onProgress: (elapsedMs) => {
        if (elapsedMs < this.#untilMs) return undefined;
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#continue = resolve;
        this.#arrived();
        return promise;
      },
    });
    // Whoever plays on is told.
    this.#simulation.catch(() => {});
  }

  #add(record: TraceRecord): void {
    if (record.type === "header") return this.#follower.add(record);
    this.#nowMs = this.#times.msOf(record.at);
    this.#chunk.at(this.#nowMs);
    this.#follower.add(record);
    if (record.type === "end") return;
    if (this.#options.trace) this.#chunk.line(traceLine(record));
    if (record.type === "happening") this.#chunk.notice({ type: "happening", record });
    if (record.type !== "object") return;
    this.#levels.add(record);
    if (record.kind !== "Pod") return;
    const ended = this.#ended.add(record);
    if (ended !== 0) this.#chunk.level(this.#endedUsage, "pods", ended);
    const { unschedulable } = record.state;
    if (unschedulable !== undefined && LACK_OF_ROOM.test(unschedulable))
      this.#chunk.notice({
        type: "touched",
        what: `pod ${record.namespace}/${record.name} found no room on a node: ${unschedulable}`,
      });
  }

  #listener(): TimelineListener {
    return {
      groupAdded: () => this.#groupsAtMs.push(this.#nowMs),
      rowAdded: () => {},
      rowSettled: (group, row) => {
        if (this.#options.settled) this.#chunk.settled({ group: copyOf(group), row: withoutPods(row) });
      },
    };
  }
}

/** What others would have left room for; a node of the wrong kind is that whoever else there is (kube-scheduler's words). */
const LACK_OF_ROOM = /Insufficient |Too many pods/;

/** Its schedule may change later. */
function copyOf(group: TimelineGroup): TimelineGroup {
  return { ...group };
}

function withoutPods(row: TimelineRow): TimelineRow {
  return row.type === "run" ? { ...row, pods: [] } : row;
}

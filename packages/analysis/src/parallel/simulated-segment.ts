import { ObjectRecorder, type RecordedObject } from "../html-report/object-recorder.js";
import { ONE_RUN } from "../html-report/report-limits.js";
import type { Incident } from "../futures/incident.js";
import { PodLevels } from "../futures/pod-levels.js";
import { NodePools } from "../resources/node-pools.js";
import { simulationOf } from "../run/plain-simulation.js";
import { type PackedOutcome, RunFollower, packOutcome } from "../run/run-outcome.js";
import type { Selection } from "../input/selection.js";
import { simulate } from "../run/simulation.js";
import { RecordTimes } from "../timeline/record-times.js";
import type { TimelineListener } from "../timeline/bounded-rows.js";
import type { TimelineGroup, TimelineRow } from "@kubewright/timeline/data";
import { type TraceRecord, traceLine } from "../run/trace.js";
import { EndedPods } from "./ended-pods.js";
import { ChunkWriter, type SegmentChunk, type SegmentUsage } from "./segment-chunk.js";
import type { Segment } from "./split-by-namespace.js";

/** Which output is requested from each segment. Plain data. */
export interface SegmentOptions {
  /** Incidents to count. */
  readonly incidents: readonly Incident[];
  /** Selections whose concurrent pods are reported. */
  readonly selections: readonly Selection[];
  readonly trace: boolean;
  /** Whether each run is reported when it ends. */
  readonly settled: boolean;
  /** Whether objects are stored for a page. */
  readonly objects: boolean;
}

/** The final result of a segment. Plain data. */
export interface SegmentResult {
  readonly namespace: string;
  /** Output at the end of the simulation. */
  readonly chunk: SegmentChunk;
  readonly outcome: PackedOutcome;
  /** When each group appeared first. */
  readonly groupsAtMs: readonly number[];
  readonly objects: readonly RecordedObject[];
}

/** One namespace that is simulated by time windows. Only one segment of a thread may run at a time. */
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
  /** Signals that the requested time is reached. */
  #arrived: () => void = () => {};
  /** Continues the paused simulation. */
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
   * Advances the simulation.
   *
   * @param untilMs - Milliseconds since the start; a multiple of the simulation's slices, or the end.
   */
  async run(untilMs: number): Promise<SegmentChunk> {
    this.#untilMs = untilMs;
    const arrived = new Promise<void>((resolve) => (this.#arrived = resolve));
    if (this.#simulation === undefined) this.#begin();
    else this.#continue();
    await Promise.race([arrived, this.#simulation]);
    return this.#chunk.take();
  }

  /** Ends the simulation at its present time and returns the results of the whole segment. */
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
    // The caller of `run` or `end` handles the error.
    this.#simulation.catch(() => {});
  }

  #add(record: TraceRecord): void {
    if (record.type === "header") return this.#follower.add(record);
    this.#nowMs = this.#times.msOf(record.at);
    this.#chunk.at(this.#nowMs);
    this.#follower.add(record);
    if (record.type === "end") return;
    if (this.#options.trace) this.#chunk.line(traceLine(record));
    if (record.type === "scenarioEvent") this.#chunk.notice({ type: "scenarioEvent", record });
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

/**
 * Scheduler messages about a lack of resources, which pods of other namespaces could cause. A node of the wrong kind
 * does not depend on other pods.
 */
const LACK_OF_ROOM = /Insufficient |Too many pods/;

/** Copies a group, because its schedule may change later. */
function copyOf(group: TimelineGroup): TimelineGroup {
  return { ...group };
}

function withoutPods(row: TimelineRow): TimelineRow {
  return row.type === "run" ? { ...row, pods: [] } : row;
}

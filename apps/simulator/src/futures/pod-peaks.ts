import type { NodePools } from "../node-pools.js";
import { type Selection, EVERYTHING, isSelectedBy } from "../selection.js";
import type { ObjectRecord, TraceRecord } from "../trace.js";
import { LevelOverTime } from "./level-over-time.js";

type PodRecord = Extract<ObjectRecord, { kind: "Pod" }>;
type JobRecord = Extract<ObjectRecord, { kind: "Job" }>;

/** How much of each there was. Plain data. */
export interface Levels {
  /** Pods that waited or ran; of a pool, that were on one of its nodes. */
  readonly pods: number;
  /** Thousandths of a core, requested by pods on a node. */
  readonly cpuMillis: number;
  /** Bytes, requested by pods on a node. */
  readonly memoryBytes: number;
}

/** The most of each at any time, and what 95 % of the time there was no more than. Plain data. */
export interface Usage extends Levels {
  readonly overTime: Levels;
}

/** Of all pods together. Plain data. */
export interface Peaks extends Usage {
  /** Of those namespaces that had pods, by name. */
  readonly namespaces: readonly (Usage & { readonly namespace: string })[];
  /** Of those pools of nodes that had pods, by name. */
  readonly pools: readonly (Usage & { readonly pool: string })[];
  /** Pods of each selection that was asked for. */
  readonly selected: readonly Peak[];
}

export interface Peak {
  readonly level: number;
  /** When it was reached first; of nothing, the epoch. */
  readonly atMs: number;
}

interface FollowedPod {
  readonly namespace: FollowedUsage;
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  /** Of the node it is on. */
  pool: FollowedUsage | undefined;
  /** Places of the selections it belongs to. */
  readonly selections: readonly number[];
}

/** Follows how many pods there are at once, and what they request, from the first record to the last. */
export class PodPeaks {
  readonly #selections: readonly Selection[];
  /** Of Jobs, by UID: the CronJob or Job that a selection names. */
  readonly #owners = new Map<string, Selection>();
  readonly #pods = new Map<string, FollowedPod>();
  readonly #selected: { now: number; peak: Peak }[];
  readonly #pools: NodePools | undefined;
  #startMs: number | undefined;
  #at = "";
  #atMs = 0;
  #all: FollowedUsage | undefined;
  readonly #byNamespace = new Map<string, FollowedUsage>();
  readonly #byPool = new Map<string, FollowedUsage>();

  /** @param pools - Of the nodes; without, nothing is told of them. */
  constructor(selections: readonly Selection[] = [], pools?: NodePools) {
    this.#selections = selections;
    this.#pools = pools;
    this.#selected = selections.map(() => ({ now: 0, peak: { level: 0, atMs: 0 } }));
  }

  get peaks(): Peaks {
    const byName = (all: ReadonlyMap<string, FollowedUsage>): [string, Usage][] =>
      [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, usage]) => [name, usage.until(this.#atMs)]);
    return {
      ...(this.#all?.until(this.#atMs) ?? { ...NOTHING, overTime: NOTHING }),
      selected: this.#selected.map(({ peak }) => peak),
      namespaces: byName(this.#byNamespace).map(([namespace, usage]) => ({ namespace, ...usage })),
      pools: this.#pools === undefined ? [] : byName(this.#byPool).map(([pool, usage]) => ({ pool, ...usage })),
    };
  }

  add(record: TraceRecord): void {
    const at = record.type === "header" ? record.start : record.at;
    if (at !== this.#at) {
      this.#at = at;
      this.#atMs = Date.parse(at);
      this.#startMs ??= this.#atMs;
    }
    if (record.type !== "object") return;
    if (record.kind === "Pod") this.#pod(record);
    else if (record.kind === "Job" && this.#selections.length > 0) this.#job(record);
  }

  #job({ uid, change, namespace, name, owner }: JobRecord): void {
    if (change === "DELETED") this.#owners.delete(uid);
    else if (!this.#owners.has(uid))
      this.#owners.set(uid, { namespace, name: owner?.kind === "CronJob" ? owner.name : name });
  }

  #pod(record: PodRecord): void {
    const { uid, change, state, cpuMillis = 0, memoryBytes = 0 } = record;
    const isThere = change !== "DELETED" && (state.phase === "Pending" || state.phase === "Running");
    let pod = this.#pods.get(uid);
    if (!isThere) {
      if (pod !== undefined) this.#gone(uid, pod);
      return;
    }
    const all = (this.#all ??= new FollowedUsage(this.#startMs!));
    if (pod === undefined) {
      const selections = this.#selectionsOf(record);
      const namespace = this.#usage(this.#byNamespace, record.namespace);
      this.#pods.set(uid, (pod = { namespace, cpuMillis, memoryBytes, pool: undefined, selections }));
      for (const usage of [all, namespace]) usage.pods.change(1, this.#atMs);
      for (const index of selections) this.#rise(index);
    }
    if (pod.pool === undefined && state.node !== undefined) {
      pod.pool = this.#usage(this.#byPool, this.#pools?.of(state.node) ?? "");
      pod.pool.pods.change(1, this.#atMs);
      for (const usage of [all, pod.namespace, pod.pool]) this.#request(usage, pod, 1);
    }
  }

  #gone(uid: string, pod: FollowedPod): void {
    this.#pods.delete(uid);
    for (const usage of [this.#all!, pod.namespace, pod.pool]) usage?.pods.change(-1, this.#atMs);
    if (pod.pool !== undefined)
      for (const usage of [this.#all!, pod.namespace, pod.pool]) this.#request(usage, pod, -1);
    for (const index of pod.selections) this.#selected[index]!.now--;
  }

  #request(usage: FollowedUsage, { cpuMillis, memoryBytes }: FollowedPod, by: 1 | -1): void {
    if (cpuMillis > 0) usage.cpuMillis.change(by * cpuMillis, this.#atMs);
    if (memoryBytes > 0) usage.memoryBytes.change(by * memoryBytes, this.#atMs);
  }

  #usage(all: Map<string, FollowedUsage>, name: string): FollowedUsage {
    let usage = all.get(name);
    if (usage === undefined) all.set(name, (usage = new FollowedUsage(this.#startMs!)));
    return usage;
  }

  #rise(index: number): void {
    const selected = this.#selected[index]!;
    selected.now++;
    if (selected.now > selected.peak.level) selected.peak = { level: selected.now, atMs: this.#atMs };
  }

  /** A pod that belongs to no Job is one of everything only. */
  #selectionsOf({ owner }: PodRecord): number[] {
    const of = owner === undefined ? undefined : this.#owners.get(owner.uid);
    return this.#selections.flatMap((selection, index) =>
      selection === EVERYTHING || (of !== undefined && isSelectedBy(selection, of)) ? [index] : [],
    );
  }
}

const NOTHING: Levels = { pods: 0, cpuMillis: 0, memoryBytes: 0 };
const MOST_OF_THE_TIME = 0.95;

class FollowedUsage {
  readonly pods: LevelOverTime;
  readonly cpuMillis: LevelOverTime;
  readonly memoryBytes: LevelOverTime;

  constructor(startMs: number) {
    this.pods = new LevelOverTime(startMs);
    this.cpuMillis = new LevelOverTime(startMs);
    this.memoryBytes = new LevelOverTime(startMs);
  }

  until(endMs: number): Usage {
    const { pods, cpuMillis, memoryBytes } = this;
    const overTime = (level: LevelOverTime): number => level.quantile(MOST_OF_THE_TIME, endMs);
    return {
      pods: pods.most,
      cpuMillis: cpuMillis.most,
      memoryBytes: memoryBytes.most,
      overTime: { pods: overTime(pods), cpuMillis: overTime(cpuMillis), memoryBytes: overTime(memoryBytes) },
    };
  }
}

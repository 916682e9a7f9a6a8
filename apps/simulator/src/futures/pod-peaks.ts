import { type Selection, EVERYTHING, isSelectedBy } from "../selection.js";
import type { ObjectRecord, TraceRecord } from "../trace.js";

type PodRecord = Extract<ObjectRecord, { kind: "Pod" }>;
type JobRecord = Extract<ObjectRecord, { kind: "Job" }>;

/** The most of each there was at any time. Plain data. */
export interface Levels {
  /** Pods that waited or ran. */
  readonly pods: number;
  /** Thousandths of a core, requested by pods on a node. */
  readonly cpuMillis: number;
  /** Bytes, requested by pods on a node. */
  readonly memoryBytes: number;
}

/** Of all pods together. Plain data. */
export interface Peaks extends Levels {
  /** Of those namespaces that had pods, by name. */
  readonly namespaces: readonly (Levels & { readonly namespace: string })[];
  /** Pods of each selection that was asked for. */
  readonly selected: readonly Peak[];
}

export interface Peak {
  readonly level: number;
  /** When it was reached first; of nothing, the epoch. */
  readonly atMs: number;
}

interface FollowedPod {
  readonly namespace: RisingLevels;
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  bound: boolean;
  /** Places of the selections it belongs to. */
  readonly selections: readonly number[];
}

/** Follows how many pods there are at once, and what they request. */
export class PodPeaks {
  readonly #selections: readonly Selection[];
  /** Of Jobs, by UID: the CronJob or Job that a selection names. */
  readonly #owners = new Map<string, Selection>();
  readonly #pods = new Map<string, FollowedPod>();
  readonly #selected: { now: number; peak: Peak }[];
  readonly #all = new RisingLevels();
  readonly #namespaces = new Map<string, RisingLevels>();

  constructor(selections: readonly Selection[] = []) {
    this.#selections = selections;
    this.#selected = selections.map(() => ({ now: 0, peak: { level: 0, atMs: 0 } }));
  }

  get peaks(): Peaks {
    return {
      ...this.#all.most,
      selected: this.#selected.map(({ peak }) => peak),
      namespaces: [...this.#namespaces]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([namespace, { most }]) => ({ namespace, ...most })),
    };
  }

  add(record: TraceRecord): void {
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
    if (pod === undefined) {
      const selections = this.#selectionsOf(record);
      const namespace = this.#namespace(record.namespace);
      this.#pods.set(uid, (pod = { namespace, cpuMillis, memoryBytes, bound: false, selections }));
      for (const levels of [this.#all, namespace]) levels.add("pods", 1);
      for (const index of selections) this.#rise(index, record.at);
    }
    if (!pod.bound && state.node !== undefined) {
      pod.bound = true;
      for (const levels of [this.#all, pod.namespace]) {
        levels.add("cpuMillis", pod.cpuMillis);
        levels.add("memoryBytes", pod.memoryBytes);
      }
    }
  }

  #gone(uid: string, { namespace, bound, cpuMillis, memoryBytes, selections }: FollowedPod): void {
    this.#pods.delete(uid);
    for (const levels of [this.#all, namespace]) {
      levels.add("pods", -1);
      if (!bound) continue;
      levels.add("cpuMillis", -cpuMillis);
      levels.add("memoryBytes", -memoryBytes);
    }
    for (const index of selections) this.#selected[index]!.now--;
  }

  #namespace(name: string): RisingLevels {
    let levels = this.#namespaces.get(name);
    if (levels === undefined) this.#namespaces.set(name, (levels = new RisingLevels()));
    return levels;
  }

  #rise(index: number, at: string): void {
    const selected = this.#selected[index]!;
    selected.now++;
    if (selected.now > selected.peak.level) selected.peak = { level: selected.now, atMs: Date.parse(at) };
  }

  /** A pod that belongs to no Job is one of everything only. */
  #selectionsOf({ owner }: PodRecord): number[] {
    const of = owner === undefined ? undefined : this.#owners.get(owner.uid);
    return this.#selections.flatMap((selection, index) =>
      selection === EVERYTHING || (of !== undefined && isSelectedBy(selection, of)) ? [index] : [],
    );
  }
}

class RisingLevels {
  readonly #now = { pods: 0, cpuMillis: 0, memoryBytes: 0 };
  readonly most = { pods: 0, cpuMillis: 0, memoryBytes: 0 };

  add(level: keyof Levels, by: number): void {
    const now = (this.#now[level] += by);
    if (now > this.most[level]) this.most[level] = now;
  }
}

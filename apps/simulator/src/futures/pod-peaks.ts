import { type Selection, EVERYTHING, isSelectedBy } from "../selection.js";
import type { ObjectRecord, TraceRecord } from "../trace.js";

type PodRecord = Extract<ObjectRecord, { kind: "Pod" }>;
type JobRecord = Extract<ObjectRecord, { kind: "Job" }>;

/** The most there was at any time. Plain data. */
export interface Peaks {
  /** Pods that waited or ran. */
  readonly pods: number;
  /** Thousandths of a core, requested by pods on a node. */
  readonly cpuMillis: number;
  /** Pods of each selection that was asked for. */
  readonly selected: readonly Peak[];
}

export interface Peak {
  readonly level: number;
  /** When it was reached first; of nothing, the epoch. */
  readonly atMs: number;
}

interface FollowedPod {
  readonly cpuMillis: number;
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
  #cpuMillis = 0;
  #most = { pods: 0, cpuMillis: 0 };

  constructor(selections: readonly Selection[] = []) {
    this.#selections = selections;
    this.#selected = selections.map(() => ({ now: 0, peak: { level: 0, atMs: 0 } }));
  }

  get peaks(): Peaks {
    return { ...this.#most, selected: this.#selected.map(({ peak }) => peak) };
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
    const { uid, change, state, cpuMillis = 0 } = record;
    const isThere = change !== "DELETED" && (state.phase === "Pending" || state.phase === "Running");
    let pod = this.#pods.get(uid);
    if (!isThere) {
      if (pod !== undefined) this.#gone(uid, pod);
      return;
    }
    if (pod === undefined) {
      const selections = this.#selectionsOf(record);
      this.#pods.set(uid, (pod = { cpuMillis, bound: false, selections }));
      for (const index of selections) this.#rise(index, record.at);
    }
    if (!pod.bound && state.node !== undefined) {
      pod.bound = true;
      this.#cpuMillis += pod.cpuMillis;
    }
    this.#most.pods = Math.max(this.#most.pods, this.#pods.size);
    this.#most.cpuMillis = Math.max(this.#most.cpuMillis, this.#cpuMillis);
  }

  #gone(uid: string, { bound, cpuMillis, selections }: FollowedPod): void {
    this.#pods.delete(uid);
    if (bound) this.#cpuMillis -= cpuMillis;
    for (const index of selections) this.#selected[index]!.now--;
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

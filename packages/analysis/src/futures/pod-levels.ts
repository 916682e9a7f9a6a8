import type { NodePools } from "../resources/node-pools.js";
import { type Selection, isEverything, isSelectedBy } from "../input/selection.js";
import type { ObjectRecord, TraceRecord } from "../run/trace.js";
import type { LevelName } from "./levels.js";

type PodRecord = Extract<ObjectRecord, { kind: "Pod" }>;
type JobRecord = Extract<ObjectRecord, { kind: "Job" }>;

/** The owner of a level. A `PodLevels` always uses the same object for the same owner. Plain data. */
export type UsageName =
  | { readonly of: "all" }
  | { readonly of: "namespace" | "pool"; readonly name: string }
  /** Pods of the selection with this index. */
  | { readonly of: "selected"; readonly index: number };

/** Receives each change of a level. */
export type LevelListener = (usage: UsageName, level: LevelName, by: number) => void;

interface FollowedPod {
  readonly namespace: UsageName;
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  /** The pool of the pod's node. */
  pool: UsageName | undefined;
  readonly selections: readonly UsageName[];
}

/** Reports changes of the number of pods and of their requests. */
export class PodLevels {
  readonly #selections: readonly Selection[];
  readonly #pools: NodePools | undefined;
  readonly #listener: LevelListener;
  /** The CronJob or Job that a selection can match, by UID of the Job. */
  readonly #owners = new Map<string, Selection>();
  readonly #pods = new Map<string, FollowedPod>();
  readonly #all: UsageName = { of: "all" };
  readonly #selected: readonly UsageName[];
  readonly #byNamespace = new Map<string, UsageName>();
  readonly #byPool = new Map<string, UsageName>();

  constructor(selections: readonly Selection[], pools: NodePools | undefined, listener: LevelListener) {
    this.#selections = selections;
    this.#pools = pools;
    this.#listener = listener;
    this.#selected = selections.map((_, index) => ({ of: "selected", index }));
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
    const isActive = change !== "DELETED" && (state.phase === "Pending" || state.phase === "Running");
    let pod = this.#pods.get(uid);
    if (!isActive) {
      if (pod !== undefined) this.#removePod(uid, pod);
      return;
    }
    if (pod === undefined) {
      const namespace = named(this.#byNamespace, "namespace", record.namespace);
      const selections = this.#selectionsOf(record);
      this.#pods.set(uid, (pod = { namespace, cpuMillis, memoryBytes, pool: undefined, selections }));
      for (const usage of [this.#all, namespace, ...selections]) this.#listener(usage, "pods", 1);
    }
    if (pod.pool === undefined && state.node !== undefined) {
      pod.pool = named(this.#byPool, "pool", this.#pools?.of(state.node) ?? "");
      this.#listener(pod.pool, "pods", 1);
      this.#request(pod, pod.pool, 1);
    }
  }

  #removePod(uid: string, pod: FollowedPod): void {
    const { namespace, pool, selections } = pod;
    this.#pods.delete(uid);
    for (const usage of [this.#all, namespace, ...selections]) this.#listener(usage, "pods", -1);
    if (pool === undefined) return;
    this.#listener(pool, "pods", -1);
    this.#request(pod, pool, -1);
  }

  #request({ namespace, cpuMillis, memoryBytes }: FollowedPod, pool: UsageName, by: 1 | -1): void {
    for (const usage of [this.#all, namespace, pool]) {
      if (cpuMillis > 0) this.#listener(usage, "cpuMillis", by * cpuMillis);
      if (memoryBytes > 0) this.#listener(usage, "memoryBytes", by * memoryBytes);
    }
  }

  /** A pod without a Job belongs only to selections of everything. */
  #selectionsOf({ owner }: PodRecord): UsageName[] {
    const of = owner === undefined ? undefined : this.#owners.get(owner.uid);
    return this.#selected.filter((_, index) => {
      const selection = this.#selections[index]!;
      return isEverything(selection) || (of !== undefined && isSelectedBy(selection, of));
    });
  }
}

function named(all: Map<string, UsageName>, of: "namespace" | "pool", name: string): UsageName {
  let usage = all.get(name);
  if (usage === undefined) all.set(name, (usage = { of, name }));
  return usage;
}

import type { NodePools } from "../resources/node-pools.js";
import type { Selection } from "../input/selection.js";
import type { TraceRecord } from "../run/trace.js";
import { LevelOverTime } from "./level-over-time.js";
import { type LevelName, type PerLevel, perLevel } from "./levels.js";
import { PodLevels, type UsageName } from "./pod-levels.js";

/** The value of each level. Plain data. */
export interface Levels {
  /** Waiting and running pods; for a pool, pods on its nodes. */
  readonly pods: number;
  /** Thousandths of a core that pods on a node request. */
  readonly cpuMillis: number;
  /** Bytes that pods on a node request. */
  readonly memoryBytes: number;
}

/** The maximum of each level, and the level that was not exceeded for 95 % of the time. Plain data. */
export interface Usage extends Levels {
  readonly overTime: Levels;
}

/** The usage of a namespace or a node pool. Plain data. */
export interface NamedUsage extends Usage {
  readonly name: string;
}

/** The usage of all pods. Plain data. */
export interface Peaks extends Usage {
  /** Namespaces that had pods, by name. */
  readonly namespaces: readonly NamedUsage[];
  /** Node pools that had pods, by name. */
  readonly pools: readonly NamedUsage[];
  /** The peak of each requested selection. */
  readonly selected: readonly Peak[];
}

export interface Peak {
  readonly level: number;
  /** When it was reached first; the epoch if the level is 0. */
  readonly atMs: number;
}

/** Tracks the number of concurrent pods and their requests, from the first record to the last. */
export class PodPeaks {
  readonly #levels: PodLevels;
  readonly #selected: { now: number; peak: Peak }[];
  readonly #hasPools: boolean;
  #startMs: number | undefined;
  #at = "";
  #atMs = 0;
  /** Levels by usage name. */
  readonly #usages = new Map<UsageName, FollowedUsage>();
  readonly #byNamespace = new Map<string, FollowedUsage>();
  readonly #byPool = new Map<string, FollowedUsage>();
  #all: FollowedUsage | undefined;

  /** @param pools - The pools of the nodes; without them, pools are omitted from the result. */
  constructor(selections: readonly Selection[] = [], pools?: NodePools) {
    this.#levels = new PodLevels(selections, pools, (usage, level, by) => this.change(usage, level, by));
    this.#hasPools = pools !== undefined;
    this.#selected = selections.map(() => ({ now: 0, peak: { level: 0, atMs: 0 } }));
  }

  get peaks(): Peaks {
    const byName = (all: ReadonlyMap<string, FollowedUsage>): NamedUsage[] =>
      [...all]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, usage]) => ({ name, ...usageUntil(usage, this.#atMs) }));
    return {
      ...(this.#all === undefined ? { ...NOTHING, overTime: NOTHING } : usageUntil(this.#all, this.#atMs)),
      selected: this.#selected.map(({ peak }) => peak),
      namespaces: byName(this.#byNamespace),
      pools: this.#hasPools ? byName(this.#byPool) : [],
    };
  }

  add(record: TraceRecord): void {
    const at = record.type === "header" ? record.start : record.at;
    if (at !== this.#at) {
      this.#at = at;
      this.at(Date.parse(at));
    }
    this.#levels.add(record);
  }

  /** Sets the time of all following changes. The first call sets the start of the window. */
  at(timeMs: number): void {
    this.#atMs = timeMs;
    this.#startMs ??= timeMs;
  }

  /** Applies a change that a `PodLevels` reported, from these or other records. */
  change(name: UsageName, level: LevelName, by: number): void {
    if (name.of === "selected") return this.#select(name.index, by);
    let usage = this.#usages.get(name);
    if (usage === undefined) this.#usages.set(name, (usage = this.#usage(name)));
    usage[level].change(by, this.#atMs);
  }

  #usage(name: Exclude<UsageName, { of: "selected" }>): FollowedUsage {
    if (name.of === "all") return (this.#all ??= this.#newUsage());
    const all = name.of === "namespace" ? this.#byNamespace : this.#byPool;
    let usage = all.get(name.name);
    if (usage === undefined) all.set(name.name, (usage = this.#newUsage()));
    return usage;
  }

  #newUsage(): FollowedUsage {
    return perLevel(() => new LevelOverTime(this.#startMs!));
  }

  #select(index: number, by: number): void {
    const selected = this.#selected[index]!;
    selected.now += by;
    if (selected.now > selected.peak.level) selected.peak = { level: selected.now, atMs: this.#atMs };
  }
}

const NOTHING: Levels = perLevel(() => 0);
const TIME_SHARE = 0.95;

type FollowedUsage = PerLevel<LevelOverTime>;

function usageUntil(levels: FollowedUsage, endMs: number): Usage {
  return {
    ...perLevel((level) => levels[level].max),
    overTime: perLevel((level) => levels[level].quantile(TIME_SHARE, endMs)),
  };
}

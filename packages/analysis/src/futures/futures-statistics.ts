import { Durations } from "../digest/durations.js";
import type { FutureSummary } from "./simulate-future.js";
import { type Incident, incidentKey } from "./incident.js";
import type { GroupFuture, IncidentCount } from "./incident-counter.js";
import { LEVEL_NAMES, type PerLevel, perLevel } from "./levels.js";
import type { Levels, NamedUsage, Usage } from "./pod-peaks.js";
import { type NodeChance, type QuotaChance, RefusalStatistics } from "./refusal-chances.js";
import { type Share, wilson } from "./wilson.js";

/** An incident over many futures. */
export interface IncidentChance {
  readonly incident: Incident;
  /** Number and share of the futures in which it occurred. */
  readonly futures: number;
  readonly perFuture: Share;
  /** Number and share of the affected slots. */
  readonly occurrences: number;
  readonly perSlot: Share;
  /** The future with the most occurrences; for lateness, the one with the latest run. */
  readonly worst: WorstFuture;
}

export interface WorstFuture {
  readonly seed: number;
  readonly count: number;
  /** Milliseconds for lateness, otherwise 1. */
  readonly severity: number;
  readonly atMs: number;
  readonly text: string;
}

/** A CronJob, or a Job without a CronJob, over many futures. */
export interface GroupChances {
  readonly kind: GroupFuture["kind"];
  readonly namespace: string;
  readonly name: string;
  readonly slots: number;
  readonly runs: number;
  readonly chances: readonly IncidentChance[];
  /** Durations of all futures. */
  readonly durations: Durations;
  readonly lateness: Durations;
}

interface IncidentCounts {
  readonly incident: Incident;
  futures: number;
  occurrences: number;
  worst: WorstFuture;
}

interface GroupCounts {
  readonly identity: Pick<GroupFuture, "kind" | "namespace" | "name">;
  slots: number;
  runs: number;
  readonly incidents: Map<string, IncidentCounts>;
  readonly durations: Durations;
  readonly lateness: Durations;
}

/**
 * Aggregates futures, in any order.
 *
 * Memory does not grow with the number of futures: there are counters for each incident of each CronJob, and for each
 * distinct duration and peak.
 */
export class FuturesStatistics {
  #futures = 0;
  /** By kind, namespace and name. */
  readonly #groups = new Map<string, GroupCounts>();
  /** All groups together: each future counts once, even if several CronJobs are affected. */
  readonly #total: GroupCounts = emptyGroup({ kind: "CronJob", namespace: "", name: "" });
  readonly #usage = emptyUsage();
  readonly #namespaces = new Map<string, UsageCounts>();
  readonly #pools = new Map<string, UsageCounts>();

  readonly #refusals = new RefusalStatistics();
  readonly #nodes: { readonly counts: PeakCounts; tooLarge: number }[] = [];

  get futures(): number {
    return this.#futures;
  }

  get peaks(): UsageChances {
    return this.#chancesOf(this.#usage);
  }

  /** Namespaces that had pods in any future, by name. */
  get namespaces(): readonly NamedChances[] {
    return this.#byName(this.#namespaces);
  }

  /** Node pools that had pods in any future, by name. */
  get pools(): readonly NamedChances[] {
    return this.#byName(this.#pools);
  }

  #byName(all: ReadonlyMap<string, UsageCounts>): NamedChances[] {
    return [...all]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, counts]) => ({ name, ...this.#chancesOf(counts) }));
  }

  #chancesOf({ peaks, overTime }: UsageCounts): UsageChances {
    const chance = (counts: PeakCounts): PeakChance => ({
      worst: counts.worst,
      quantile: (share) => counts.quantile(share, this.#futures),
    });
    const chances = (counts: LevelCounts): PeakChances => perLevel((level) => chance(counts[level]));
    return { ...chances(peaks), overTime: chances(overTime) };
  }

  /** One entry for each requested node size. */
  get nodesNeeded(): NodesChance[] {
    return this.#nodes.map(({ counts, tooLarge }) => ({
      futuresTooLarge: tooLarge,
      worst: counts.worst,
      enough: counts.levels().map(({ level, atMost }) => ({
        nodes: level,
        futures: atMost,
        perFuture: wilson(atMost, this.#futures)!,
      })),
    }));
  }

  /** Refusals by ResourceQuotas. */
  get refusedByQuotas(): QuotaChance[] {
    return this.#refusals.quotas(this.#futures);
  }

  /** Reasons for which pods fit on no node. */
  get refusedByNodes(): NodeChance[] {
    return this.#refusals.nodes(this.#futures);
  }

  add({ seed, groups, peaks, nodesNeeded, refusals }: FutureSummary): void {
    this.#futures++;
    this.#refusals.add(refusals, seed);
    const totals: Record<string, IncidentCount> = {};
    for (const future of groups) {
      const { kind, namespace, name } = future;
      const key = `${kind} ${namespace}/${name}`;
      let group = this.#groups.get(key);
      if (group === undefined) this.#groups.set(key, (group = emptyGroup({ kind, namespace, name })));
      addFuture(group, future, seed);
      for (const [each, { count, severity, atMs, text, incident }] of Object.entries(future.incidents)) {
        const before = totals[each];
        const here = { incident, severity, atMs, text: `${namespace}/${name}: ${text}` };
        if (before === undefined) totals[each] = { ...here, count };
        else if (severity > before.severity) totals[each] = { ...here, count: before.count + count };
        else before.count += count;
      }
    }
    const slots = groups.reduce((sum, group) => sum + group.slots, 0);
    const runs = groups.reduce((sum, group) => sum + group.runs, 0);
    addFuture(this.#total, { slots, runs, incidents: totals, durations: [], lateness: [] }, seed);
    addUsage(this.#usage, peaks, seed);
    for (const [index, { nodes, tooLarge }] of nodesNeeded.entries()) {
      const needed = (this.#nodes[index] ??= { counts: new PeakCounts(), tooLarge: 0 });
      if (tooLarge === 0) needed.counts.add(nodes, seed);
      else needed.tooLarge++;
    }
    addNamed(this.#namespaces, peaks.namespaces, seed);
    addNamed(this.#pools, peaks.pools, seed);
  }

  /** Sorted by kind, namespace and name. */
  get groups(): GroupChances[] {
    return [...this.#groups.entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, group]) => chancesOf(group, this.#futures));
  }

  get total(): GroupChances {
    return chancesOf(this.#total, this.#futures);
  }
}

/** The peak of a level over many futures. */
export interface PeakChance {
  /** The highest level, and the lowest seed that reached it. */
  readonly worst: { readonly level: number; readonly seed: number };
  /** Returns the level that this share of the futures does not exceed. */
  readonly quantile: (share: number) => number;
}

/** How many nodes of a size are enough, and in how many futures. */
export interface NodesChance {
  /** Futures with a pod that does not fit on a node of this size: no number of nodes is enough. */
  readonly futuresTooLarge: number;
  /** The highest number of nodes, and the lowest seed that needs it. */
  readonly worst: PeakChance["worst"];
  /** Ascending. */
  readonly enough: readonly { readonly nodes: number; readonly futures: number; readonly perFuture: Share }[];
}

export type PeakChances = PerLevel<PeakChance>;

/** The maximum in each future, and the level that was not exceeded for 95 % of its time. */
export interface UsageChances extends PeakChances {
  readonly overTime: PeakChances;
}

/** The chances of a namespace or a node pool. */
export interface NamedChances extends UsageChances {
  readonly name: string;
}

type LevelCounts = PerLevel<PeakCounts>;

interface UsageCounts {
  readonly peaks: LevelCounts;
  readonly overTime: LevelCounts;
}

function emptyUsage(): UsageCounts {
  const empty = (): LevelCounts => perLevel(() => new PeakCounts());
  return { peaks: empty(), overTime: empty() };
}

function addUsage({ peaks, overTime }: UsageCounts, usage: Usage, seed: number): void {
  addLevels(peaks, usage, seed);
  addLevels(overTime, usage.overTime, seed);
}

function addNamed(all: Map<string, UsageCounts>, usages: readonly NamedUsage[], seed: number): void {
  for (const usage of usages) {
    let counts = all.get(usage.name);
    if (counts === undefined) all.set(usage.name, (counts = emptyUsage()));
    addUsage(counts, usage, seed);
  }
}

function addLevels(counts: LevelCounts, levels: Levels, seed: number): void {
  for (const level of LEVEL_NAMES) counts[level].add(levels[level], seed);
}

class PeakCounts {
  readonly #counts = new Map<number, number>();
  #size = 0;
  #worst = { level: 0, seed: Number.POSITIVE_INFINITY };

  /** The highest level, and the lowest seed that reached it. */
  get worst(): { readonly level: number; readonly seed: number } {
    return this.#worst;
  }

  add(level: number, seed: number): void {
    this.#counts.set(level, (this.#counts.get(level) ?? 0) + 1);
    this.#size++;
    if (level > this.#worst.level || (level === this.#worst.level && seed < this.#worst.seed))
      this.#worst = { level, seed };
  }

  /** Returns every level that occurred, ascending, with the number of futures that did not exceed it. */
  levels(): { readonly level: number; readonly atMost: number }[] {
    let atMost = 0;
    return [...this.#counts].sort(([a], [b]) => a - b).map(([level, count]) => ({ level, atMost: (atMost += count) }));
  }

  /** Returns the level that this share of the futures does not exceed. Futures that were not added count as 0. */
  quantile(share: number, futures: number): number {
    let left = Math.max(1, Math.ceil(share * futures)) - (futures - this.#size);
    if (left <= 0) return 0;
    for (const [level, count] of [...this.#counts].sort(([a], [b]) => a - b)) {
      left -= count;
      if (left <= 0) return level;
    }
    return 0;
  }
}

function emptyGroup(identity: GroupCounts["identity"]): GroupCounts {
  return { identity, slots: 0, runs: 0, incidents: new Map(), durations: new Durations(), lateness: new Durations() };
}

function addFuture(
  group: GroupCounts,
  { slots, runs, incidents, durations, lateness }: Omit<GroupFuture, "kind" | "namespace" | "name">,
  seed: number,
): void {
  group.slots += slots;
  group.runs += runs;
  group.durations.addCounts(durations);
  group.lateness.addCounts(lateness);
  for (const { incident, count, severity, atMs, text } of Object.values(incidents)) {
    const key = incidentKey(incident);
    const worst = { seed, count, severity, atMs, text };
    const counted = group.incidents.get(key);
    if (counted === undefined) group.incidents.set(key, { incident, futures: 1, occurrences: count, worst });
    else {
      counted.futures++;
      counted.occurrences += count;
      if (isWorse(worst, counted.worst)) counted.worst = worst;
    }
  }
}

/** Among equal futures the lowest seed is the worst, so that the result does not depend on the order. */
function isWorse(a: WorstFuture, b: WorstFuture): boolean {
  if (a.severity !== b.severity) return a.severity > b.severity;
  return a.count !== b.count ? a.count > b.count : a.seed < b.seed;
}

function chancesOf({ identity, slots, runs, incidents, durations, lateness }: GroupCounts, all: number): GroupChances {
  const chances = [...incidents.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { incident, futures, occurrences, worst }]) => ({
      incident,
      futures,
      perFuture: wilson(futures, all)!,
      occurrences,
      perSlot: wilson(Math.min(occurrences, slots), slots)!,
      worst,
    }));
  return { ...identity, slots, runs, chances, durations, lateness };
}

import type { Durations } from "../digest/durations.js";
import type {
  FuturesStatistics,
  GroupChances,
  NodesChance,
  PeakChance,
  PeakChances,
  UsageChances,
} from "./futures-statistics.js";
import type { RefusalChance } from "./refusal-chances.js";
import type { Violation } from "../fail-on/rule-counts.js";
import { isoTime } from "../time/iso-time.js";
import type { NodeSize } from "./node-size.js";
import { countSeeds, type SeedRange } from "./seeds.js";
import type { Share } from "./wilson.js";

export interface FuturesHeader {
  readonly startMs: number;
  readonly durationMs: number;
  readonly seeds: SeedRange;
  readonly kubernetes: string;
  readonly timeZoneData: string;
  /** The node sizes of `--node-size`. */
  readonly nodeSizes: readonly NodeSize[];
  /** Violated rules; absent when no rules were given. */
  readonly violations?: readonly Violation[];
}

/** Formats all results as one object; `futures.schema.json` describes it. */
export function futuresJson(statistics: FuturesStatistics, header: FuturesHeader): string {
  const { startMs, durationMs, seeds, kubernetes, timeZoneData, nodeSizes, violations } = header;
  const { total, groups, peaks, namespaces, pools, futures } = statistics;
  const document = {
    futuresVersion: 1,
    kubernetes,
    start: isoTime(startMs),
    end: isoTime(startMs + durationMs),
    seeds: { ...seeds, requested: countSeeds(seeds), simulated: futures },
    timeZoneData,
    total: { slots: total.slots, runs: total.runs, incidents: incidentsOf(total) },
    groups: groups.map((group) => ({
      kind: group.kind,
      namespace: group.namespace,
      name: group.name,
      slots: group.slots,
      runs: group.runs,
      incidents: incidentsOf(group),
      durationSeconds: quantiles(group.durations),
      lateSeconds: quantiles(group.lateness),
      hasSpread: group.durations.counts.length > 1,
    })),
    concurrent: {
      ...usageOf(peaks),
      namespaces: namespaces.map((each) => ({ namespace: each.name, ...usageOf(each) })),
      pools: pools.map((each) => ({ pool: each.name, ...usageOf(each) })),
    },
    refused: {
      quotas: statistics.refusedByQuotas.map(({ namespace, quota, resource, ...chance }) => ({
        namespace,
        quota,
        resource,
        ...refusedOf(chance),
      })),
      nodes: statistics.refusedByNodes.map(({ reason, ...chance }) => ({ reason, ...refusedOf(chance) })),
    },
    nodes:
      nodeSizes.length === 0
        ? undefined
        : statistics.nodesNeeded.map((chance, index) => nodesOf(nodeSizes[index]!, chance)),
    violations: violations?.map(violationOf),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function incidentsOf({ chances }: GroupChances): object[] {
  return chances.map(({ incident, futures, perFuture, occurrences, perSlot, worst }) => ({
    kind: incident.kind,
    cause: incident.cause,
    overSeconds: incident.overMs === undefined ? undefined : incident.overMs / 1000,
    futures,
    perFuture: rounded(perFuture),
    occurrences,
    perSlot: rounded(perSlot),
    worst: {
      seed: worst.seed,
      count: worst.count,
      lateSeconds: incident.kind === "late" ? worst.severity / 1000 : undefined,
      at: isoTime(worst.atMs),
      text: worst.text,
    },
  }));
}

function violationOf({ rule, object, seed, atMs, text, count, futures }: Violation): object {
  return {
    rule: rule.text,
    object,
    seed,
    at: isoTime(atMs),
    text,
    count,
    ...(futures === undefined ? {} : { futures: futures.broken, perFuture: rounded(futures.share) }),
  };
}

/** Rounds to a millionth, because the last digits of a double depend on the machine's math library. */
function rounded({ share, low, high }: Share): Share {
  const round = (value: number): number => Math.round(value * 1e6) / 1e6;
  return { share: round(share), low: round(low), high: round(high) };
}

function quantiles(durations: Durations): object | null {
  const seconds = (share: number): number => durations.quantile(share)! / 1000;
  return durations.size === 0 ? null : { p50: seconds(0.5), p95: seconds(0.95), p99: seconds(0.99), max: seconds(1) };
}

function refusedOf({ futures, perFuture, pods, jobs, worst }: RefusalChance): object {
  return { futures, perFuture: rounded(perFuture), pods, jobs, worst };
}

function nodesOf({ cpuMillis, memoryBytes, pods }: NodeSize, { enough, futuresTooLarge, worst }: NodesChance): object {
  return {
    size: { cores: cpuMillis / 1000, memoryBytes, pods },
    enough: enough.map(({ nodes, futures, perFuture }) => ({ nodes, futures, perFuture: rounded(perFuture) })),
    worst: enough.length === 0 ? undefined : { nodes: worst.level, seed: worst.seed },
    futuresTooLarge,
  };
}

function usageOf(usage: UsageChances): object {
  return { ...peaksOf(usage), p95OverTime: peaksOf(usage.overTime) };
}

function peaksOf({ pods, cpuMillis, memoryBytes }: PeakChances): object {
  return { pods: peakOf(pods, 1), cores: peakOf(cpuMillis, 1000), memoryBytes: peakOf(memoryBytes, 1) };
}

function peakOf(peak: PeakChance, unit: number): object {
  const level = (share: number): number => peak.quantile(share) / unit;
  return { p50: level(0.5), p95: level(0.95), p99: level(0.99), max: peak.worst.level / unit, seed: peak.worst.seed };
}

import type { Figure, FigureCell, FigureTable, FuturesReport, LoadOverTime, Moment } from "@kubewright/timeline/data";

import { Durations } from "../digest/durations.js";
import type { Violation } from "../fail-on/rule-counts.js";
import type {
  FuturesStatistics,
  GroupChances,
  IncidentChance,
  NamedChances,
  PeakChance,
} from "./futures-statistics.js";
import {
  CHANCE_HEAD,
  QUANTILES,
  durationsHead,
  nodeSizeText,
  nothingText,
  quantiles,
  refusedText,
  shareText,
  listedChances,
  listedRefusals,
  usedLevels,
  withoutSpreadText,
  worstText,
} from "./futures-text.js";
import type { LoadBands } from "./load-bands.js";
import type { CurvePlan } from "./load-curve.js";
import { incidentText } from "./incident.js";
import type { NodeSize } from "./node-size.js";
import type { Share } from "./wilson.js";

/** Maximum number of timelines that a page embeds: those of the worst seeds. */
export const MAX_EMBEDDED = 12;

export interface FuturesResults {
  readonly statistics: FuturesStatistics;
  readonly bands: LoadBands;
  readonly plan: CurvePlan;
  /** Number of CronJobs and Jobs in the manifests; the plan may omit some. */
  readonly allGroups: number;
  readonly violations: readonly Violation[];
  readonly nodeSizes: readonly NodeSize[];
}

/** Builds the data of the futures page, without its timelines. */
export function futuresReport(
  facts: Pick<FuturesReport, "startMs" | "endMs" | "kubernetes" | "timeZoneData" | "seeds" | "description" | "command">,
  { statistics, bands, plan, allGroups, violations, nodeSizes }: FuturesResults,
): Omit<FuturesReport, "embedded"> {
  const { total, groups, futures } = statistics;
  const incidents = chancesTable([total, ...groups], total, groups);
  const nothing = total.chances.length === 0 && futures > 0 ? [nothingText(statistics)] : [];
  return {
    page: "futures",
    ...facts,
    simulated: futures,
    remarks: [...nothing, ...withoutSpreadText(groups)],
    tables: [
      brokenTable(violations),
      incidents,
      peaksTable(statistics),
      usageTable("namespace", statistics, statistics.namespaces),
      usageTable("node pool", statistics, statistics.pools),
      refusalsTable(statistics),
      ...statistics.nodesNeeded.map((chance, index) => nodesTable(nodeSizes[index]!, chance)),
      durationsTable(groups),
    ].filter(({ rows }) => rows.length > 0),
    load: loadOverTime(bands, plan, allGroups),
  };
}

/**
 * Returns the seeds whose timelines a page embeds, at most {@link MAX_EMBEDDED}: those of its figures, then those that
 * most often have the highest pod count.
 */
export function seedsToEmbed({ tables, load }: Pick<FuturesReport, "tables" | "load">): number[] {
  const shown = tables.flatMap(({ rows }) =>
    rows.flatMap((cells) =>
      cells.flatMap((cell) => (typeof cell === "string" || cell.moment === undefined ? [] : [cell.moment.seed])),
    ),
  );
  return [...new Set([...shown, ...seedsWithMax(load)])].slice(0, MAX_EMBEDDED).sort((a, b) => a - b);
}

function seedsWithMax({ groups: [all] }: LoadOverTime): number[] {
  const steps = new Map<number, number>();
  for (const [step, seed] of all?.pods.seeds.entries() ?? [])
    if (all!.pods.max[step]! > 0) steps.set(seed, (steps.get(seed) ?? 0) + 1);
  return [...steps].sort(([a, m], [b, n]) => n - m || a - b).map(([seed]) => seed);
}

const ALL = "all together";

function brokenTable(violations: readonly Violation[]): FigureTable {
  return {
    title: "Broken rules",
    head: ["rule", "CronJob or Job", "in a future", "seen in"],
    rows: violations.map(({ rule, object, futures, seed, atMs, text }) => [
      rule.text,
      object ?? ALL,
      futures === undefined ? "" : shareFigure(futures.share),
      { text: `seed ${seed}: ${text}`, moment: { seed, at: atMs } },
    ]),
  };
}

function chancesTable(
  shown: readonly GroupChances[],
  total: GroupChances,
  groups: readonly GroupChances[],
): FigureTable {
  const affected = groups.filter(({ chances }) => chances.length > 0);
  return {
    title: "What goes wrong",
    note: "The share of futures in which it happens at all, and of the slots that it befalls, each with its 95% interval.",
    head: CHANCE_HEAD,
    rows: shown
      .filter((group) => group !== total || affected.length > 1)
      .flatMap((group) =>
        listedChances(group).map((chance) => [
          group === total ? "any of them" : nameOf(group),
          incidentText(chance.incident),
          shareFigure(chance.perFuture),
          shareFigure(chance.perSlot),
          { text: worstText(chance), moment: momentOf(chance, group === total ? undefined : group) },
        ]),
      ),
  };
}

function momentOf({ worst }: IncidentChance, group: GroupChances | undefined): Moment {
  const { seed, atMs } = worst;
  if (group === undefined) return { seed, at: atMs };
  const { kind, namespace, name } = group;
  return { seed, at: atMs, object: { kind, namespace, name } };
}

function shareFigure(share: Share): Figure {
  return { text: shareText(share), share };
}

const PEAK_OF = { pods: "mostPods", cores: "mostCpu", memory: undefined } as const;

function peaksTable({ peaks }: FuturesStatistics): FigureTable {
  return {
    title: "Most at once",
    note: "Of all pods together: what so many of the futures do not exceed, at any time and for 95% of the time.",
    head: ["", "p50", "p95", "p99", "worst"],
    isNumeric: true,
    rows: usedLevels(peaks).flatMap(({ title, short, level, show }) =>
      (
        [
          [title, peaks[level], PEAK_OF[short]],
          [`${title}, 95% of the time`, peaks.overTime[level], undefined],
        ] as const
      ).map(([name, peak, at]) => [
        name,
        ...QUANTILES.map((share) => show(peak.quantile(share))),
        peakFigure(peak, show, at),
      ]),
    ),
  };
}

function usageTable(what: string, { peaks }: FuturesStatistics, all: readonly NamedChances[]): FigureTable {
  const levels = usedLevels(peaks);
  return {
    title: `Most at once by ${what}`,
    note: "What 95% of the futures do not exceed, at any time and for 95% of the time, and the worst.",
    head: [what, ...levels.flatMap(({ short }) => [`${short} p95`, "95% time", "worst"])],
    isNumeric: true,
    rows:
      all.length < 2
        ? []
        : all.map((each) => [
            each.name,
            ...levels.flatMap(({ level, show }) => [
              show(each[level].quantile(0.95)),
              show(each.overTime[level].quantile(0.95)),
              peakFigure(each[level], show),
            ]),
          ]),
  };
}

function refusalsTable(statistics: FuturesStatistics): FigureTable {
  return {
    title: "Had no room at first",
    note: "What a ResourceQuota refused, and pods that fit on no node.",
    head: ["what", "in a future", "worst"],
    rows: listedRefusals(statistics).map(([what, { perFuture, worst }]) => [
      what,
      shareFigure(perFuture),
      { text: refusedText(worst), moment: { seed: worst.seed } },
    ]),
  };
}

function peakFigure({ worst }: PeakChance, show: (level: number) => string, at?: Moment["at"]): FigureCell {
  if (worst.level === 0) return show(0);
  return {
    text: `${show(worst.level)} (seed ${worst.seed})`,
    moment: { seed: worst.seed, ...(at === undefined ? {} : { at }) },
  };
}

function nodesTable(
  nodeSize: NodeSize,
  { enough, futuresTooLarge, worst }: FuturesStatistics["nodesNeeded"][number],
): FigureTable {
  const tooLarge =
    futuresTooLarge === 0
      ? {}
      : {
          note: `In ${futuresTooLarge.toLocaleString("en-US")} of the futures a pod requests more than such a node has.`,
        };
  return {
    title: `Nodes of ${nodeSizeText(nodeSize)}`,
    ...tooLarge,
    head: ["nodes", "enough in a future", ""],
    rows: enough.map(({ nodes, perFuture }) => [
      nodes.toLocaleString("en-US"),
      shareFigure(perFuture),
      nodes === worst.level
        ? {
            text: `seed ${worst.seed} needs as many`,
            moment: { seed: worst.seed, at: "mostPods" },
          }
        : "",
    ]),
  };
}

function durationsTable(groups: readonly GroupChances[]): FigureTable {
  const ran = groups.filter(({ runs }) => runs > 0);
  const isLate = ran.some(({ lateness }) => (lateness.quantile(1) ?? 0) > 0);
  return {
    title: isLate ? "How long runs take, and how late they begin" : "How long runs take",
    note: "Of all futures together.",
    head: durationsHead(isLate),
    isNumeric: true,
    rows: [...(ran.length > 1 ? [allTogether(ran)] : []), ...ran.map((group) => [nameOf(group), group] as const)].map(
      ([name, { runs, durations, lateness }]) => [
        name,
        runs.toLocaleString("en-US"),
        ...quantiles(durations),
        ...(isLate ? quantiles(lateness) : []),
      ],
    ),
  };
}

type Ran = Pick<GroupChances, "runs" | "durations" | "lateness">;

function allTogether(groups: readonly GroupChances[]): readonly [name: string, Ran] {
  const all = { durations: new Durations(), lateness: new Durations() };
  for (const { durations, lateness } of groups) {
    all.durations.addCounts(durations.counts);
    all.lateness.addCounts(lateness.counts);
  }
  return [ALL, { ...all, runs: groups.reduce((sum, { runs }) => sum + runs, 0) }];
}

function nameOf({ namespace, name }: GroupChances): string {
  return `${namespace}/${name}`;
}

function loadOverTime(bands: LoadBands, { fromMs, stepMs, groups }: CurvePlan, allGroups: number): LoadOverTime {
  const { all } = bands;
  const single = bands.groups.map((band, index) => ({ object: groups[index]!, ...band }));
  return {
    fromMs,
    stepMs,
    groups: all === undefined ? [] : [all, ...(single.length > 1 ? single : [])],
    omittedGroups: Math.max(0, allGroups - groups.length),
  };
}

import { formatDuration } from "../time/duration.js";
import { LEVEL_FORMATS, type LevelFormat } from "../text/level-formats.js";
import { coresText, memoryText } from "../text/requests-text.js";
import type { Durations } from "../digest/durations.js";
import { type Style, printable } from "../text/style.js";
import { wrap } from "../why/text-block.js";
import type {
  FuturesStatistics,
  GroupChances,
  IncidentChance,
  NamedChances,
  NodesChance,
  UsageChances,
} from "./futures-statistics.js";
import { incidentText } from "./incident.js";
import type { NodeSize } from "./node-size.js";
import type { RefusalChance } from "./refusal-chances.js";
import type { Share } from "./wilson.js";

export interface FuturesTextOptions {
  /** Characters per line. */
  readonly width: number;
  readonly style: Style;
  /** The node sizes of `--node-size`. */
  readonly nodeSizes: readonly NodeSize[];
}

/** Formats the shares of incidents, the durations and lateness of runs, and the concurrent levels. */
export function futuresText(statistics: FuturesStatistics, options: FuturesTextOptions): string {
  return [
    chancesBlock(statistics, options),
    durationsBlock(statistics.groups, options),
    peaksBlock(statistics, options),
    refusalsBlock(statistics, options),
    ...statistics.nodesNeeded.map((chance, index) => nodesBlock(options.nodeSizes[index]!, chance, options)),
    withoutSpreadBlock(statistics.groups, options),
  ]
    .filter((block) => block !== "")
    .join("\n");
}

/** Column titles of `chanceRows`. */
export const CHANCE_HEAD = ["CronJob or Job", "what happens", "in a future", "of slots", "worst"];

function chancesBlock(statistics: FuturesStatistics, options: FuturesTextOptions): string {
  const rows = chanceRows(statistics);
  return rows.length === 0 ? `${nothingText(statistics)}\n` : table(CHANCE_HEAD, rows, options, { grows: [0, 1] });
}

export function nothingText({ futures }: FuturesStatistics): string {
  return `Nothing goes wrong in any of ${futures.toLocaleString("en-US")} ${futures === 1 ? "future" : "futures"}.`;
}

/** Returns one row for each incident of each CronJob and Job: its share of futures and slots, and the worst seed. */
export function chanceRows({ total, groups }: FuturesStatistics): string[][] {
  const affected = groups.filter(({ chances }) => chances.length > 0);
  return [...affected, ...(affected.length > 1 ? [total] : [])].flatMap((group) =>
    listedChances(group).map((chance, index) => [
      index > 0 ? "" : group === total ? "any of them" : printable(`${group.namespace}/${group.name}`),
      incidentText(chance.incident),
      shareText(chance.perFuture),
      shareText(chance.perSlot),
      worstText(chance),
    ]),
  );
}

/** Omits the total of skipped runs when all have the same reason. */
export function listedChances({ chances }: GroupChances): readonly IncidentChance[] {
  const reasons = chances.filter(({ incident: { cause } }) => cause !== undefined);
  return chances.filter(
    ({ incident: { kind, cause } }) => kind !== "skipped" || cause !== undefined || reasons.length > 1,
  );
}

/** `3.1% (2.2–4.3)` */
export function shareText({ share, low, high }: Share): string {
  return `${percent(share)}% (${percent(low)}–${percent(high)})`;
}

function percent(share: number): string {
  const value = share * 100;
  return value === 0 || value === 100 ? String(value) : value >= 10 ? value.toFixed(1) : value.toPrecision(2);
}

export function worstText({ incident, worst }: IncidentChance): string {
  const what =
    incident.kind === "late" ? `by ${formatDuration(worst.severity)}` : worst.count === 1 ? "once" : `${worst.count}×`;
  return `seed ${worst.seed}: ${what}`;
}

/** Quantiles that are printed for durations and peaks. */
export const QUANTILES = [0.5, 0.95, 0.99] as const;

function durationsBlock(groups: readonly GroupChances[], options: FuturesTextOptions): string {
  const ran = groups.filter(({ runs }) => runs > 0);
  if (ran.length === 0) return "";
  const isLate = ran.some(({ lateness }) => (lateness.quantile(1) ?? 0) > 0);
  const rows = ran.map(({ namespace, name, runs, durations, lateness }) => [
    printable(`${namespace}/${name}`),
    runs.toLocaleString("en-US"),
    ...quantiles(durations),
    ...(isLate ? quantiles(lateness) : []),
  ]);
  return table(durationsHead(isLate), rows, options, { grows: [0], right: true });
}

/** Column titles of durations and, if any run was late, of lateness. */
export function durationsHead(isLate: boolean): string[] {
  return ["CronJob or Job", "runs", "took p50", "p95", "p99", ...(isLate ? ["late p50", "p95", "p99"] : [])];
}

/** The {@link QUANTILES} of durations; `–` for none and for 0. */
export function quantiles(durations: Durations): string[] {
  return QUANTILES.map((share) => {
    const durationMs = durations.quantile(share);
    return durationMs === undefined || durationMs === 0 ? "–" : formatDuration(durationMs);
  });
}

function peaksBlock({ peaks: usage, namespaces, pools }: FuturesStatistics, options: FuturesTextOptions): string {
  if (usage.pods.worst.level === 0) return "";
  const levels = usedLevels(usage);
  const rows = levels.flatMap(({ title, level, show }) =>
    [[title, usage[level]] as const, [`${IN_TIME}no more than`, usage.overTime[level]] as const].map(
      ([name, { quantile, worst }]) => [
        name,
        ...QUANTILES.map((share) => show(quantile(share))),
        `${show(worst.level)} (seed ${worst.seed})`,
      ],
    ),
  );
  const named = (what: string, all: readonly NamedChances[]): string[] => {
    if (all.length < 2) return [];
    const head = [`at once by ${what}`, ...levels.flatMap(({ short }) => [`${short} p95`, "worst", IN_TIME_SHORT])];
    const cells = all.map((each) => [
      printable(each.name),
      ...levels.flatMap(({ level, show }) =>
        [each[level].quantile(0.95), each[level].worst.level, each.overTime[level].quantile(0.95)].map(show),
      ),
    ]);
    return [table(head, cells, options, { grows: [0], right: true })];
  };
  return [
    table(["most at once", "p50", "p95", "p99", "worst"], rows, options, { grows: [0], right: true }),
    ...named("namespace", namespaces),
    ...named("node pool", pools),
  ].join("\n");
}

/** The levels that were above 0 in any future. */
export function usedLevels(peaks: UsageChances): LevelFormat[] {
  return LEVEL_FORMATS.filter(({ level }) => peaks[level].worst.level > 0);
}

const IN_TIME = "  95% of the time ";
const IN_TIME_SHORT = "95% time";

/** Refusals by quotas and nodes that are printed. */
export function listedRefusals({
  refusedByQuotas,
  refusedByNodes,
}: FuturesStatistics): (readonly [what: string, RefusalChance])[] {
  return [
    ...refusedByQuotas.map((chance) => {
      const { namespace, quota, resource } = chance;
      return [`quota ${namespace}/${quota}: ${resource}`, chance] as const;
    }),
    ...refusedByNodes.map((chance) => [`nodes: ${chance.reason}`, chance] as const),
  ];
}

function refusalsBlock(statistics: FuturesStatistics, options: FuturesTextOptions): string {
  const refused = listedRefusals(statistics);
  if (refused.length === 0) return "";
  const rows = refused.map(([what, { perFuture, worst }]) => [
    printable(what),
    shareText(perFuture),
    refusedText(worst),
  ]);
  return table(["had no room at first", "in a future", "worst"], rows, options, { grows: [0] });
}

/** `seed 7: 2 Jobs and 3 pods` */
export function refusedText({ seed, pods, jobs }: RefusalChance["worst"]): string {
  const refused = [
    ...(jobs === 0 ? [] : [`${jobs.toLocaleString("en-US")} ${jobs === 1 ? "Job" : "Jobs"}`]),
    ...(pods === 0 ? [] : [`${pods.toLocaleString("en-US")} ${pods === 1 ? "pod" : "pods"}`]),
  ];
  return `seed ${seed}: ${refused.join(" and ")}`;
}

/** Maximum number of rows; of a longer table the end is printed, which covers nearly all futures. */
const MAX_NODE_ROWS = 10;

/** `4 cores and 16Gi` */
export function nodeSizeText({ cpuMillis, memoryBytes }: NodeSize): string {
  return `${coresText(cpuMillis)} cores and ${memoryText(memoryBytes)}`;
}

function nodesBlock(
  nodeSize: NodeSize,
  { enough, futuresTooLarge, worst }: NodesChance,
  options: FuturesTextOptions,
): string {
  const size = nodeSizeText(nodeSize);
  const rows = enough
    .slice(-MAX_NODE_ROWS)
    .map(({ nodes, perFuture }) => [
      nodes.toLocaleString("en-US"),
      shareText(perFuture),
      nodes === worst.level ? `seed ${worst.seed} needs as many` : "",
    ]);
  const head = [`nodes of ${size}`, "enough in a future", ""];
  const tooLarge =
    futuresTooLarge === 0
      ? ""
      : `In ${futuresTooLarge.toLocaleString("en-US")} of the futures a pod requests more than a node of ${size} has.\n`;
  return `${rows.length === 0 ? "" : table(head, rows, options, { grows: [0] })}${tooLarge}`;
}

function withoutSpreadBlock(groups: readonly GroupChances[], { width }: FuturesTextOptions): string {
  return withoutSpreadText(groups)
    .map((text) => `${wrap(printable(text), width).join("\n")}\n`)
    .join("");
}

/** Returns a warning about workloads with a fixed duration, or nothing. */
export function withoutSpreadText(groups: readonly GroupChances[]): string[] {
  const names = groups
    .filter(({ runs, durations: { counts } }) => runs > 1 && counts.length === 1)
    .map(({ namespace, name }) => `${namespace}/${name}`);
  if (names.length === 0) return [];
  const which =
    names.length > MAX_NAMES
      ? `${names.slice(0, MAX_NAMES).join(", ")} and ${names.length - MAX_NAMES} more`
      : names.join(", ");
  return [
    `No spread: every run of ${which} takes as long as the others, in every future. Say how long they can take with --duration 'NAME=5m..40m' or --workloads FILE, which kubewright learn writes.`,
  ];
}

const MAX_NAMES = 5;
const GAP = "  ";
const SHORTEST = 12;

/** Formats a table. Columns have their minimum width; the columns in `grows` are shortened when a line is too long. */
function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { width, style }: FuturesTextOptions,
  { grows, right = false }: { readonly grows: readonly number[]; readonly right?: boolean },
): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  for (const column of [...grows].reverse()) {
    const over = widths.reduce((sum, each) => sum + each + GAP.length, -GAP.length) - width;
    if (over > 0) widths[column] = Math.max(Math.min(SHORTEST, widths[column]!), widths[column]! - over);
  }
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => {
        const fitting = cell.length <= widths[column]! ? cell : `${cell.slice(0, widths[column]! - 1)}…`;
        return right && column > 0 ? fitting.padStart(widths[column]!) : fitting.padEnd(widths[column]!);
      })
      .join(GAP)
      .trimEnd();
  return `${[style.bold(line(head)), ...rows.map(line)].join("\n")}\n`;
}

import type { FoundViolation, FuzzReport } from "@kubewright/simulation";

import { formatDuration } from "@kubewright/analysis/time";
import { type Style, printable } from "@kubewright/analysis/text";
import { planLines, violationLine } from "./plan-text.js";

export interface FuzzTextOptions {
  readonly style: Style;
  /** Returns the sentence of an invariant, by name. */
  readonly sentenceOf: (invariant: string) => string | undefined;
  /** Returns the command that runs a plan of this name again. */
  readonly replayCommand: (name: string) => string;
  readonly elapsedMs: number;
  /** Number of plans that this command ran. */
  readonly plansRun: number;
}

/** Formats the findings of a campaign. */
export function fuzzText(report: FuzzReport, options: FuzzTextOptions): string {
  const { style, elapsedMs, plansRun: plansRunNow } = options;
  const { figures, plansRun, covered, neverCovered, corpus, violations } = report;
  const perSecond = elapsedMs > 0 ? `, ${rate(plansRunNow / (elapsedMs / 1_000))} plans a second` : "";
  const lines = [
    ...violations.flatMap((found) => [...foundLines(found, options), ""]),
    `${number(plansRun)} plans in ${formatDuration(elapsedMs)}${perSecond}: ${formatDuration(figures.virtualMs)} of virtual time, ${number(figures.requests)} requests, ${number(figures.writes)} writes${figures.handovers === undefined ? "" : `, ${number(figures.handovers)} handovers of buckets`}`,
    `${number(Object.keys(covered).length)} decisions and answers reached, ${number(corpus.length)} plans kept that were the first to`,
    ...(neverCovered.length === 0 ? [] : [style.yellow(`never reached: ${neverCovered.map(printable).join("; ")}`)]),
    violations.length === 0 ? style.green("nothing went wrong") : style.red(foundCount(violations.length)),
  ];
  return `${lines.join("\n")}\n`;
}

/** `2 invariants did not hold` */
export function foundCount(count: number): string {
  return count === 1 ? "1 invariant did not hold" : `${number(count)} invariants did not hold`;
}

function foundLines(found: FoundViolation, { style, sentenceOf, replayCommand }: FuzzTextOptions): string[] {
  const { invariant, name, plans, others, minimized } = found;
  const sentence = sentenceOf(invariant);
  const { plan, violation } = minimized ?? found;
  const more =
    plans === 1 ? "" : ` and ${number(plans - 1)} more: ${others.slice(0, 5).join(", ")}${plans > 6 ? "…" : ""}`;
  const smaller =
    minimized === undefined
      ? []
      : [
          style.dim(
            `${number(found.plan.events?.length ?? 0)} events were ${number(plan.events?.length ?? 0)} when no more could be left out (${number(minimized.plansRun)} plays)${minimized.isMinimal ? "" : ", or the budget was used up"}`,
          ),
        ];
  return [
    `${style.red(style.bold(printable(invariant)))}  seed ${name}${more}`,
    ...(sentence === undefined ? [] : [style.dim(printable(sentence))]),
    `  ${violationLine(violation, plan, style)}`,
    ...[...planLines(plan), ...smaller].map((line) => `  ${line}`),
    `  ${style.cyan(`$ ${replayCommand(name)}`)}`,
  ];
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}

function rate(value: number): string {
  return value < 10 ? value.toFixed(1) : number(Math.round(value));
}

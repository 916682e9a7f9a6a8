import { formatTime } from "@kubewright/api";

import { sarif } from "../output-formats/sarif.js";
import type { Style } from "../text/style.js";
import { printable } from "../text/style.js";
import type { Finding } from "./lint-manifests.js";
import { LEVELS, type Level } from "./lint-rule.js";
import { helpOf, lintRules } from "./lint-rules.js";
import type { Subject } from "./subject.js";

export interface LintReport {
  readonly fromMs: number;
  readonly timeZoneData: string;
  readonly findings: readonly Finding[];
  readonly subjects: readonly Subject[];
}

/** Formats findings for a terminal: `jobs.yaml:6:13: warning: …`, each with its proof and documentation. */
export function lintText({ findings, subjects }: LintReport, style: Style): string {
  const colours: Readonly<Record<Level, (text: string) => string>> = {
    error: style.red,
    warning: style.yellow,
    note: style.cyan,
  };
  const blocks = findings.map(({ rule, level, text, object, place, proof }) => {
    const at = place === undefined ? "" : `${printable(placeText(place))}: `;
    const lines = [
      `${style.bold(at)}${colours[level](level)}: ${printable(`${object}: ${text}`)} ${style.dim(`[${rule.name}]`)}`,
      ...(proof === undefined ? [] : [`  shown by: ${printable(proof.command)}`]),
      style.dim(`  ${helpOf(rule)}`),
    ];
    return `${lines.join("\n")}\n`;
  });
  const checked = countsText([
    [subjects.filter(({ kind }) => kind === "CronJob").length, "CronJob"],
    [subjects.filter(({ kind }) => kind === "Job").length, "Job"],
  ]);
  return `${blocks.map((block) => `${block}\n`).join("")}${findings.length === 0 ? "nothing found" : levelsText(findings)} in ${checked}\n`;
}

/** `2 errors, 1 note` */
export function levelsText(findings: readonly Finding[]): string {
  return countsText(LEVELS.map((level) => [countOf(findings, level), level] as const));
}

function countsText(counts: readonly (readonly [number, string])[]): string {
  return counts
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count} ${name}${count === 1 ? "" : "s"}`)
    .join(", ");
}

function countOf(findings: readonly Finding[], level: Level): number {
  return findings.filter((finding) => finding.level === level).length;
}

function placeText({ file, line, column }: NonNullable<Finding["place"]>): string {
  return `${file}:${line}${column === undefined ? "" : `:${column}`}`;
}

/** Formats all findings as one object; `lint.schema.json` describes it. */
export function lintJson({ fromMs, timeZoneData, findings, subjects }: LintReport): string {
  const document = {
    lintVersion: 1,
    from: formatTime(fromMs),
    timeZoneData,
    checked: {
      cronJobs: subjects.filter(({ kind }) => kind === "CronJob").length,
      jobs: subjects.filter(({ kind }) => kind === "Job").length,
    },
    errors: countOf(findings, "error"),
    warnings: countOf(findings, "warning"),
    notes: countOf(findings, "note"),
    findings: findings.map(({ rule, level, text, object, place, proof }) => ({
      rule: rule.name,
      level,
      object,
      text,
      ...place,
      help: helpOf(rule),
      proof,
    })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Formats SARIF for code scanning. */
export function lintSarif({ findings }: LintReport): string {
  const rules = lintRules.map((rule) => ({ id: rule.name, text: rule.summary, help: helpOf(rule) }));
  return sarif(
    rules,
    findings.map(({ rule, level, text, object, place, proof }) => ({
      ruleId: rule.name,
      level,
      text: `${object}: ${text}${proof === undefined ? "" : `\nShown by: ${proof.command}`}`,
      object: object.replace(/^\S+ /, ""),
      ...(place === undefined ? {} : { place }),
    })),
  );
}

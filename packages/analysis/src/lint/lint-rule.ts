import type { YamlPath } from "@kubewright/apiserver/yaml";

import type { LintContext } from "./lint-context.js";
import type { Subject } from "./subject.js";

export const LEVELS = ["error", "warning", "note"] as const;

/** An error prevents the purpose of a CronJob or Job, a warning may prevent it, and a note is information. */
export type Level = (typeof LEVELS)[number];

/** A check of CronJobs and Jobs. */
export interface LintRule {
  readonly name: string;
  /** Level of its findings, unless a remark overrides it. */
  readonly level: Level;
  /** One sentence for a list of rules. */
  readonly summary: string;
  /** Whether a report has only its first finding in each file, which counts the others. Default false. */
  readonly oncePerFile?: true;
  /** Absent: the API server detects the mistake. */
  readonly check?: (subject: Subject, context: LintContext) => readonly LintRemark[];
}

/** A result of a rule. */
export interface LintRemark {
  /** A sentence, with a fix. */
  readonly text: string;
  /** The affected field. */
  readonly path: YamlPath;
  readonly level?: Level;
  readonly proof?: Proof;
}

/** A time window whose simulation shows the mistake. */
export interface Proof {
  readonly startMs: number;
  readonly durationMs: number;
  /** Additional arguments of `kubewright run`. Default: none. */
  readonly flags?: readonly string[];
  /** Text in the output of the run. */
  readonly shows: string;
}

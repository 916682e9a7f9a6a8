import type { YamlPath } from "@kubewright/apiserver/yaml";

import type { LintContext } from "./lint-context.js";
import type { Subject } from "./subject.js";

export const LEVELS = ["error", "warning", "note"] as const;

/** Errors keep a CronJob or Job from what it is for, warnings may, notes are to be known. */
export type Level = (typeof LEVELS)[number];

/** Something to be found about a CronJob or Job. */
export interface LintRule {
  readonly name: string;
  /** Of what it finds, unless a remark says otherwise. */
  readonly level: Level;
  /** What is wrong, for a list of rules. */
  readonly summary: string;
  /** Absent: the API server finds it. */
  readonly check?: (subject: Subject, context: LintContext) => readonly LintRemark[];
}

/** What a rule finds. */
export interface LintRemark {
  /** A sentence, with what to do. */
  readonly text: string;
  /** The field it is about. */
  readonly path: YamlPath;
  readonly level?: Level;
  readonly proof?: Proof;
}

/** A window to play that shows it. */
export interface Proof {
  readonly startMs: number;
  readonly durationMs: number;
  /** Further flags of `kubewright run`, words of a shell. Default: none. */
  readonly flags?: readonly string[];
  /** What the run prints of it. */
  readonly shows: string;
}

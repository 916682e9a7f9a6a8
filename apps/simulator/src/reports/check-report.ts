import type { Manifest } from "../input/manifest.js";
import type { Rule } from "../rules/rule.js";
import type { Violation } from "../rules/rule-counts.js";

/** A CronJob, or a Job of its own, that was played. */
export interface Subject {
  readonly kind: "CronJob" | "Job";
  readonly namespace: string;
  readonly name: string;
}

/** Something that is worth a look, though no rule is against it. */
export interface Highlight {
  /** `default/report` */
  readonly object: string;
  readonly text: string;
}

/** What a check of manifests came to: what JUnit and SARIF files tell. */
export interface CheckReport {
  /** What was played: `1d from 2026-01-01T00:00:00Z, seed 1`. */
  readonly title: string;
  readonly subjects: readonly Subject[];
  readonly rules: readonly Rule[];
  readonly violations: readonly Violation[];
  readonly highlights: readonly Highlight[];
  readonly manifests: readonly Manifest[];
}

/** Where something of an object is written. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column?: number;
}

/** Where the schedule of a CronJob stands, or the name of a Job. `undefined` for what comes from no file. */
export function placeOf(object: string, manifests: readonly Manifest[]): Place | undefined {
  const manifest = manifests.find(({ object: { kind, metadata } }) => {
    const isWorkload = kind === "CronJob" || kind === "Job";
    return isWorkload && `${metadata.namespace ?? "default"}/${metadata.name}` === object;
  });
  if (manifest === undefined) return undefined;
  return parsePlace(manifest.place(manifest.object.kind === "CronJob" ? ["spec", "schedule"] : ["metadata", "name"]));
}

/** Reads `jobs.yaml:6:13`; `undefined` for what names no line. */
export function parsePlace(text: string): Place | undefined {
  const match = /^(.*?):(\d+)(?::(\d+))?$/.exec(text);
  if (match === null) return undefined;
  const [, file = "", line, column] = match;
  return { file, line: Number(line), ...(column === undefined ? {} : { column: Number(column) }) };
}

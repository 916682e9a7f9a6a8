import type { Manifest } from "../input/manifest.js";
import type { Rule } from "../fail-on/rule.js";
import type { Violation } from "../fail-on/rule-counts.js";

/** A simulated CronJob, or a simulated Job without a CronJob. */
export interface Subject {
  readonly kind: "CronJob" | "Job";
  readonly namespace: string;
  readonly name: string;
}

/** A result that deserves attention although no rule forbids it. */
export interface Highlight {
  /** `default/report`, or with its kind `ResourceQuota default/compute` */
  readonly object: string;
  readonly text: string;
}

/** The results of a check of manifests, for JUnit and SARIF files. */
export interface CheckReport {
  /** The simulated window: `1d from 2026-01-01T00:00:00Z, seed 1`. */
  readonly title: string;
  readonly subjects: readonly Subject[];
  readonly rules: readonly Rule[];
  readonly violations: readonly Violation[];
  readonly highlights: readonly Highlight[];
  readonly manifests: readonly Manifest[];
}

/** A position in a file. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column?: number;
}

/**
 * Returns the position of a CronJob's schedule or another object's name, or `undefined` for an object that comes from no
 * file.
 */
export function placeOf(object: string, manifests: readonly Manifest[]): Place | undefined {
  const manifest = manifests.find(({ object: { kind, metadata } }) => {
    const isWorkload = kind === "CronJob" || kind === "Job";
    const name = `${metadata.namespace ?? "default"}/${metadata.name}`;
    return (isWorkload && name === object) || `${kind} ${name}` === object || `${kind} ${metadata.name}` === object;
  });
  if (manifest === undefined) return undefined;
  return parsePlace(manifest.place(manifest.object.kind === "CronJob" ? ["spec", "schedule"] : ["metadata", "name"]));
}

/** Parses `jobs.yaml:6:13`; `undefined` for a text without a line number. */
export function parsePlace(text: string): Place | undefined {
  const match = /^(.*?):(\d+)(?::(\d+))?$/.exec(text);
  if (match === null) return undefined;
  const [, file = "", line, column] = match;
  return { file, line: Number(line), ...(column === undefined ? {} : { column: Number(column) }) };
}

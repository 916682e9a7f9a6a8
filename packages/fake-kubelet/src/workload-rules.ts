import { type DurationRange, parseDurationRange } from "./duration.js";
import { type ExitCodes, parseExitCodes } from "./exit-codes.js";
import { type IndexRange, includesIndex, parseIndexes } from "./index-ranges.js";
import type { Workload } from "./workload.js";

/** What a container does differently when all conditions that are given hold. */
export interface WorkloadRule {
  readonly container?: string;
  /** Completion indexes. */
  readonly indexes?: readonly IndexRange[];
  /** How often the Job has tried, for that index if it is Indexed: 1 for its first pod, and one more for each further pod and each restart. */
  readonly attempts?: readonly IndexRange[];
  readonly duration?: DurationRange;
  readonly exitCode?: ExitCodes;
  /** Of the whole pod: does not go with `container`. */
  readonly startupDelay?: DurationRange;
  /** Of the whole pod: does not go with `container`, and a restart changes nothing about it. */
  readonly ignoreSigterm?: boolean;
}

export interface RuleSubject {
  /** Absent: the pod as a whole. */
  readonly container?: string;
  readonly index: number | undefined;
  readonly attempt: number;
}

/** The workload with the settings of all rules that apply, later ones before earlier ones. */
export function behaviourOf(workload: Workload, subject: RuleSubject): Workload {
  if (workload.rules === undefined) return workload;
  let behaviour = workload;
  for (const { container, indexes, attempts, ...settings } of workload.rules) {
    if (container !== undefined && container !== subject.container) continue;
    if (indexes !== undefined && (subject.index === undefined || !includesIndex(indexes, subject.index))) continue;
    if (attempts !== undefined && !includesIndex(attempts, subject.attempt)) continue;
    // A rule that says how runs exit leaves nothing of what was said before.
    const exits = settings.exitCode === undefined ? {} : { failureRate: 0, failingIndexes: [] };
    behaviour = { ...behaviour, ...exits, ...settings };
  }
  return behaviour;
}

const PARSERS: { readonly [Key in keyof WorkloadRule]-?: (value: unknown) => WorkloadRule[Key] | undefined } = {
  container: (value) => (typeof value === "string" ? value : undefined),
  indexes: ofText(parseIndexes),
  attempts: ofText(parseIndexes),
  duration: ofText(parseDurationRange),
  exitCode: ofText(parseExitCodes),
  startupDelay: ofText(parseDurationRange),
  ignoreSigterm: (value) => (typeof value === "boolean" ? value : undefined),
};

/** Reads rules from JSON, values written as in the other annotations. @returns `undefined` when anything in it cannot be read. */
export function parseRules(text: string): readonly WorkloadRule[] | undefined {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(list)) return undefined;
  const rules: WorkloadRule[] = [];
  for (const item of list as unknown[]) {
    if (typeof item !== "object" || item === null) return undefined;
    const rule: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(item)) {
      const parsed = Object.hasOwn(PARSERS, key) ? PARSERS[key as keyof WorkloadRule](value) : undefined;
      if (parsed === undefined) return undefined;
      rule[key] = parsed;
    }
    rules.push(rule);
  }
  return rules;
}

function ofText<T>(parse: (text: string) => T | undefined): (value: unknown) => T | undefined {
  return (value) => (typeof value === "string" ? parse(value.trim()) : undefined);
}

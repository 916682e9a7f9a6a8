import { type DurationRange, parseDurationRange } from "./duration.js";
import { type ExitCodes, parseExitCodes } from "./exit-codes.js";
import { type IndexRange, includesIndex, parseIndexes } from "./index-ranges.js";
import type { Workload } from "./workload.js";

/** Overrides the behaviour of a container when all given conditions match. */
export interface WorkloadRule {
  readonly container?: string;
  /** Completion indexes. */
  readonly indexes?: readonly IndexRange[];
  /**
   * Attempts of the Job, or of the index of an Indexed Job: 1 for its first pod, plus one for each further pod and each
   * restart.
   */
  readonly attempts?: readonly IndexRange[];
  readonly duration?: DurationRange;
  readonly exitCode?: ExitCodes;
  /** Applies to the whole pod: cannot be combined with `container`. */
  readonly startupDelay?: DurationRange;
  /** Applies to the whole pod: cannot be combined with `container`, and does not change with restarts. */
  readonly ignoreSigterm?: boolean;
}

export interface RuleSubject {
  /** Absent: the pod as a whole. */
  readonly container?: string;
  readonly index: number | undefined;
  readonly attempt: number;
}

/** Returns the workload with the settings of all matching rules. Later rules override earlier ones. */
export function behaviourOf(workload: Workload, subject: RuleSubject): Workload {
  if (workload.rules === undefined) return workload;
  let behaviour = workload;
  for (const { container, indexes, attempts, ...settings } of workload.rules) {
    if (container !== undefined && container !== subject.container) continue;
    if (indexes !== undefined && (subject.index === undefined || !includesIndex(indexes, subject.index))) continue;
    if (attempts !== undefined && !includesIndex(attempts, subject.attempt)) continue;
    // A rule with an exit code replaces all earlier failure settings.
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

/**
 * Reads rules from JSON, with values in the format of the other annotations. @returns `undefined` when any part is
 * invalid.
 */
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

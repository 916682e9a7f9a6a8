import { closest } from "@kubewright/simulation";

import { parseDuration } from "../time/duration.js";
import { INCIDENT_KINDS, type Incident } from "../futures/incident.js";
import { EVERYTHING, type Selection, parseSelection } from "../input/selection.js";
import { UserError } from "../errors/user-error.js";

/** A forbidden result of a simulation. */
export interface Rule {
  /** The original text. */
  readonly text: string;
  /** The objects that the rule checks. */
  readonly selection: Selection;
  /** The forbidden condition: an incident of a run, too many concurrent pods, or a difference from the compared run. */
  readonly condition: RunRule | PodsRule | ChangeRule;
  /** Permitted share of the futures, from 0 to 1. Absent: no future may violate the rule. */
  readonly maxShare?: number;
}

export interface RunRule {
  readonly type: "run";
  readonly incident: Incident;
}

export interface PodsRule {
  readonly type: "pods";
  readonly max: number;
}

export interface ChangeRule {
  readonly type: "change";
}

const NAMES = [...INCIDENT_KINDS, "peak-pods", "changed"] as const;
type RuleName = (typeof NAMES)[number];
const EXAMPLES = "skipped, billing/*:failed, late>10m, peak-pods>50 or, with --seeds, skipped>1%";

/**
 * Parses rules, each `[SELECTION:]NAME[>BOUND][>SHARE%]`. One text may have several rules, separated by commas.
 *
 * @param where - Source of the rules for error messages, for example `--fail-on`.
 * @throws UserError with one line for each invalid rule.
 */
export function parseRules(texts: readonly string[], where = "--fail-on"): Rule[] {
  const rules: Rule[] = [];
  const problems: string[] = [];
  for (const text of texts.flatMap((each) => each.split(",")).map((each) => each.trim())) {
    try {
      rules.push(parseRule(text));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problems.push(`${where}: ${JSON.stringify(text)} ${error.message}`);
    }
  }
  if (problems.length > 0) throw new UserError(problems.join("\n"));
  return rules;
}

function parseRule(text: string): Rule {
  const colon = text.lastIndexOf(":");
  const selection = colon < 0 ? EVERYTHING : parseSelection(text.slice(0, colon));
  if (selection === undefined)
    throw new UserError(
      `has no selection before the colon; write a name, or a namespace and a name: billing/*:skipped`,
    );
  const [name = "", ...bounds] = text.slice(colon + 1).split(">");
  if (!isName(name)) {
    const meant = closest(name, NAMES);
    throw new UserError(
      `is not a rule${meant === undefined ? "" : `; did you mean ${meant}?`}; write for example ${EXAMPLES}`,
    );
  }
  const share = bounds.at(-1)?.endsWith("%") ? parseShare(bounds.pop()!) : undefined;
  const condition = conditionOf(name, bounds);
  return { text, selection, condition, ...(share === undefined ? {} : { maxShare: share }) };
}

function isName(name: string): name is RuleName {
  return (NAMES as readonly string[]).includes(name);
}

function conditionOf(name: RuleName, bounds: readonly string[]): Rule["condition"] {
  const [bound, ...more] = bounds;
  if (more.length > 0) throw new UserError(`has more than one bound; write for example ${EXAMPLES}`);
  if (name === "peak-pods") {
    if (bound === undefined || !/^\d{1,9}$/.test(bound))
      throw new UserError("lacks its number of pods; write for example peak-pods>50");
    return { type: "pods", max: Number(bound) };
  }
  if (bound !== undefined && name !== "late")
    throw new UserError(`has a bound that ${name} does not take; it may be a share of futures, as in ${name}>1%`);
  if (name === "changed") return { type: "change" };
  const overMs = bound === undefined ? undefined : parseDuration(bound, `late>${bound}`);
  return { type: "run", incident: overMs === undefined ? { kind: name } : { kind: name, overMs } };
}

function parseShare(text: string): number {
  const share = /^\d+(?:\.\d+)?%$/.test(text) ? Number(text.slice(0, -1)) / 100 : Number.NaN;
  if (!(share < 1)) throw new UserError(`has ${JSON.stringify(text)} for a share of futures; write 0% to 99.9%`);
  return share;
}

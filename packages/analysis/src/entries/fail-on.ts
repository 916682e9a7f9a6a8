export { changeViolations } from "../fail-on/change-violations.js";
export { RuleCounts, violationText } from "../fail-on/rule-counts.js";
export { parseRules } from "../fail-on/rule.js";
export { RunRules, countsNeededFor, rejectShareRules, violationsOf } from "../fail-on/run-rules.js";

export type { Violation } from "../fail-on/rule-counts.js";
export type { Rule } from "../fail-on/rule.js";

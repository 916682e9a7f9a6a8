export { changeViolations } from "../fail-on/change-violations.js";
export { RuleCounts } from "../fail-on/rule-counts.js";
export { parseRules } from "../fail-on/rule.js";
export { RunRules, countsNeededFor, rejectShareRules, throwViolations, violationsOf } from "../fail-on/run-rules.js";

export type { Rule } from "../fail-on/rule.js";

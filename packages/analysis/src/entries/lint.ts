export { DisabledRules, checkRuleNames } from "../lint/disabled-rules.js";
export { lintManifests } from "../lint/lint-manifests.js";
export { levelsText, lintJson, lintSarif, lintText } from "../lint/lint-reports.js";

export type { LintReport } from "../lint/lint-reports.js";

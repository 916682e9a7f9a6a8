export { DisabledRules, checkRuleNames } from "../lint/disabled-rules.js";
export { lintManifests } from "../lint/lint-manifests.js";
export { LEVELS } from "../lint/lint-rule.js";
export { levelsText, lintJson, lintSarif, lintText } from "../lint/lint-reports.js";
export { oncePerFile } from "../lint/once-per-file.js";

export type { LintReport } from "../lint/lint-reports.js";
export type { Level } from "../lint/lint-rule.js";

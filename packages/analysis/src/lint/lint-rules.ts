import { REPOSITORY_URL } from "../output-formats/sarif.js";
import type { LintRule } from "./lint-rule.js";
import { backoffBeyondDeadline } from "./rules/backoff.js";
import { doubledAtClockChange, lostAtClockChange } from "./rules/clock-changes.js";
import { forbidSkips, overlappingRuns, replaceNeverFinishes, shortDeadline } from "./rules/concurrency.js";
import { neverFires, neverStarts, rarelyFires } from "./rules/firing.js";
import { hiddenFailures, ttlBeforeHistory } from "./rules/history.js";
import { overQuota } from "./rules/quotas.js";
import { longName, refused, removedVersion, restartPolicy, unknownField } from "./rules/refusals.js";
import { noTimeZone, zoneInSchedule } from "./rules/time-zones.js";

/** All rules. docs/lint.md has a section for each. */
export const lintRules: readonly LintRule[] = [
  neverFires,
  rarelyFires,
  neverStarts,
  lostAtClockChange,
  doubledAtClockChange,
  noTimeZone,
  zoneInSchedule,
  shortDeadline,
  forbidSkips,
  overlappingRuns,
  replaceNeverFinishes,
  hiddenFailures,
  ttlBeforeHistory,
  backoffBeyondDeadline,
  overQuota,
  restartPolicy,
  longName,
  unknownField,
  removedVersion,
  refused,
];

/** Returns the URL of a rule's documentation. */
export function helpOf({ name }: Pick<LintRule, "name">): string {
  return `${REPOSITORY_URL}/blob/main/docs/lint.md#${name}`;
}

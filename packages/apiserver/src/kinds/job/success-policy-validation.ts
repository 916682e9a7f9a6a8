import type { JobSpec } from "@kubewright/api";
import { byteLength } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { validateNonNegative } from "../../validation/rules.js";
import { parseIndexList } from "./index-list.js";

const MAX_RULES = 20;
const MAX_INDEXES_BYTES = 64 * 1024;

/** Validates the success policy of an Indexed Job. Upstream: `validateSuccessPolicy`. */
export function validateSuccessPolicy(
  policy: NonNullable<JobSpec["successPolicy"]>,
  completions: number | undefined,
  path: string,
  errors: FieldErrors,
): void {
  const rules = policy.rules ?? [];
  const field = `${path}.rules`;
  if (rules.length === 0) {
    errors.required(field, "at least one rules must be specified when the successPolicy is specified");
  }
  if (rules.length > MAX_RULES) errors.tooMany(field, rules.length, MAX_RULES);
  // Missing completions are reported separately. Without them there is no upper bound.
  const limit = completions ?? Number.POSITIVE_INFINITY;
  for (const [index, { succeededCount, succeededIndexes }] of rules.entries()) {
    const at = `${field}[${index}]`;
    if (succeededCount === undefined && succeededIndexes === undefined) {
      errors.required(at, "at least one of succeededCount or succeededIndexes must be specified");
    }
    let listed = 0;
    if (succeededIndexes !== undefined) {
      if (byteLength(succeededIndexes) > MAX_INDEXES_BYTES) errors.tooLong(`${at}.succeededIndexes`, MAX_INDEXES_BYTES);
      const list = parseIndexList(succeededIndexes, limit);
      if ("count" in list) listed = list.count;
      else errors.invalid(`${at}.succeededIndexes`, succeededIndexes, `error parsing succeededIndexes: ${list.error}`);
    }
    if (succeededCount === undefined) continue;
    validateNonNegative(succeededCount, `${at}.succeededCount`, errors);
    if (succeededCount > limit) {
      const detail = `must be less than or equal to ${limit} (the number of specified completions)`;
      errors.invalid(`${at}.succeededCount`, succeededCount, detail);
    }
    if (succeededIndexes !== undefined && succeededCount > listed) {
      const detail = `must be less than or equal to ${listed} (the number of indexes in the specified succeededIndexes field)`;
      errors.invalid(`${at}.succeededCount`, succeededCount, detail);
    }
  }
}

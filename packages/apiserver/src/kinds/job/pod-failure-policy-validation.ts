import type { JobSpec, PodFailurePolicy } from "@kubewright/api";
import { qualifiedNameErrors } from "@kubewright/api/validation";

import { type FieldErrors, omittedValue } from "../../field-errors.js";
import { addInvalid, validateUnique } from "../../validation/rules.js";

type Rule = PodFailurePolicy["rules"][number];

const MAX_RULES = 20;
const MAX_POD_CONDITION_PATTERNS = 20;
const MAX_EXIT_CODES = 255;
const ACTIONS = ["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS = ["In", "NotIn"];
const CONDITION_STATUSES = ["False", "True", "Unknown"];

/** Upstream: `validatePodFailurePolicy`. */
export function validatePodFailurePolicy(
  policy: PodFailurePolicy,
  spec: JobSpec,
  path: string,
  errors: FieldErrors,
): void {
  const rules = policy.rules ?? [];
  if (rules.length > MAX_RULES) errors.tooMany(`${path}.rules`, rules.length, MAX_RULES);
  const { containers, initContainers } = spec.template?.spec ?? {};
  const containerNames = new Set([...(containers ?? []), ...(initContainers ?? [])].map(({ name }) => name));
  for (const [index, rule] of rules.entries()) {
    const at = `${path}.rules[${index}]`;
    if (rule.action === "FailIndex" && spec.backoffLimitPerIndex === undefined) {
      errors.invalid(`${at}.action`, rule.action, "requires the backoffLimitPerIndex to be set");
    } else validateChoice(rule.action, ACTIONS, `${at}.action`, errors);
    if (rule.onExitCodes) validateOnExitCodes(rule.onExitCodes, containerNames, `${at}.onExitCodes`, errors);
    const patterns = rule.onPodConditions ?? [];
    validateOnPodConditions(patterns, `${at}.onPodConditions`, errors);
    if (rule.onExitCodes && patterns.length > 0) {
      errors.invalid(at, omittedValue, "specifying both OnExitCodes and OnPodConditions is not supported");
    } else if (!rule.onExitCodes && patterns.length === 0) {
      errors.invalid(at, omittedValue, "specifying one of OnExitCodes and OnPodConditions is required");
    }
  }
}

function validateOnExitCodes(
  { operator, containerName, values }: NonNullable<Rule["onExitCodes"]>,
  containerNames: ReadonlySet<string>,
  path: string,
  errors: FieldErrors,
): void {
  validateChoice(operator, OPERATORS, `${path}.operator`, errors);
  if (containerName !== undefined && !containerNames.has(containerName)) {
    const detail = "must be one of the container or initContainer names in the pod template";
    errors.invalid(`${path}.containerName`, containerName, detail);
  }
  const field = `${path}.values`;
  const count = values?.length ?? 0;
  if (count === 0) errors.invalid(field, values, "at least one value is required");
  else if (count > MAX_EXIT_CODES) errors.tooMany(field, count, MAX_EXIT_CODES);
  const seen = new Set<number>();
  let ordered = true;
  for (const [index, value] of (values ?? []).entries()) {
    if (operator === "In" && value === 0)
      errors.invalid(`${field}[${index}]`, value, "must not be 0 for the In operator");
    validateUnique(value, seen, `${field}[${index}]`, errors);
    if (index > 0 && values[index - 1]! > value) ordered = false;
  }
  if (!ordered) errors.invalid(field, values, "must be ordered");
}

function validateOnPodConditions(
  patterns: NonNullable<Rule["onPodConditions"]>,
  path: string,
  errors: FieldErrors,
): void {
  if (patterns.length > MAX_POD_CONDITION_PATTERNS) errors.tooMany(path, patterns.length, MAX_POD_CONDITION_PATTERNS);
  for (const [index, { type, status }] of patterns.entries()) {
    addInvalid(errors, `${path}[${index}].type`, type, qualifiedNameErrors(type));
    validateChoice(status, CONDITION_STATUSES, `${path}[${index}].status`, errors);
  }
}

function validateChoice(
  value: string | undefined,
  choices: readonly string[],
  field: string,
  errors: FieldErrors,
): void {
  if (!value) errors.required(field, `valid values: [${choices.map((choice) => JSON.stringify(choice)).join(" ")}]`);
  else if (!choices.includes(value)) errors.notSupported(field, value, choices);
}

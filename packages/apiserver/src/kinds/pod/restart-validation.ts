import type { Container } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { validateChoice, validateSupported, validateUnique } from "../../validation/rules.js";

type ResizePolicy = NonNullable<Container["resizePolicy"]>;

const RESTART_POLICIES = ["Always", "Never", "OnFailure"];
const ACTIONS = ["Restart", "RestartAllContainers"];
const OPERATORS = ["In", "NotIn"];
const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;
const RESIZED_RESOURCES = ["cpu", "memory"];
const RESIZE_RESTART_POLICIES = ["NotRequired", "RestartContainer"];

/**
 * Validates the container's restart policy and rules, which override the pod's. Upstream:
 * `validateContainerRestartPolicy`.
 */
export function validateRestartRules(
  { restartPolicy, restartPolicyRules: rules = [] }: Container,
  path: string,
  errors: FieldErrors,
): void {
  if (restartPolicy === undefined) {
    if (rules.length > 0)
      errors.required(`${path}.restartPolicy`, "must specify restartPolicy when restart rules are used");
    return;
  }
  validateSupported(restartPolicy, RESTART_POLICIES, `${path}.restartPolicy`, errors);
  if (rules.length > MAX_RULES) errors.tooMany(`${path}.restartPolicyRules`, rules.length, MAX_RULES);
  for (const [index, { action, exitCodes }] of rules.entries()) {
    const at = `${path}.restartPolicyRules[${index}]`;
    // A client may omit the fields, although their types are required: `validateSupported` permits an absent value.
    if (!ACTIONS.includes(action)) errors.notSupported(`${at}.action`, action, ACTIONS);
    if (exitCodes === undefined) {
      errors.required(`${at}.exitCodes`, "must be specified");
      continue;
    }
    const { operator, values = [] } = exitCodes;
    if (!OPERATORS.includes(operator)) errors.notSupported(`${at}.exitCodes.operator`, operator, OPERATORS);
    if (values.length > MAX_EXIT_CODES) errors.tooMany(`${at}.exitCodes.values`, values.length, MAX_EXIT_CODES);
  }
}

/**
 * Validates what an in-place resize requires. Only errors about duplicates have an index. Upstream:
 * `validateResizePolicy`.
 */
export function validateResizePolicy(
  policies: ResizePolicy,
  podRestartPolicy: string | undefined,
  path: string,
  errors: FieldErrors,
): void {
  const seen = new Set<string>();
  for (const [index, { resourceName, restartPolicy }] of policies.entries()) {
    validateUnique(resourceName, seen, `${path}[${index}]`, errors);
    validateChoice(resourceName, RESIZED_RESOURCES, path, errors);
    validateChoice(restartPolicy, RESIZE_RESTART_POLICIES, path, errors);
    if (podRestartPolicy === "Never" && restartPolicy !== "NotRequired")
      errors.invalid(path, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
  }
}

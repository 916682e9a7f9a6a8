import { byteLength, labelKeyErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../field-errors.js";
import { addInvalid } from "./rules.js";

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string | null;
  readonly observedGeneration?: number;
}

const STATUSES = ["False", "True", "Unknown"];
const MAX_REASON_BYTES = 1024;
const MAX_MESSAGE_BYTES = 32 * 1024;
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_MESSAGE =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

/** Validates conditions of the type metav1.Condition. Upstream: apimachinery `ValidateConditions` of metav1. */
export function validateConditions(conditions: readonly Condition[], field: string, errors: FieldErrors): void {
  const types = new Set<string>();
  for (const [index, condition] of conditions.entries()) {
    const { type = "", status = "", reason = "", message = "", lastTransitionTime, observedGeneration = 0 } = condition;
    const at = `${field}[${index}]`;
    if (types.has(type)) errors.duplicate(`${at}.type`, type);
    types.add(type);
    addInvalid(errors, `${at}.type`, type, labelKeyErrors(type));
    if (!STATUSES.includes(status)) errors.notSupported(`${at}.status`, status, STATUSES);
    if (observedGeneration < 0)
      errors.invalid(`${at}.observedGeneration`, observedGeneration, "must be greater than or equal to zero");
    if (!lastTransitionTime) errors.required(`${at}.lastTransitionTime`);
    if (reason === "") errors.required(`${at}.reason`);
    else {
      if (!REASON.test(reason)) errors.invalid(`${at}.reason`, reason, REASON_MESSAGE);
      if (byteLength(reason) > MAX_REASON_BYTES) errors.tooLong(`${at}.reason`, MAX_REASON_BYTES);
    }
    if (byteLength(message) > MAX_MESSAGE_BYTES) errors.tooLong(`${at}.message`, MAX_MESSAGE_BYTES);
  }
}

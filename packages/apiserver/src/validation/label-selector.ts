import type { LabelSelector } from "@kubewright/api";
import { labelKeyErrors, labelValueErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../field-errors.js";
import { validateLabels } from "../metadata-validation.js";
import { addInvalid } from "./rules.js";

/** Upstream: apimachinery `ValidateLabelSelector`. */
export function validateLabelSelector(selector: LabelSelector | undefined, field: string, errors: FieldErrors): void {
  if (selector === undefined) return;
  validateLabels(selector.matchLabels ?? {}, `${field}.matchLabels`, errors);
  for (const [index, { key, operator, values = [] }] of (selector.matchExpressions ?? []).entries()) {
    const path = `${field}.matchExpressions[${index}]`;
    switch (operator) {
      case "In":
      case "NotIn":
        if (values.length === 0)
          errors.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
        break;
      case "Exists":
      case "DoesNotExist":
        if (values.length > 0) {
          errors.forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
        }
        break;
      default:
        errors.invalid(`${path}.operator`, operator, "not a valid selector operator");
    }
    addInvalid(errors, `${path}.key`, key, labelKeyErrors(key));
    for (const [at, value] of values.entries())
      addInvalid(errors, `${path}.values[${at}]`, value, labelValueErrors(value));
  }
}

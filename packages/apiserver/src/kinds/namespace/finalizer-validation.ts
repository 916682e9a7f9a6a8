import { qualifiedNameErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { addInvalid } from "../../validation/rules.js";

/** The standard finalizer of namespaces. */
export const FINALIZER = "kubernetes";

/** Validates an item of `spec.finalizers`. Upstream: `ValidateFinalizerName` of `pkg/apis/core/validation`. */
export function validateFinalizer(finalizer: string, field: string, errors: FieldErrors): void {
  addInvalid(errors, field, finalizer, qualifiedNameErrors(finalizer));
  if (!finalizer.includes("/") && finalizer !== FINALIZER)
    errors.invalid(field, finalizer, "name is neither a standard finalizer name nor is it fully qualified");
}

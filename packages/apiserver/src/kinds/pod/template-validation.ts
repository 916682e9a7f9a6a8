import type { PodTemplateSpec } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { validateAnnotations, validateLabels } from "../../metadata-validation.js";
import { validatePodSpec } from "./spec-validation.js";

/** Upstream: `ValidatePodTemplateSpec`. As there, errors of labels and annotations have no `metadata` in their path. */
export function validatePodTemplate(template: PodTemplateSpec | undefined, path: string, errors: FieldErrors): void {
  validateLabels(template?.metadata?.labels ?? {}, `${path}.labels`, errors);
  validateAnnotations(template?.metadata?.annotations ?? {}, `${path}.annotations`, errors);
  validatePodSpec(template?.spec ?? { containers: [] }, `${path}.spec`, errors);
  if ((template?.spec?.ephemeralContainers?.length ?? 0) > 0) {
    errors.forbidden(`${path}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template");
  }
}

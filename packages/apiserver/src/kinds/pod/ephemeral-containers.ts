import type { Pod } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { validateUnique } from "../../validation/rules.js";
import { jsonEqual } from "../../json.js";
import type { UpdateStrategy } from "../../strategy.js";
import { validateContainer } from "./container-validation.js";
import { createContainerContext } from "./container-context.js";
import { restoreStoredPod } from "./restore-stored-pod.js";

/** The forbidden fields, in the order of the Go struct. */
const FORBIDDEN_FIELDS = [
  "ports",
  "resources",
  "resizePolicy",
  "restartPolicy",
  "restartPolicyRules",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
] as const;
const NOT_HERE = "cannot be set for an Ephemeral Container";

/** Adds containers to an existing pod, as `kubectl debug` does. Upstream: `podEphemeralContainersStrategy`. */
export const ephemeralContainersStrategy: UpdateStrategy<Pod> = {
  resets: "status",
  prepareForUpdate(pod, stored) {
    const wanted = pod.spec?.ephemeralContainers;
    restoreStoredPod(pod, stored);
    if (pod.spec === undefined || jsonEqual(wanted, pod.spec.ephemeralContainers)) return;
    pod.spec = { ...pod.spec };
    if (wanted === undefined) delete pod.spec.ephemeralContainers;
    else pod.spec.ephemeralContainers = wanted;
  },
  validateUpdate(pod, stored, errors) {
    if (pod.spec === stored.spec) return;
    validateEphemeralContainers(pod, errors);
    validateUnchanged(pod, stored, errors);
  },
  bumpsGeneration: (pod, stored) => !jsonEqual(pod.spec, stored.spec),
};

/** Upstream: `validateEphemeralContainers`. */
function validateEphemeralContainers({ spec }: Pod, errors: FieldErrors): void {
  const volumes = new Map((spec?.volumes ?? []).map((volume) => [volume.name, volume]));
  const containerContext = createContainerContext(spec ?? { containers: [] }, volumes);
  const targets = new Set((spec?.containers ?? []).map(({ name }) => name));
  for (const { name } of spec?.initContainers ?? []) targets.add(name);
  const names = new Set(targets);
  for (const [index, container] of (spec?.ephemeralContainers ?? []).entries()) {
    const at = `spec.ephemeralContainers[${index}]`;
    validateContainer(container, containerContext, at, errors);
    validateUnique(container.name, names, `${at}.name`, errors);
    const target = container.targetContainerName;
    if (target && !targets.has(target)) errors.notFound(`${at}.targetContainerName`, target);
    for (const field of FORBIDDEN_FIELDS) if (!isEmpty(container[field])) errors.forbidden(`${at}.${field}`, NOT_HERE);
    for (const [mount, { subPath, subPathExpr }] of (container.volumeMounts ?? []).entries()) {
      if (subPath) errors.forbidden(`${at}.volumeMounts[${mount}].subPath`, NOT_HERE);
      if (subPathExpr) errors.forbidden(`${at}.volumeMounts[${mount}].subPathExpr`, NOT_HERE);
    }
  }
}

/** Validates that existing ephemeral containers do not change. Upstream: `ValidatePodEphemeralContainersUpdate`. */
function validateUnchanged({ spec }: Pod, stored: Pod, errors: FieldErrors): void {
  const wanted = new Map((spec?.ephemeralContainers ?? []).map((container) => [container.name, container]));
  for (const container of stored.spec?.ephemeralContainers ?? []) {
    const next = wanted.get(container.name);
    if (jsonEqual(next, container)) continue;
    const subject = `existing ephemeral containers ${JSON.stringify(container.name)} may not be`;
    const difference = `\n- ${JSON.stringify(container)}\n+ ${JSON.stringify(next)}`;
    errors.forbidden(
      "spec.ephemeralContainers",
      next === undefined ? `${subject} removed` : `${subject} changed${difference}`,
    );
  }
}

/** Whether the value is absent or an object without members, as an empty Go struct. */
function isEmpty(value: unknown): boolean {
  return value === undefined || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
}

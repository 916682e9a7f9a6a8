import { mutableCopy, type Pod, type PodSpec } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { jsonEqual, sortedJson } from "../../json.js";
import { internalForm } from "../internal-form.js";
import { memberDifference } from "../member-difference.js";
import { hasPodAnnotations, validateAnnotationsOfPod, validateAnnotationsUpdate } from "./annotation-validation.js";
import { validateImages } from "./container-validation.js";
import { validatePodSpec } from "./spec-validation.js";

type Toleration = NonNullable<PodSpec["tolerations"]>[number];

const MAX_INT32 = 2147483647;
const NO_OTHER_FIELDS =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
const emptySpec: PodSpec = { containers: [] };

/** Upstream: `ValidatePodCreate`. */
export function validatePod(pod: Pod, errors: FieldErrors): void {
  const { spec = emptySpec } = pod;
  validateAnnotationsOfPod(pod.metadata.annotations, spec, errors);
  validateSpecOfPod(pod, spec, errors);
  if ((spec.ephemeralContainers?.length ?? 0) > 0)
    errors.forbidden("spec.ephemeralContainers", "cannot be set on create");
  if (spec.nodeName && (spec.schedulingGates?.length ?? 0) > 0) {
    errors.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared");
  }
}

function validateSpecOfPod({ metadata }: Pod, spec: PodSpec, errors: FieldErrors): void {
  validatePodSpec(spec, "spec", errors, metadata.name ?? "");
  if (!spec.serviceAccountName) validateNoTokens(spec, errors);
  validateImages(spec.containers ?? [], "spec.containers", errors);
  validateImages(spec.initContainers ?? [], "spec.initContainers", errors);
}

/** Validates that only pods with a service account project tokens. */
function validateNoTokens({ volumes = [] }: PodSpec, errors: FieldErrors): void {
  for (const [index, { projected }] of volumes.entries()) {
    for (const [place, { serviceAccountToken }] of (projected?.sources ?? []).entries()) {
      if (serviceAccountToken === undefined) continue;
      const field = `spec.volumes[${index}].projected.sources[${place}].serviceAccountToken`;
      errors.forbidden(field, "must not be specified when serviceAccountName is not set");
    }
  }
}

/** Upstream: `ValidatePodUpdate`. */
export function validatePodUpdate(pod: Pod, storedPod: Pod, errors: FieldErrors): void {
  const { spec = emptySpec, metadata } = pod;
  const { spec: stored = emptySpec } = storedPod;
  const { annotations } = metadata;
  const { annotations: before } = storedPod.metadata;
  if (annotations !== before && (hasPodAnnotations(annotations) || hasPodAnnotations(before))) {
    validateAnnotationsUpdate(annotations, before, errors);
    validateAnnotationsOfPod(annotations, spec, errors);
  }
  // An unchanged spec was validated when it was stored.
  if (spec === stored) return;
  validateSpecOfPod(pod, spec, errors);
  for (const field of ["containers", "initContainers"] as const) {
    const containers = spec[field] ?? [];
    if (containers.length !== (stored[field] ?? []).length) {
      errors.forbidden(`spec.${field}`, "pod updates may not add or remove containers");
      return;
    }
    for (const [index, { image }] of containers.entries()) if (!image) errors.required(`spec.${field}[${index}].image`);
  }
  if (!validateDeadlineUpdate(spec, stored, errors)) return;
  validateTolerationsUpdate(spec.tolerations ?? [], stored.tolerations ?? [], errors);
  validateGatesUpdate(spec, stored, errors);
  const allowed = withMutableFields(stored, spec);
  if ((stored.schedulingGates?.length ?? 0) > 0) allowNarrowing(allowed, spec, stored, errors);
  if (!jsonEqual(spec, allowed)) errors.forbidden("spec", `${NO_OTHER_FIELDS}\n${memberDifference(spec, allowed)}`);
}

/** Validates the deadline. Returns whether the remaining rules should be checked. */
function validateDeadlineUpdate(spec: PodSpec, stored: PodSpec, errors: FieldErrors): boolean {
  const field = "spec.activeDeadlineSeconds";
  const value = spec.activeDeadlineSeconds;
  const before = stored.activeDeadlineSeconds;
  if (value === undefined) {
    if (before !== undefined) errors.invalid(field, value, "must not update from a positive integer to nil value");
    return before === undefined;
  }
  if (value < 0 || value > MAX_INT32) {
    errors.invalid(field, value, `must be between 0 and ${MAX_INT32}, inclusive`);
    return false;
  }
  if (before !== undefined && before < value) {
    errors.invalid(field, value, "must be less than or equal to previous value");
    return false;
  }
  return true;
}

/** Upstream: `validateOnlyAddedTolerations`. */
function validateTolerationsUpdate(
  tolerations: readonly Toleration[],
  stored: readonly Toleration[],
  errors: FieldErrors,
): void {
  const withoutSeconds = ({ tolerationSeconds: _seconds, ...toleration }: Toleration): unknown => toleration;
  if (includesAll(tolerations.map(withoutSeconds), stored.map(withoutSeconds))) return;
  errors.forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds");
}

/** Upstream: `validateOnlyDeletedSchedulingGates`. */
function validateGatesUpdate(spec: PodSpec, stored: PodSpec, errors: FieldErrors): void {
  const before = new Set((stored.schedulingGates ?? []).map(({ name }) => name));
  for (const [index, { name }] of (spec.schedulingGates ?? []).entries()) {
    if (before.has(name)) continue;
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`;
    errors.forbidden(`spec.schedulingGates[${index}].name`, detail);
  }
}

/** Returns the stored spec with the fields of the new spec that have their own update rules. */
function withMutableFields(stored: PodSpec, spec: PodSpec): PodSpec {
  const result: PodSpec = mutableCopy(stored);
  for (const field of ["containers", "initContainers"] as const) {
    for (const [index, container] of (result[field] ?? []).entries()) {
      const image = spec[field]?.[index]?.image;
      if (image !== undefined) container.image = image;
    }
  }
  copyField(result, spec, "activeDeadlineSeconds");
  copyField(result, spec, "tolerations");
  copyField(result, spec, "schedulingGates");
  if ((stored.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1) {
    result.terminationGracePeriodSeconds = 1;
  }
  return result;
}

/** Permits a gated pod to narrow its node selector and node affinity. */
function allowNarrowing(allowed: PodSpec, spec: PodSpec, stored: PodSpec, errors: FieldErrors): void {
  const selector = spec.nodeSelector ?? {};
  const removed = Object.entries(stored.nodeSelector ?? {}).some(([key, value]) => selector[key] !== value);
  if (removed) {
    errors.invalid(
      "spec.nodeSelector",
      spec.nodeSelector ?? {},
      "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
    );
  }
  copyField(allowed, spec, "nodeSelector");
  const affinity = spec.affinity?.nodeAffinity;
  const before = stored.affinity?.nodeAffinity;
  if (jsonEqual(affinity, before)) return;
  const field = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution";
  const terms = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const termsBefore = before?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const narrows =
    termsBefore.length === 0 ||
    (terms.length === termsBefore.length &&
      termsBefore.every(({ matchExpressions, matchFields }, index) => {
        const term = terms[index]!;
        return includesAll(term.matchExpressions, matchExpressions) && includesAll(term.matchFields, matchFields);
      }));
  if (!narrows)
    errors.invalid(field, internalForm("", terms), "only additions are allowed (no mutations or deletions)");
  allowed.affinity ??= {};
  if (affinity === undefined) delete allowed.affinity.nodeAffinity;
  else allowed.affinity.nodeAffinity = affinity;
  if (spec.affinity === undefined && Object.keys(allowed.affinity).length === 0) delete allowed.affinity;
}

function includesAll(list: readonly unknown[] = [], part: readonly unknown[] = []): boolean {
  const values = new Set(list.map(sortedJson));
  return part.every((item) => values.has(sortedJson(item)));
}

function copyField<T extends object, K extends keyof T>(target: T, source: T, key: K): void {
  if (source[key] === undefined) delete target[key];
  else target[key] = source[key];
}

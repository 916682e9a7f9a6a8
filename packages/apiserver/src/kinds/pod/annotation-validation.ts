import type { PodSpec } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { validateLocalPath } from "./local-path.js";
import { visitContainers } from "./visit-containers.js";

type Annotations = Readonly<Record<string, string>> | undefined;

const MIRROR = "kubernetes.io/config.mirror";
const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";
const SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP_PROFILES = ["runtime/default", "docker/default", "unconfined"];
const APP_ARMOR_PROFILES = ["", "runtime/default", "unconfined"];
const LOCALHOST = "localhost/";
const INTEGER = /^(?:0|-?[1-9]\d*|-0\d*)$/;

/** Whether any annotation has a meaning for pods. A fast check, because most annotations have none. */
export function hasPodAnnotations(annotations: Annotations): boolean {
  for (const key in annotations) {
    if (key === MIRROR || key === DELETION_COST || key === SECCOMP_POD) return true;
    if (key.startsWith(SECCOMP_CONTAINER) || key.startsWith(APP_ARMOR)) return true;
  }
  return false;
}

/** Validates the annotations that have a meaning for pods. Upstream: `ValidatePodSpecificAnnotations`. */
export function validateAnnotationsOfPod(annotations: Annotations, spec: PodSpec, errors: FieldErrors): void {
  if (annotations === undefined || !hasPodAnnotations(annotations)) return;
  const field = (key: string): string => `metadata.annotations[${key}]`;
  const mirror = annotations[MIRROR];
  if (mirror !== undefined && !spec.nodeName)
    errors.invalid(field(MIRROR), mirror, "must set spec.nodeName if mirror pod annotation is set");
  const cost = annotations[DELETION_COST];
  if (cost !== undefined && !isInt32(cost)) errors.invalid(field(DELETION_COST), cost, "must be a 32bit integer");
  for (const key in annotations) {
    if (key === SECCOMP_POD || key.startsWith(SECCOMP_CONTAINER))
      validateSeccomp(annotations[key]!, `metadata.annotations.${key}`, errors);
  }
  for (const key in annotations) {
    if (key.startsWith(APP_ARMOR))
      validateAppArmor(key.slice(APP_ARMOR.length), annotations[key]!, spec, field(key), errors);
  }
}

/**
 * Validates that annotations that decide how the pod runs do not change. Upstream:
 * `ValidatePodSpecificAnnotationUpdates`.
 */
export function validateAnnotationsUpdate(
  annotations: Annotations = {},
  stored: Annotations = {},
  errors: FieldErrors,
): void {
  for (const key in stored) {
    if (annotations[key] === stored[key]) continue;
    if (key.startsWith(APP_ARMOR))
      errors.forbidden(`metadata.annotations[${key}]`, "may not remove or update AppArmor annotations");
    if (key === MIRROR)
      errors.forbidden(`metadata.annotations[${key}]`, "may not remove or update mirror pod annotation");
  }
  for (const key in annotations) {
    if (stored[key] !== undefined) continue;
    if (key.startsWith(APP_ARMOR)) errors.forbidden(`metadata.annotations[${key}]`, "may not add AppArmor annotations");
    if (key === MIRROR) errors.forbidden(`metadata.annotations[${key}]`, "may not add mirror pod annotation");
  }
}

function validateSeccomp(profile: string, field: string, errors: FieldErrors): void {
  if (SECCOMP_PROFILES.includes(profile)) return;
  if (profile.startsWith(LOCALHOST)) validateLocalPath(profile.slice(LOCALHOST.length), field, errors);
  else errors.invalid(field, profile, "must be a valid seccomp profile");
}

function validateAppArmor(container: string, profile: string, spec: PodSpec, field: string, errors: FieldErrors): void {
  let exists = false;
  visitContainers(spec, "", ({ name }) => {
    exists ||= name === container;
  });
  if (!exists) errors.invalid(field, container, "container not found");
  if (!APP_ARMOR_PROFILES.includes(profile) && !profile.startsWith(LOCALHOST))
    errors.invalid(field, profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`);
}

/** Whether the text is an int32 without plus sign and leading zeros. Upstream: `GetDeletionCostFromPodAnnotations`. */
function isInt32(text: string): boolean {
  return INTEGER.test(text) && Number(text) >= -(2 ** 31) && Number(text) < 2 ** 31;
}

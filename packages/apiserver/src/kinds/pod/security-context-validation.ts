import type { Container, PodSpec } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { internalForm } from "../internal-form.js";

type PodSecurityContext = NonNullable<PodSpec["securityContext"]>;
type SecurityContext = NonNullable<Container["securityContext"]>;

const MAX_ID = 2147483647;
const SYSCTL_FORMAT = "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
const SYSCTL = new RegExp(SYSCTL_FORMAT);
const SECCOMP_TYPES = ["Localhost", "RuntimeDefault", "Unconfined"];

/** Upstream: `validatePodSpecSecurityContext`. */
export function validatePodSecurityContext(
  context: PodSecurityContext | undefined,
  path: string,
  errors: FieldErrors,
): void {
  if (context === undefined) return;
  validateId(context.fsGroup, `${path}.fsGroup`, errors);
  validateId(context.runAsUser, `${path}.runAsUser`, errors);
  validateId(context.runAsGroup, `${path}.runAsGroup`, errors);
  for (const [index, group] of (context.supplementalGroups ?? []).entries()) {
    validateId(group, `${path}.supplementalGroups[${index}]`, errors);
  }
  const seen = new Set<string>();
  for (const [index, { name }] of (context.sysctls ?? []).entries()) {
    const field = `${path}.sysctls[${index}].name`;
    if (name === "") errors.required(field);
    else if (name.length > 253 || !SYSCTL.test(name)) {
      errors.invalid(field, name, `must have at most 253 characters and match regex ${SYSCTL_FORMAT}`);
    } else if (seen.has(name)) errors.duplicate(field, name);
    seen.add(name);
  }
  validateSeccompProfile(context.seccompProfile, `${path}.seccompProfile`, errors);
}

/** Upstream: `ValidateSecurityContext`. */
export function validateSecurityContext(context: SecurityContext | undefined, path: string, errors: FieldErrors): void {
  if (context === undefined) return;
  validateId(context.runAsUser, `${path}.runAsUser`, errors);
  validateId(context.runAsGroup, `${path}.runAsGroup`, errors);
  validateSeccompProfile(context.seccompProfile, `${path}.seccompProfile`, errors);
  if (context.allowPrivilegeEscalation !== false) return;
  const shown = internalForm("SecurityContext", context);
  if (context.privileged) {
    errors.invalid(path, shown, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  }
  if (context.capabilities?.add?.includes("CAP_SYS_ADMIN")) {
    errors.invalid(path, shown, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
  }
}

function validateSeccompProfile(
  profile: PodSecurityContext["seccompProfile"],
  path: string,
  errors: FieldErrors,
): void {
  if (profile === undefined) return;
  if (!profile.type) errors.required(`${path}.type`, "type is required when seccompProfile is set");
  else if (!SECCOMP_TYPES.includes(profile.type)) errors.notSupported(`${path}.type`, profile.type, SECCOMP_TYPES);
  else if (profile.type === "Localhost" && profile.localhostProfile === undefined) {
    errors.required(`${path}.localhostProfile`, "must be set when seccomp type is Localhost ");
  } else if (profile.type !== "Localhost" && profile.localhostProfile !== undefined) {
    errors.invalid(
      `${path}.localhostProfile`,
      profile.localhostProfile,
      "can only be set when seccomp type is Localhost",
    );
  }
}

function validateId(id: number | undefined, field: string, errors: FieldErrors): void {
  if (id !== undefined && (id < 0 || id > MAX_ID))
    errors.invalid(field, id, `must be between 0 and ${MAX_ID}, inclusive`);
}

import type { Container, PodSpec } from "@kubewright/api";
import { byteLength } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { validateSupported } from "../../validation/rules.js";
import { internalForm } from "../internal-form.js";
import { validateLocalPath } from "./local-path.js";
import { validateWindowsOptions } from "./windows-options-validation.js";

type PodSecurityContext = NonNullable<PodSpec["securityContext"]>;
type SecurityContext = NonNullable<Container["securityContext"]>;

const MAX_ID = 2147483647;
const SYSCTL_FORMAT = "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
const SYSCTL = new RegExp(SYSCTL_FORMAT);
/** Kernel parameters that are separate in each network or IPC namespace. Upstream: `sysctl.GetNamespace`. */
const NET_SYSCTL = /^net\./;
const IPC_SYSCTL = /^(?:kernel\.(?:shm|msg|sem)|fs\.mqueue\.)/;
const PROFILE_TYPES = ["Localhost", "RuntimeDefault", "Unconfined"];
const PROC_MOUNTS = ["Default", "Unmasked"];
const FS_GROUP_CHANGES = ["Always", "OnRootMismatch"];
const GROUPS_POLICIES = ["Merge", "Strict"];
const SE_LINUX_CHANGES = ["MountOption", "Recursive"];
const MAX_PROFILE = 4095;

/** Upstream: `validatePodSpecSecurityContext`. */
export function validatePodSecurityContext(spec: PodSpec, path: string, errors: FieldErrors): void {
  const context = spec.securityContext;
  if (context === undefined) return;
  validateId(context.fsGroup, `${path}.fsGroup`, errors);
  validateId(context.runAsUser, `${path}.runAsUser`, errors);
  validateId(context.runAsGroup, `${path}.runAsGroup`, errors);
  for (const [index, group] of (context.supplementalGroups ?? []).entries()) {
    validateId(group, `${path}.supplementalGroups[${index}]`, errors);
  }
  if (spec.shareProcessNamespace && spec.hostPID) {
    const detail = "ShareProcessNamespace and HostPID cannot both be enabled";
    errors.invalid(`${path}.shareProcessNamespace`, true, detail);
  }
  validateSysctls(context.sysctls ?? [], spec, `${path}.sysctls`, errors);
  validateOption(context, "fsGroupChangePolicy", FS_GROUP_CHANGES, path, errors);
  validateSeccompProfile(context.seccompProfile, `${path}.seccompProfile`, errors);
  validateWindowsOptions(context.windowsOptions, `${path}.windowsOptions`, errors);
  validateAppArmorProfile(context.appArmorProfile, `${path}.appArmorProfile`, errors);
  validateOption(context, "supplementalGroupsPolicy", GROUPS_POLICIES, path, errors);
  validateOption(context, "seLinuxChangePolicy", SE_LINUX_CHANGES, path, errors);
}

/**
 * Validates the security context of a container.
 *
 * @param hostUsers - Whether the pod uses the host's user namespace. Default true.
 * @see kubernetes `ValidateSecurityContext` of `pkg/apis/core/validation`
 */
export function validateSecurityContext(
  context: SecurityContext | undefined,
  hostUsers: boolean | undefined,
  path: string,
  errors: FieldErrors,
): void {
  if (context === undefined) return;
  if (context.privileged && !errors.allowsPrivileged)
    errors.forbidden(`${path}.privileged`, "disallowed by cluster policy");
  validateId(context.runAsUser, `${path}.runAsUser`, errors);
  validateId(context.runAsGroup, `${path}.runAsGroup`, errors);
  if (context.procMount !== undefined) {
    validateSupported(context.procMount, PROC_MOUNTS, `${path}.procMount`, errors);
    if (context.procMount === "Unmasked" && hostUsers !== false)
      errors.invalid(`${path}.procMount`, context.procMount, "`hostUsers` must be false to use `Unmasked`");
  }
  validateSeccompProfile(context.seccompProfile, `${path}.seccompProfile`, errors);
  if (context.allowPrivilegeEscalation === false) validateNoEscalation(context, path, errors);
  validateWindowsOptions(context.windowsOptions, `${path}.windowsOptions`, errors);
  validateAppArmorProfile(context.appArmorProfile, `${path}.appArmorProfile`, errors);
}

function validateNoEscalation(context: SecurityContext, path: string, errors: FieldErrors): void {
  const shown = internalForm("SecurityContext", context);
  if (context.privileged) {
    errors.invalid(path, shown, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  }
  if (context.capabilities?.add?.includes("CAP_SYS_ADMIN")) {
    errors.invalid(path, shown, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
  }
}

function validateSysctls(
  sysctls: NonNullable<PodSecurityContext["sysctls"]>,
  { hostNetwork, hostIPC }: PodSpec,
  path: string,
  errors: FieldErrors,
): void {
  const seen = new Set<string>();
  for (const [index, { name }] of sysctls.entries()) {
    const field = `${path}[${index}].name`;
    if (!name) errors.required(field);
    else if (name.length > 253 || !SYSCTL.test(name)) {
      errors.invalid(field, name, `must have at most 253 characters and match regex ${SYSCTL_FORMAT}`);
    } else if (seen.has(name)) errors.duplicate(field, name);
    // The kernel accepts both `/` and `.` as separators.
    const dotted = (name ?? "").replaceAll("/", ".");
    if (hostNetwork && NET_SYSCTL.test(dotted))
      errors.invalid(field, name, "may not be specified when 'hostNetwork' is true");
    else if (hostIPC && IPC_SYSCTL.test(dotted))
      errors.invalid(field, name, "may not be specified when 'hostIPC' is true");
    seen.add(name);
  }
}

/** Upstream: `validateSeccompProfileField`. */
function validateSeccompProfile(
  profile: PodSecurityContext["seccompProfile"],
  path: string,
  errors: FieldErrors,
): void {
  if (profile === undefined) return;
  const { type, localhostProfile } = profile;
  const field = `${path}.localhostProfile`;
  validateProfileType(type, "seccompProfile", path, errors);
  if (type !== "Localhost") {
    if (localhostProfile !== undefined)
      errors.invalid(field, internalForm("SeccompProfile", profile), "can only be set when seccomp type is Localhost");
  } else if (localhostProfile === undefined) errors.required(field, "must be set when seccomp type is Localhost");
  else validateLocalPath(localhostProfile, field, errors);
}

/** Upstream: `ValidateAppArmorProfileField`. */
function validateAppArmorProfile(
  profile: PodSecurityContext["appArmorProfile"],
  path: string,
  errors: FieldErrors,
): void {
  if (profile === undefined) return;
  const { type, localhostProfile } = profile;
  const field = `${path}.localhostProfile`;
  validateProfileType(type, "appArmorProfile", path, errors);
  if (type === "RuntimeDefault" || type === "Unconfined") {
    if (localhostProfile !== undefined)
      errors.invalid(field, localhostProfile, "can only be set when AppArmor type is Localhost");
  } else if (type === "Localhost") {
    if (!localhostProfile) errors.required(field, "must be set when AppArmor type is Localhost");
    else if (localhostProfile !== localhostProfile.trim())
      errors.invalid(field, localhostProfile, "must not be padded with whitespace");
    if (byteLength(localhostProfile ?? "") > MAX_PROFILE) errors.tooLong(field, MAX_PROFILE);
  }
}

function validateProfileType(type: string | undefined, member: string, path: string, errors: FieldErrors): void {
  if (!type) errors.required(`${path}.type`, `type is required when ${member} is set`);
  else validateSupported(type, PROFILE_TYPES, `${path}.type`, errors);
}

function validateOption(
  context: PodSecurityContext,
  member: "fsGroupChangePolicy" | "supplementalGroupsPolicy" | "seLinuxChangePolicy",
  supported: readonly string[],
  path: string,
  errors: FieldErrors,
): void {
  const value = context[member];
  validateSupported(value, supported, `${path}.${member}`, errors);
}

function validateId(id: number | undefined, field: string, errors: FieldErrors): void {
  if (id !== undefined && (id < 0 || id > MAX_ID))
    errors.invalid(field, id, `must be between 0 and ${MAX_ID}, inclusive`);
}

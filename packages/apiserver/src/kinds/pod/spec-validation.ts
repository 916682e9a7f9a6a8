import type { PodSpec } from "@kubewright/api";
import { dnsLabelErrors, dnsSubdomainErrors, ipAddressErrors, qualifiedNameErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { validateLabels } from "../../metadata-validation.js";
import { addInvalid, validateChoice, validateUnique } from "../../validation/rules.js";
import { internalForm } from "../internal-form.js";
import { validateContainers, validateInitContainers } from "./container-validation.js";
import { validateDnsConfig } from "./dns-validation.js";
import { validateOperatingSystem } from "./operating-system-validation.js";
import { validateOverhead, validatePodResources } from "./resource-validation.js";
import { validatePodSecurityContext } from "./security-context-validation.js";
import { validateAffinity, validateTolerations, validateTopologySpreadConstraints } from "./scheduling-validation.js";
import { createContainerContext } from "./container-context.js";
import { validateVolumes } from "./volume-validation.js";
import { validateHostProcess } from "./windows-options-validation.js";

const MAX_INT32 = 2147483647;
const MAX_HOSTNAME = 64;
const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const PREEMPTION_POLICIES = ["PreemptLowerPriority", "Never"];

/**
 * Validates the spec of a pod or pod template. Skips a spec that is shared with a template that was already found
 * valid.
 *
 * @param podName - `undefined` for a template, which may omit what only pods need.
 * @see kubernetes `ValidatePodSpec` of `pkg/apis/core/validation`
 */
export function validatePodSpec(spec: PodSpec, path: string, errors: FieldErrors, podName?: string): void {
  if (errors.isValidated(spec)) return;
  const volumes = validateVolumes(spec.volumes ?? [], podName, `${path}.volumes`, errors);
  const containerContext = createContainerContext(spec, volumes);
  if (spec.resourceClaims !== undefined) validateClaims(spec.resourceClaims, `${path}.resourceClaims`, errors);
  validateContainers(containerContext, `${path}.containers`, errors);
  validateInitContainers(containerContext, `${path}.initContainers`, errors);
  validatePodResources(spec, containerContext.claims, `${path}.resources`, errors);
  if (spec.hostNetwork) validateHostPorts(spec, podName !== undefined, path, errors);
  validateChoice(spec.restartPolicy, RESTART_POLICIES, `${path}.restartPolicy`, errors);
  validateChoice(spec.dnsPolicy, DNS_POLICIES, `${path}.dnsPolicy`, errors);
  if (spec.nodeSelector !== undefined) validateLabels(spec.nodeSelector, `${path}.nodeSelector`, errors);
  validatePodSecurityContext(spec, `${path}.securityContext`, errors);
  if (spec.affinity !== undefined) validateAffinity(spec.affinity, `${path}.affinity`, errors);
  validateDnsConfig(spec, `${path}.dnsConfig`, errors);
  for (const [index, { conditionType }] of (spec.readinessGates ?? []).entries()) {
    addInvalid(
      errors,
      `${path}.readinessGates[${index}].conditionType`,
      conditionType,
      qualifiedNameErrors(conditionType),
    );
  }
  validateSchedulingGates(spec, `${path}.schedulingGates`, errors);
  if (spec.topologySpreadConstraints !== undefined)
    validateTopologySpreadConstraints(spec.topologySpreadConstraints, `${path}.topologySpreadConstraints`, errors);
  validateHostProcess(spec, path, errors);
  if (spec.hostUsers === false) validateUserNamespace(spec, path, errors);
  validateName(spec, "serviceAccountName", dnsSubdomainErrors, path, errors);
  validateName(spec, "nodeName", dnsSubdomainErrors, path, errors);
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > MAX_INT32)) {
    errors.invalid(`${path}.activeDeadlineSeconds`, deadline, `must be between 1 and ${MAX_INT32}, inclusive`);
  }
  validateName(spec, "hostname", dnsLabelErrors, path, errors);
  validateName(spec, "subdomain", dnsLabelErrors, path, errors);
  if (spec.hostnameOverride !== undefined) validateHostnameOverride(spec, `${path}.hostnameOverride`, errors);
  if (spec.tolerations !== undefined) validateTolerations(spec.tolerations, `${path}.tolerations`, errors);
  for (const [index, { ip = "", hostnames }] of (spec.hostAliases ?? []).entries()) {
    addInvalid(errors, `${path}.hostAliases[${index}].ip`, ip, ipAddressErrors(ip));
    for (const [place, hostname] of (hostnames ?? []).entries())
      addInvalid(errors, `${path}.hostAliases[${index}].hostnames[${place}]`, hostname, dnsSubdomainErrors(hostname));
  }
  validateName(spec, "priorityClassName", dnsSubdomainErrors, path, errors);
  const { runtimeClassName } = spec;
  if (runtimeClassName !== undefined)
    addInvalid(errors, `${path}.runtimeClassName`, runtimeClassName, dnsSubdomainErrors(runtimeClassName));
  if (spec.preemptionPolicy)
    validateChoice(spec.preemptionPolicy, PREEMPTION_POLICIES, `${path}.preemptionPolicy`, errors);
  if (spec.overhead !== undefined) validateOverhead(spec.overhead, `${path}.overhead`, errors);
  validateOperatingSystem(spec, path, errors);
}

/**
 * Validates that host ports equal container ports on the host network. In a template, the host port may be absent,
 * because pods get it as a default.
 */
function validateHostPorts({ containers }: PodSpec, isPod: boolean, path: string, errors: FieldErrors): void {
  for (const [index, { ports }] of (containers ?? []).entries()) {
    for (const [at, { hostPort = 0, containerPort }] of (ports ?? []).entries()) {
      if (hostPort === containerPort || (hostPort === 0 && !isPod)) continue;
      const detail = "must match `containerPort` when `hostNetwork` is true";
      errors.invalid(`${path}.containers[${index}].ports[${at}].hostPort`, hostPort, detail);
    }
  }
}

/** Validates claims for devices. Upstream: `validatePodResourceClaim`. */
function validateClaims(claims: NonNullable<PodSpec["resourceClaims"]>, path: string, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [index, claim] of claims.entries()) {
    const { name, resourceClaimName, resourceClaimTemplateName } = claim;
    const at = `${path}[${index}]`;
    if (!name) errors.required(`${at}.name`);
    else if (names.has(name)) errors.duplicate(`${at}.name`, name);
    else {
      addInvalid(errors, `${at}.name`, name, dnsLabelErrors(name));
      names.add(name);
    }
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
      const detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
      errors.invalid(at, internalForm("PodResourceClaim", claim), detail);
    }
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
      const detail = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
      errors.invalid(at, internalForm("PodResourceClaim", claim), detail);
    }
    for (const [member, value] of Object.entries({ resourceClaimName, resourceClaimTemplateName }))
      if (value !== undefined) addInvalid(errors, `${at}.${member}`, value, dnsSubdomainErrors(value));
  }
}

/**
 * Validates that a pod with a separate user namespace uses no other namespace of the host. Upstream:
 * `validateHostUsers`.
 */
function validateUserNamespace({ hostNetwork, hostPID, hostIPC }: PodSpec, path: string, errors: FieldErrors): void {
  for (const [field, isShared] of Object.entries({ hostNetwork, HostPID: hostPID, HostIPC: hostIPC }))
    if (isShared) errors.forbidden(`${path}.${field}`, "when `hostUsers` is false");
}

function validateHostnameOverride(
  { hostnameOverride = "", hostNetwork, setHostnameAsFQDN }: PodSpec,
  field: string,
  errors: FieldErrors,
): void {
  if (hostNetwork) errors.forbidden(field, "may not be specified when hostNetwork is true");
  if (setHostnameAsFQDN) errors.forbidden(field, "may not be specified when setHostnameAsFQDN is true");
  if (hostnameOverride.length > MAX_HOSTNAME) errors.tooLong(field, MAX_HOSTNAME);
  addInvalid(errors, field, hostnameOverride, dnsSubdomainErrors(hostnameOverride));
}

function validateSchedulingGates({ schedulingGates }: PodSpec, field: string, errors: FieldErrors): void {
  if (schedulingGates === undefined) return;
  const seen = new Set<string>();
  for (const [index, { name }] of schedulingGates.entries()) {
    addInvalid(errors, `${field}[${index}]`, name, qualifiedNameErrors(name));
    validateUnique(name, seen, `${field}[${index}]`, errors);
  }
}

type NameField = "serviceAccountName" | "nodeName" | "hostname" | "subdomain" | "priorityClassName";

function validateName(
  spec: PodSpec,
  field: NameField,
  format: (name: string) => readonly string[],
  path: string,
  errors: FieldErrors,
): void {
  const name = spec[field];
  if (name) addInvalid(errors, `${path}.${field}`, name, format(name));
}

import type { PodSpec } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { validateLabels } from "../../metadata-validation.js";
import { dnsLabelErrors, dnsSubdomainErrors, qualifiedNameErrors } from "../../names.js";
import { ipAddressErrors } from "../../validation/formats.js";
import { addInvalid } from "../../validation/rules.js";
import { validateContainers, validateInitContainers } from "./container-validation.js";
import { validatePodSecurityContext } from "./security-context-validation.js";
import { validateAffinity, validateTolerations, validateTopologySpreadConstraints } from "./scheduling-validation.js";
import { validateVolumes } from "./volume-validation.js";

const MAX_INT32 = 2147483647;
const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const OPERATING_SYSTEMS = ["linux", "windows"];
const PREEMPTION_POLICIES = ["PreemptLowerPriority", "Never"];

/** Of pods and of pod templates: a pod's may be a template's that was found good before. Upstream: `ValidatePodSpec`. */
export function validatePodSpec(spec: PodSpec, path: string, errors: FieldErrors): void {
  if (errors.isSettled(spec)) return;
  const volumes = validateVolumes(spec.volumes ?? [], `${path}.volumes`, errors);
  validateContainers(spec, volumes, `${path}.containers`, errors);
  validateInitContainers(spec, volumes, `${path}.initContainers`, errors);
  if (spec.hostNetwork) validateHostPorts(spec, path, errors);
  validateChoice(spec, "restartPolicy", RESTART_POLICIES, path, errors);
  validateChoice(spec, "dnsPolicy", DNS_POLICIES, path, errors);
  if (spec.nodeSelector !== undefined) validateLabels(spec.nodeSelector, `${path}.nodeSelector`, errors);
  validatePodSecurityContext(spec.securityContext, `${path}.securityContext`, errors);
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
  validateName(spec, "serviceAccountName", dnsSubdomainErrors, path, errors);
  validateName(spec, "nodeName", dnsSubdomainErrors, path, errors);
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > MAX_INT32)) {
    errors.invalid(`${path}.activeDeadlineSeconds`, deadline, `must be between 1 and ${MAX_INT32}, inclusive`);
  }
  validateName(spec, "hostname", dnsLabelErrors, path, errors);
  validateName(spec, "subdomain", dnsLabelErrors, path, errors);
  if (spec.tolerations !== undefined) validateTolerations(spec.tolerations, `${path}.tolerations`, errors);
  for (const [index, { ip, hostnames }] of (spec.hostAliases ?? []).entries()) {
    addInvalid(errors, `${path}.hostAliases[${index}].ip`, ip, ipAddressErrors(ip));
    for (const hostname of hostnames ?? []) {
      addInvalid(errors, `${path}.hostAliases[${index}].hostnames`, hostname, dnsSubdomainErrors(hostname));
    }
  }
  validateName(spec, "priorityClassName", dnsSubdomainErrors, path, errors);
  validateName(spec, "runtimeClassName", dnsSubdomainErrors, path, errors);
  if (spec.preemptionPolicy) validateChoice(spec, "preemptionPolicy", PREEMPTION_POLICIES, path, errors);
  if (spec.os !== undefined) {
    if (!spec.os.name) errors.required(`${path}.os.name`);
    else if (!OPERATING_SYSTEMS.includes(spec.os.name))
      errors.notSupported(`${path}.os`, spec.os.name, OPERATING_SYSTEMS);
  }
}

function validateHostPorts(spec: PodSpec, path: string, errors: FieldErrors): void {
  for (const field of ["containers", "initContainers"] as const) {
    for (const [index, { ports }] of (spec[field] ?? []).entries()) {
      for (const [at, { hostPort, containerPort }] of (ports ?? []).entries()) {
        if (hostPort === containerPort) continue;
        const detail = "must match `containerPort` when `hostNetwork` is true";
        errors.invalid(`${path}.${field}[${index}].ports[${at}].hostPort`, hostPort ?? 0, detail);
      }
    }
  }
}

function validateDnsConfig({ dnsPolicy, dnsConfig }: PodSpec, field: string, errors: FieldErrors): void {
  if (dnsPolicy === "None") {
    if (dnsConfig === undefined) {
      errors.required(field, "must provide `dnsConfig` when `dnsPolicy` is None");
      return;
    }
    if ((dnsConfig.nameservers?.length ?? 0) === 0) {
      errors.required(`${field}.nameservers`, "must provide at least one DNS nameserver when `dnsPolicy` is None");
      return;
    }
  }
  for (const [index, address] of (dnsConfig?.nameservers ?? []).entries()) {
    addInvalid(errors, `${field}.nameservers[${index}]`, address, ipAddressErrors(address));
  }
}

function validateSchedulingGates({ schedulingGates }: PodSpec, field: string, errors: FieldErrors): void {
  if (schedulingGates === undefined) return;
  const seen = new Set<string>();
  for (const [index, { name }] of schedulingGates.entries()) {
    addInvalid(errors, `${field}[${index}]`, name, qualifiedNameErrors(name));
    if (seen.has(name)) errors.duplicate(`${field}[${index}]`, name);
    seen.add(name);
  }
}

type NameField =
  "serviceAccountName" | "nodeName" | "hostname" | "subdomain" | "priorityClassName" | "runtimeClassName";

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

function validateChoice(
  spec: PodSpec,
  field: "restartPolicy" | "dnsPolicy" | "preemptionPolicy",
  choices: readonly string[],
  path: string,
  errors: FieldErrors,
): void {
  const value = spec[field];
  if (!value) errors.required(`${path}.${field}`);
  else if (!choices.includes(value)) errors.notSupported(`${path}.${field}`, value, choices);
}

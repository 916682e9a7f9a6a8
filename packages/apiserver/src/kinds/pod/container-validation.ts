import type { Container } from "@kubewright/api";
import { dnsLabelErrors, portNameErrors, portNumberErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { addInvalid, validateChoice, validateRequired, validateUnique } from "../../validation/rules.js";
import { validateEnvironment } from "./environment-validation.js";
import { validateVolumeDevices, validateVolumeMounts } from "./mount-validation.js";
import { validateLifecycle, validateProbes } from "./probe-validation.js";
import { validateContainerResources } from "./resource-validation.js";
import { validateResizePolicy, validateRestartRules } from "./restart-validation.js";
import { validateSecurityContext } from "./security-context-validation.js";
import type { ContainerContext } from "./container-context.js";
import { PULL_POLICIES } from "./volume-sources.js";

const TERMINATION_MESSAGE_POLICIES = ["File", "FallbackToLogsOnError"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];

/** Upstream: `validateContainers`. */
export function validateContainers(containerContext: ContainerContext, path: string, errors: FieldErrors): void {
  const { spec } = containerContext;
  const containers = spec.containers ?? [];
  if (containers.length === 0) {
    errors.required(path);
    return;
  }
  const names = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const at = `${path}[${index}]`;
    validateContainer(container, containerContext, at, errors);
    validateUnique(container.name, names, `${at}.name`, errors);
    validateLifecycle(container.lifecycle, spec.terminationGracePeriodSeconds, `${at}.lifecycle`, errors);
    validateProbes(container, at, errors);
    validateRestartRules(container, at, errors);
  }
  if (!containers.some(({ ports }) => ports !== undefined)) return;
  const used = new Set<string>();
  for (const [index, { ports }] of containers.entries())
    validateHostPortsUnused(ports, used, `${path}[${index}].ports`, errors);
}

/**
 * Validates init containers. They run one after the other, so several may use the same host port. Upstream:
 * `validateInitContainers`.
 */
export function validateInitContainers(containerContext: ContainerContext, path: string, errors: FieldErrors): void {
  const { spec } = containerContext;
  if (spec.initContainers === undefined) return;
  const names = new Set((spec.containers ?? []).map(({ name }) => name));
  for (const [index, container] of spec.initContainers.entries()) {
    const at = `${path}[${index}]`;
    validateContainer(container, containerContext, at, errors);
    validateRestartRules(container, at, errors);
    if (names.has(container.name)) errors.duplicate(`${at}.name`, container.name);
    else if (container.name) names.add(container.name);
    // Upstream validates each init container as a list of one, so the index is always 0.
    validateHostPortsUnused(container.ports, new Set(), `${path}[0].ports`, errors);
    if (container.restartPolicy === "Always") {
      validateLifecycle(container.lifecycle, spec.terminationGracePeriodSeconds, `${at}.lifecycle`, errors);
      validateProbes(container, at, errors);
      continue;
    }
    for (const field of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] as const) {
      if (container[field] !== undefined) {
        errors.forbidden(`${at}.${field}`, "may not be set for init containers without restartPolicy=Always");
      }
    }
  }
}

/** Validates image names. Pod templates are exempt. Upstream: `validateContainersOnlyForPod`. */
export function validateImages(containers: readonly Container[], path: string, errors: FieldErrors): void {
  for (const [index, { image = "" }] of containers.entries()) {
    if (image !== image.trim())
      errors.invalid(`${path}[${index}].image`, image, "must not have leading or trailing whitespace");
  }
}

/** Validates a container of any list. Upstream: `validateContainerCommon`. */
export function validateContainer(
  container: Container,
  containerContext: ContainerContext,
  path: string,
  errors: FieldErrors,
): void {
  const { spec, volumes, claims } = containerContext;
  validateRequired(container.name, dnsLabelErrors, `${path}.name`, errors);
  if (!container.image) errors.required(`${path}.image`);
  validateChoice(
    container.terminationMessagePolicy,
    TERMINATION_MESSAGE_POLICIES,
    `${path}.terminationMessagePolicy`,
    errors,
  );
  if (container.ports !== undefined) validatePorts(container.ports, `${path}.ports`, errors);
  validateEnvironment(container, volumes, path, errors);
  if (container.volumeMounts !== undefined) validateVolumeMounts(container, volumes, `${path}.volumeMounts`, errors);
  if (container.volumeDevices !== undefined) validateVolumeDevices(container, volumes, `${path}.volumeDevices`, errors);
  validateChoice(container.imagePullPolicy, PULL_POLICIES, `${path}.imagePullPolicy`, errors);
  validateContainerResources(container.resources, claims, `${path}.resources`, errors);
  if (container.resizePolicy !== undefined)
    validateResizePolicy(container.resizePolicy, spec.restartPolicy, `${path}.resizePolicy`, errors);
  validateSecurityContext(container.securityContext, spec.hostUsers, `${path}.securityContext`, errors);
}

function validatePorts(ports: NonNullable<Container["ports"]>, path: string, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [index, { name, containerPort, hostPort, protocol }] of ports.entries()) {
    const at = `${path}[${index}]`;
    if (name) {
      const sentences = portNameErrors(name);
      addInvalid(errors, `${at}.name`, name, sentences);
      if (sentences.length === 0 && names.has(name)) errors.duplicate(`${at}.name`, name);
      names.add(name);
    }
    validateRequired(containerPort, portNumberErrors, `${at}.containerPort`, errors);
    if (hostPort) addInvalid(errors, `${at}.hostPort`, hostPort, portNumberErrors(hostPort));
    validateChoice(protocol, PROTOCOLS, `${at}.protocol`, errors);
  }
}

/** Upstream: `checkHostPortConflicts`. */
function validateHostPortsUnused(
  ports: Container["ports"],
  used: Set<string>,
  path: string,
  errors: FieldErrors,
): void {
  for (const [index, { hostPort, hostIP = "", protocol }] of (ports ?? []).entries()) {
    if (!hostPort) continue;
    const key = `${protocol}/${hostIP}/${hostPort}`;
    validateUnique(key, used, `${path}[${index}].hostPort`, errors);
  }
}

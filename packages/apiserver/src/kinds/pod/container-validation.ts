import type { Container, PodSpec } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { dnsLabelErrors } from "../../names.js";
import { portNameErrors, portNumberErrors } from "../../validation/formats.js";
import { addInvalid } from "../../validation/rules.js";
import { validateEnvironment } from "./environment-validation.js";
import { validateLifecycle, validateProbes } from "./probe-validation.js";
import { validateResources } from "./resource-validation.js";
import { validateSecurityContext } from "./security-context-validation.js";
import { validateLocalPath } from "./volume-validation.js";

const TERMINATION_MESSAGE_POLICIES = ["File", "FallbackToLogsOnError"];
const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const RESTART_POLICIES = ["Always", "Never", "OnFailure"];

/** Upstream: `validateContainers`. */
export function validateContainers(
  spec: PodSpec,
  volumes: ReadonlySet<string>,
  path: string,
  errors: FieldErrors,
): void {
  const containers = spec.containers ?? [];
  if (containers.length === 0) {
    errors.required(path);
    return;
  }
  const names = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const at = `${path}[${index}]`;
    validateContainer(container, volumes, at, errors);
    if (names.has(container.name)) errors.duplicate(`${at}.name`, container.name);
    names.add(container.name);
    validateLifecycle(container.lifecycle, `${at}.lifecycle`, errors);
    validateProbes(container, at, errors);
    if (container.restartPolicy !== undefined) validateContainerRestartPolicy(container.restartPolicy, at, errors);
  }
  if (!containers.some(({ ports }) => ports !== undefined)) return;
  const used = new Set<string>();
  for (const [index, { ports }] of containers.entries())
    validateHostPortsUnused(ports, used, `${path}[${index}].ports`, errors);
}

/** They run one after the other, so that each may have a port another had. Upstream: `validateInitContainers`. */
export function validateInitContainers(
  spec: PodSpec,
  volumes: ReadonlySet<string>,
  path: string,
  errors: FieldErrors,
): void {
  if (spec.initContainers === undefined) return;
  const names = new Set((spec.containers ?? []).map(({ name }) => name));
  for (const [index, container] of spec.initContainers.entries()) {
    const at = `${path}[${index}]`;
    validateContainer(container, volumes, at, errors);
    if (container.name) {
      if (names.has(container.name)) errors.duplicate(`${at}.name`, container.name);
      names.add(container.name);
    }
    if (container.restartPolicy !== undefined) validateContainerRestartPolicy(container.restartPolicy, at, errors);
    validateHostPortsUnused(container.ports, new Set(), `${at}.ports`, errors);
    if (container.restartPolicy === "Always") {
      validateLifecycle(container.lifecycle, `${at}.lifecycle`, errors);
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

/** Rules of pods that their templates are free of. Upstream: `validateContainersOnlyForPod`. */
export function validateImages(containers: readonly Container[], path: string, errors: FieldErrors): void {
  for (const [index, { image = "" }] of containers.entries()) {
    if (image !== image.trim())
      errors.invalid(`${path}[${index}].image`, image, "must not have leading or trailing whitespace");
  }
}

/** Upstream: `validateContainerCommon`. */
export function validateContainer(
  container: Container,
  volumes: ReadonlySet<string>,
  path: string,
  errors: FieldErrors,
): void {
  if (!container.name) errors.required(`${path}.name`);
  else addInvalid(errors, `${path}.name`, container.name, dnsLabelErrors(container.name));
  if (!container.image) errors.required(`${path}.image`);
  const { terminationMessagePolicy, imagePullPolicy } = container;
  if (!terminationMessagePolicy) errors.required(`${path}.terminationMessagePolicy`);
  else if (!TERMINATION_MESSAGE_POLICIES.includes(terminationMessagePolicy)) {
    errors.notSupported(`${path}.terminationMessagePolicy`, terminationMessagePolicy, TERMINATION_MESSAGE_POLICIES);
  }
  if (container.ports !== undefined) validatePorts(container.ports, `${path}.ports`, errors);
  validateEnvironment(container, path, errors);
  if (container.volumeMounts !== undefined)
    validateVolumeMounts(container.volumeMounts, volumes, `${path}.volumeMounts`, errors);
  if (!imagePullPolicy) errors.required(`${path}.imagePullPolicy`);
  else if (!PULL_POLICIES.includes(imagePullPolicy))
    errors.notSupported(`${path}.imagePullPolicy`, imagePullPolicy, PULL_POLICIES);
  validateResources(container.resources, `${path}.resources`, errors);
  validateSecurityContext(container.securityContext, `${path}.securityContext`, errors);
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
    if (!containerPort) errors.required(`${at}.containerPort`);
    else addInvalid(errors, `${at}.containerPort`, containerPort, portNumberErrors(containerPort));
    if (hostPort) addInvalid(errors, `${at}.hostPort`, hostPort, portNumberErrors(hostPort));
    if (!protocol) errors.required(`${at}.protocol`);
    else if (!PROTOCOLS.includes(protocol)) errors.notSupported(`${at}.protocol`, protocol, PROTOCOLS);
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
    if (used.has(key)) errors.duplicate(`${path}[${index}].hostPort`, key);
    used.add(key);
  }
}

function validateVolumeMounts(
  mounts: NonNullable<Container["volumeMounts"]>,
  volumes: ReadonlySet<string>,
  path: string,
  errors: FieldErrors,
): void {
  const mountPaths = new Set<string>();
  for (const [index, { name, mountPath, subPath }] of mounts.entries()) {
    const at = `${path}[${index}]`;
    if (!name) errors.required(`${at}.name`);
    if (!volumes.has(name)) errors.notFound(`${at}.name`, name);
    if (!mountPath) errors.required(`${at}.mountPath`);
    if (mountPaths.has(mountPath)) errors.invalid(`${at}.mountPath`, mountPath, "must be unique");
    mountPaths.add(mountPath);
    if (subPath) validateLocalPath(subPath, `${at}.subPath`, errors);
  }
}

function validateContainerRestartPolicy(policy: string, path: string, errors: FieldErrors): void {
  if (!RESTART_POLICIES.includes(policy)) errors.notSupported(`${path}.restartPolicy`, policy, RESTART_POLICIES);
}

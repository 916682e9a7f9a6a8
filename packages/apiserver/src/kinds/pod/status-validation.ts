import type { Container, Pod } from "@kubewright/api";
import { dnsSubdomainErrors, ipAddressErrors, ipFamily, qualifiedNameErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { addInvalid } from "../../validation/rules.js";

/** Conditions whose names are not validated. */
const SYSTEM_CONDITIONS = new Set([
  "PodScheduled",
  "Ready",
  "Initialized",
  "ContainersReady",
  "PodReadyToStartContainers",
]);

/** Upstream: `ValidatePodStatusUpdate`. Any phase may follow any other. */
export function validatePodStatusUpdate(pod: Pod, stored: Pod, errors: FieldErrors): void {
  const status = pod.status ?? {};
  const before = stored.status ?? {};
  status.conditions?.forEach(({ type, observedGeneration = 0 }, index) => {
    if (observedGeneration < 0)
      errors.invalid(
        `status.conditions[${index}].observedGeneration`,
        observedGeneration,
        "must be a non-negative integer",
      );
    const sentences = SYSTEM_CONDITIONS.has(type) ? [] : qualifiedNameErrors(type);
    if (sentences.length > 0) addInvalid(errors, `status.conditions[${index}].Type`, type, sentences);
  });
  if ((status.observedGeneration ?? 0) < 0) {
    errors.invalid("status.observedGeneration", status.observedGeneration, "must be a non-negative integer");
  }
  const node = status.nominatedNodeName;
  if (node && node !== before.nominatedNodeName) {
    addInvalid(errors, "status.nominatedNodeName", node, dnsSubdomainErrors(node));
    if (stored.spec?.nodeName) {
      errors.forbidden("status.nominatedNodeName", "may not be set on pods that are already bound to a node");
    }
  }
  if (status.qosClass !== before.qosClass)
    errors.invalid("status.qosClass", status.qosClass ?? "", "field is immutable");
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  if (!containers.some(mayRestartAll) && !initContainers.some(mayRestartAll)) {
    validateStates(pod, stored, { list: "containerStatuses", exempt: [] }, errors);
    const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === "Always").map(({ name }) => name);
    validateStates(pod, stored, { list: "initContainerStatuses", exempt: sidecars }, errors);
  }
  // Unchanged values were validated when they were stored.
  if (status.podIPs !== before.podIPs) validateAddresses(status.podIPs ?? [], "status.podIPs", errors);
  if (status.hostIPs !== before.hostIPs || status.hostIP !== before.hostIP) validateHostAddresses(pod, errors);
}

function mayRestartAll({ restartPolicyRules }: Container): boolean {
  return restartPolicyRules?.some(({ action }) => action === "RestartAllContainers") === true;
}

/**
 * Validates that a terminated container stays terminated, unless it may be restarted. Upstream:
 * `ValidateContainerStateTransition`.
 */
function validateStates(
  pod: Pod,
  stored: Pod,
  { list, exempt }: { list: "containerStatuses" | "initContainerStatuses"; exempt: readonly string[] },
  errors: FieldErrors,
): void {
  const before = stored.status?.[list];
  if (before === undefined) return;
  pod.status?.[list]?.forEach(({ name, state }, index) => {
    if (state?.terminated !== undefined || exempt.includes(name)) return;
    const terminated = before.find((status) => status.name === name)?.state?.terminated;
    if (terminated === undefined || mayRestart(pod, name, terminated.exitCode)) return;
    errors.forbidden(`status.${list}[${index}].state`, "may not be transitioned to non-terminated state");
  });
}

/**
 * Whether the container may be restarted: first by its rules, then by its policy, then by the pod's policy. Upstream:
 * similar to `containerShouldRestart`.
 */
function mayRestart({ spec }: Pod, name: string, exitCode: number): boolean {
  const container = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find(
    (candidate) => candidate.name === name,
  );
  for (const { action, exitCodes } of container?.restartPolicyRules ?? []) {
    const listed = exitCodes?.values?.includes(exitCode) ?? false;
    if (action === "Restart" && exitCodes !== undefined && (exitCodes.operator === "In") === listed) return true;
  }
  const policy = container?.restartPolicy ?? spec?.restartPolicy ?? "Always";
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

function validateAddresses(addresses: readonly { ip?: string }[], path: string, errors: FieldErrors): void {
  const seen = addresses.length > 1 ? new Set<string>() : undefined;
  addresses.forEach(({ ip = "" }, index) => {
    const sentences = ipAddressErrors(ip);
    if (sentences.length > 0) addInvalid(errors, `${path}[${index}]`, ip, sentences);
    if (seen?.has(ip)) errors.duplicate(`${path}[${index}]`, { ip });
    seen?.add(ip);
  });
  if (seen === undefined) return;
  const families = addresses.map(({ ip = "" }) => ipFamily(ip)).filter((family) => family !== undefined);
  if (new Set(families).size !== addresses.length && new Set(addresses.map(({ ip }) => ip)).size === addresses.length) {
    const shown = addresses.map(({ ip }) => ({ IP: ip }));
    errors.invalid(path, shown, "may specify no more than one IP for each IP family");
  }
}

function validateHostAddresses({ status = {} }: Pod, errors: FieldErrors): void {
  const { hostIP, hostIPs = [] } = status;
  if (hostIPs.length === 0) return;
  validateAddresses(hostIPs, "status.hostIPs", errors);
  if (hostIPs[0]!.ip !== hostIP)
    errors.invalid(
      "status.hostIPs",
      hostIPs.map(({ ip }) => ({ IP: ip })),
      "must be equal to `hostIP`",
    );
}

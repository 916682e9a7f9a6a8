import { type Node, nodes } from "@kubewright/api";
import { labelKeyErrors, labelValueErrors } from "@kubewright/api/validation";

import { builtInResource } from "../built-in-resource.js";
import type { FieldErrors } from "../field-errors.js";
import { jsonEqual, restoreMember } from "../json.js";
import type { ResourceStrategy } from "../strategy.js";
import { cidrErrors, cidrFamily, isDualStack } from "../validation/ip-address.js";
import { addInvalid, validateChoice, validateUnique } from "../validation/rules.js";
import { internalForm } from "./internal-form.js";
import { validateResourceQuantity } from "./pod/resource-validation.js";
import { ageCell, table } from "./table-cells.js";

type Quantities = Readonly<Record<string, string>> | undefined;

const TAINT_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const ROLE_PREFIX = "node-role.kubernetes.io/";
const ROLE_LABEL = "kubernetes.io/role";

/** Upstream: `pkg/registry/core/node`, `ValidateNode`, `ValidateNodeUpdate`, `printNode`. */
export const nodeStrategy: ResourceStrategy<Node> = {
  applyDefaults({ spec, status }) {
    if (spec !== undefined) mirrorRange(spec);
    if (status?.capacity !== undefined && Object.keys(status.allocatable ?? {}).length === 0) {
      status.allocatable = { ...status.capacity };
    }
  },
  prepareForUpdate: (node, stored) => restoreMember(node, stored, "status"),
  validateCreate(node, errors) {
    validateTaints(node, errors);
    validateQuantities(node.status?.capacity, "status.capacity", errors);
    validateQuantities(node.status?.allocatable, "status.allocatable", errors);
    validateRanges(node.spec?.podCIDRs ?? [], errors);
  },
  warningsOnCreate: nodeWarnings,
  warningsOnUpdate: nodeWarnings,
  validateUpdate: validateNodeUpdate,
  status: {
    prepareForUpdate: (node, stored) => restoreMember(node, stored, "spec"),
    validateUpdate: validateNodeUpdate,
  },
  fieldSelectors: { "spec.unschedulable": ({ spec }) => String(spec?.unschedulable ?? false) },
  printer: table<Node>({
    Status: statusCell,
    Roles: rolesCell,
    Age: ageCell,
    Version: ({ status }) => status?.nodeInfo?.kubeletVersion ?? "",
    "Internal-IP*": (node) => addressCell(node, "InternalIP"),
    "External-IP*": (node) => addressCell(node, "ExternalIP"),
    "OS-Image*": ({ status }) => status?.nodeInfo?.osImage || "<unknown>",
    "Kernel-Version*": ({ status: { nodeInfo } = {} }) =>
      (nodeInfo?.kernelVersion || "<unknown>") + (nodeInfo?.architecture ? ` (${nodeInfo.architecture})` : ""),
    "Container-Runtime*": ({ status }) => status?.nodeInfo?.containerRuntimeVersion || "<unknown>",
  }),
};

export const nodeResource = builtInResource<Node>({
  definition: nodes,
  shortNames: ["no"],
  strategy: nodeStrategy,
});

function validateNodeUpdate(node: Node, stored: Node, errors: FieldErrors): void {
  validateQuantities(node.status?.capacity, "status.capacity", errors);
  validateQuantities(node.status?.allocatable, "status.allocatable", errors);
  const addresses = node.status?.addresses ?? [];
  const seen = new Set<string>();
  for (const [index, address] of addresses.entries()) {
    const key = `${address.type} ${address.address}`;
    if (seen.has(key)) errors.duplicate(`status.addresses[${index}]`, internalForm("NodeAddress", address));
    seen.add(key);
  }
  const oldRanges = stored.spec?.podCIDRs ?? [];
  const ranges = node.spec?.podCIDRs ?? [];
  if (oldRanges.length > 0 && !jsonEqual(ranges, oldRanges)) {
    // Upstream reports the error once for each changed range when the number of ranges is equal.
    const changes =
      ranges.length === oldRanges.length ? ranges.filter((range, index) => range !== oldRanges[index]) : [""];
    for (const _change of changes)
      errors.forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid');
  }
  if (stored.spec?.providerID && node.spec?.providerID !== stored.spec.providerID) {
    errors.forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid');
  }
  validateTaints(node, errors);
  if ((node.spec?.externalID ?? "") !== (stored.spec?.externalID ?? ""))
    errors.forbidden("spec.externalID", "may not be updated");
}

/** Validates pod CIDRs: at most one for each IP family. */
function validateRanges(ranges: readonly string[], errors: FieldErrors): void {
  const field = "spec.podCIDRs";
  for (const [index, range] of ranges.entries()) addInvalid(errors, `${field}[${index}]`, range, cidrErrors(range));
  if (ranges.length < 2) return;
  if (ranges.length > 2 || !isDualStack(ranges.map(cidrFamily)))
    errors.invalid(field, ranges, "may specify no more than one CIDR for each IP family");
  const seen = new Set<string>();
  for (const [index, range] of ranges.entries()) {
    validateUnique(range, seen, `${field}[${index}]`, errors);
  }
}

/**
 * Keeps `podCIDR` equal to the first of `podCIDRs`. `podCIDR` wins when they differ. Upstream:
 * `Convert_v1_NodeSpec_To_core_NodeSpec`.
 */
function mirrorRange(spec: NonNullable<Node["spec"]>): void {
  const { podCIDR, podCIDRs } = spec;
  if (podCIDR) {
    if (podCIDRs?.[0] !== podCIDR) spec.podCIDRs = [podCIDR];
  } else if (podCIDRs?.[0]) spec.podCIDR = podCIDRs[0];
}

/** Upstream: `fieldIsDeprecatedWarnings` of `pkg/registry/core/node`. */
function nodeWarnings({ spec, metadata }: Node): string[] {
  const warnings: string[] = [];
  if (spec?.configSource !== undefined)
    warnings.push("spec.configSource: the feature was removed in v1.24, and the field is ignored");
  if (spec?.externalID) warnings.push("spec.externalID: this field is deprecated, and is unused by Kubernetes");
  for (const key of ["scheduler.alpha.kubernetes.io/preferAvoidPods"])
    if (metadata.annotations?.[key] !== undefined) {
      warnings.push(`metadata.annotations[${key}]: deprecated since 1.16`);
    }
  return warnings;
}

/** Validates taints. Upstream reports errors below the metadata, because taints were an annotation once. */
function validateTaints({ spec }: Node, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, { key, value, effect }] of (spec?.taints ?? []).entries()) {
    const path = `metadata.taints[${index}]`;
    addInvalid(errors, `${path}.key`, key ?? "", labelKeyErrors(key ?? ""));
    for (const sentence of labelValueErrors(value ?? "")) errors.invalid(`${path}.value`, value, sentence);
    validateChoice(effect, TAINT_EFFECTS, `${path}.effect`, errors);
    const identity = `${effect} ${key}`;
    if (seen.has(identity)) {
      const taint = internalForm("Taint", spec?.taints?.[index]);
      errors.add({
        type: "Duplicate",
        field: path,
        value: taint,
        detail: "taints must be unique by key and effect pair",
      });
    }
    seen.add(identity);
  }
}

function validateQuantities(quantities: Quantities, field: string, errors: FieldErrors): void {
  for (const [name, text] of Object.entries(quantities ?? {}))
    validateResourceQuantity(name, text, `${field}.${name}`, errors);
}

function addressCell({ status }: Node, wanted: string): string {
  return status?.addresses?.find(({ type }) => type === wanted)?.address ?? "<none>";
}

function statusCell({ spec, status }: Node): string {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const text = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return spec?.unschedulable ? `${text},SchedulingDisabled` : text;
}

function rolesCell({ metadata }: Node): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (key.startsWith(ROLE_PREFIX) && key.length > ROLE_PREFIX.length) roles.add(key.slice(ROLE_PREFIX.length));
    else if (key === ROLE_LABEL && value !== "") roles.add(value);
  }
  return [...roles].sort().join(",") || "<none>";
}

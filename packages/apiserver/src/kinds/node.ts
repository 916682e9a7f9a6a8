import { type Node, nodes } from "@kubewright/api";

import { builtInResource, standardVerbs } from "../built-in-resource.js";
import type { FieldErrors } from "../field-errors.js";
import { jsonEqual } from "../json.js";
import { parseQuantity } from "../quantity.js";
import type { ResourceStrategy } from "../strategy.js";
import { addInvalid } from "../validation/rules.js";
import { labelValueErrors, qualifiedNameErrors } from "../names.js";
import { internalForm } from "./internal-form.js";
import { age, columns } from "./table-cells.js";

type Quantities = Readonly<Record<string, string>> | undefined;

const TAINT_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const ROLE_PREFIX = "node-role.kubernetes.io/";
const ROLE_LABEL = "kubernetes.io/role";

/** Upstream: `pkg/registry/core/node`, `ValidateNode`, `ValidateNodeUpdate`, `printNode`. */
export const nodeStrategy: ResourceStrategy<Node> = {
  applyDefaults({ status }) {
    if (status?.capacity !== undefined && Object.keys(status.allocatable ?? {}).length === 0) {
      status.allocatable = { ...status.capacity };
    }
  },
  prepareForUpdate(node, stored) {
    if (stored.status === undefined) delete node.status;
    else node.status = stored.status;
  },
  validateCreate(node, errors) {
    validateTaints(node, errors);
    validateQuantities(node.status?.capacity, "status.capacity", errors);
    validateQuantities(node.status?.allocatable, "status.allocatable", errors);
  },
  validateUpdate: validateNodeUpdate,
  status: {
    prepareForUpdate(node, stored) {
      if (stored.spec === undefined) delete node.spec;
      else node.spec = stored.spec;
    },
    validateUpdate: validateNodeUpdate,
  },
  fieldSelectors: { "spec.unschedulable": ({ spec }) => String(spec?.unschedulable ?? false) },
  printer: {
    columns: columns(
      "Name",
      "Status",
      "Roles",
      "Age",
      "Version",
      "Internal-IP*",
      "External-IP*",
      "OS-Image*",
      "Kernel-Version*",
      "Container-Runtime*",
    ),
    cells(node, nowMs) {
      const { nodeInfo, addresses } = node.status ?? {};
      const address = (type: string): string => addresses?.find((entry) => entry.type === type)?.address ?? "<none>";
      const kernel = nodeInfo?.kernelVersion || "<unknown>";
      return [
        node.metadata.name ?? "",
        statusCell(node),
        rolesCell(node),
        age(node.metadata.creationTimestamp, nowMs),
        nodeInfo?.kubeletVersion ?? "",
        address("InternalIP"),
        address("ExternalIP"),
        nodeInfo?.osImage || "<unknown>",
        nodeInfo?.architecture ? `${kernel} (${nodeInfo.architecture})` : kernel,
        nodeInfo?.containerRuntimeVersion || "<unknown>",
      ];
    },
  },
};

export const nodeResource = builtInResource<Node>({
  definition: nodes,
  singular: "node",
  shortNames: ["no"],
  listKind: "NodeList",
  verbs: standardVerbs,
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
  if (oldRanges.length > 0 && !jsonEqual(node.spec?.podCIDRs ?? [], oldRanges)) {
    errors.forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid');
  }
  if (stored.spec?.providerID && node.spec?.providerID !== stored.spec.providerID) {
    errors.forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid');
  }
  validateTaints(node, errors);
}

/** Upstream reports a taint's errors below the metadata, where taints once were an annotation. */
function validateTaints({ spec }: Node, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, { key, value, effect }] of (spec?.taints ?? []).entries()) {
    const path = `metadata.taints[${index}]`;
    addInvalid(errors, `${path}.key`, key ?? "", qualifiedNameErrors(key ?? ""));
    for (const sentence of labelValueErrors(value ?? "")) errors.invalid(`${path}.value`, value, sentence);
    if (!effect) errors.required(`${path}.effect`);
    else if (!TAINT_EFFECTS.includes(effect)) errors.notSupported(`${path}.effect`, effect, TAINT_EFFECTS);
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
  for (const [name, text] of Object.entries(quantities ?? {})) {
    const quantity = parseQuantity(text);
    if (quantity !== undefined && quantity.nanos < 0n) {
      errors.invalid(`${field}.${name}`, text, "must be greater than or equal to 0");
    }
  }
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

import { type NetworkPolicy, networkPolicies } from "@kubewright/api";
import { portNameErrors, portNumberErrors } from "@kubewright/api/validation";

import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import type { ResourceStrategy } from "../../strategy.js";
import { cidrErrors, isStrictlyWithin } from "../../validation/ip-address.js";
import { validateLabelSelector } from "../../validation/label-selector.js";
import { addInvalid, validateSupported } from "../../validation/rules.js";
import { generationOf } from "../spec-and-status.js";
import { ageCell, selectorCell, table } from "../table-cells.js";
import { networkingTypes } from "./types.js";

type Spec = NonNullable<NetworkPolicy["spec"]>;
type Peer = NonNullable<NonNullable<Spec["ingress"]>[number]["from"]>[number];
type Port = NonNullable<NonNullable<Spec["ingress"]>[number]["ports"]>[number];

const PROTOCOLS = ["TCP", "UDP", "SCTP"];
const POLICY_TYPES = ["Ingress", "Egress"];

/** Upstream: `pkg/registry/networking/networkpolicy`, `ValidateNetworkPolicySpec`. */
export const networkPolicyStrategy: ResourceStrategy<NetworkPolicy> = {
  applyDefaults,
  ...generationOf<NetworkPolicy>("spec"),
  validate: validateNetworkPolicy,
  printer: table<NetworkPolicy>({ "Pod-Selector": ({ spec }) => selectorCell(spec?.podSelector), Age: ageCell }),
};

export const networkPolicyResource = builtInResource<NetworkPolicy>({
  definition: networkPolicies,
  shortNames: ["netpol"],
  types: networkingTypes,
  strategy: networkPolicyStrategy,
});

/** Upstream: `SetDefaults_NetworkPolicy`, `SetDefaults_NetworkPolicyPort`. */
function applyDefaults({ spec }: NetworkPolicy, stored?: NetworkPolicy): void {
  if (spec === undefined || spec === stored?.spec) return;
  const { ingress = [], egress = [] } = spec;
  for (const { ports = [] } of [...ingress, ...egress]) for (const port of ports) port.protocol ??= "TCP";
  if ((spec.policyTypes ?? []).length === 0)
    spec.policyTypes = egress.length === 0 ? ["Ingress"] : ["Ingress", "Egress"];
}

function validateNetworkPolicy({ spec }: NetworkPolicy, errors: FieldErrors): void {
  const { podSelector, ingress = [], egress = [], policyTypes = [] } = spec ?? {};
  validateLabelSelector(podSelector, "spec.podSelector", errors);
  for (const [index, { ports, from }] of ingress.entries()) {
    const at = `spec.ingress[${index}]`;
    validatePorts(ports, `${at}.ports`, errors);
    validatePeers(from, `${at}.from`, errors);
  }
  for (const [index, { ports, to }] of egress.entries()) {
    const at = `spec.egress[${index}]`;
    validatePorts(ports, `${at}.ports`, errors);
    validatePeers(to, `${at}.to`, errors);
  }
  if (policyTypes.length > POLICY_TYPES.length)
    errors.invalid("spec.policyTypes", policyTypes, "may not specify more than two policyTypes");
  else
    for (const [index, type] of policyTypes.entries())
      validateSupported(type, POLICY_TYPES, `spec.policyTypes[${index}]`, errors);
}

function validatePorts(ports: readonly Port[] = [], path: string, errors: FieldErrors): void {
  for (const [index, { protocol, port, endPort }] of ports.entries()) {
    const at = `${path}[${index}]`;
    validateSupported(protocol, PROTOCOLS, `${at}.protocol`, errors);
    if (port === undefined) {
      if (endPort !== undefined)
        errors.invalid(`${at}.endPort`, endPort, "may not be specified when `port` is not specified");
    } else if (typeof port === "number") {
      addInvalid(errors, `${at}.port`, port, portNumberErrors(port));
      if (endPort === undefined) continue;
      // Upstream's error shows the port, not the end port.
      if (endPort < port) errors.invalid(`${at}.endPort`, port, "must be greater than or equal to `port`");
      addInvalid(errors, `${at}.endPort`, endPort, portNumberErrors(endPort));
    } else {
      if (endPort !== undefined)
        errors.invalid(`${at}.endPort`, endPort, "may not be specified when `port` is non-numeric");
      addInvalid(errors, `${at}.port`, port, portNameErrors(port));
    }
  }
}

function validatePeers(peers: readonly Peer[] = [], path: string, errors: FieldErrors): void {
  for (const [index, peer] of peers.entries()) {
    const { podSelector, namespaceSelector, ipBlock } = peer;
    const at = `${path}[${index}]`;
    validateLabelSelector(podSelector, `${at}.podSelector`, errors);
    validateLabelSelector(namespaceSelector, `${at}.namespaceSelector`, errors);
    const selects = podSelector !== undefined || namespaceSelector !== undefined;
    if (ipBlock !== undefined) validateIpBlock(ipBlock, `${at}.ipBlock`, errors);
    if (ipBlock === undefined && !selects) errors.required(at, "must specify a peer");
    else if (ipBlock !== undefined && selects) errors.forbidden(at, "may not specify both ipBlock and another peer");
  }
}

function validateIpBlock({ cidr, except = [] }: NonNullable<Peer["ipBlock"]>, path: string, errors: FieldErrors): void {
  if (cidr === "") {
    errors.required(`${path}.cidr`);
    return;
  }
  const malformed = cidrErrors(cidr);
  addInvalid(errors, `${path}.cidr`, cidr, malformed);
  if (malformed.length > 0) return;
  for (const [index, excepted] of except.entries()) {
    const at = `${path}.except[${index}]`;
    addInvalid(errors, at, excepted, cidrErrors(excepted));
    if (isStrictlyWithin(excepted, cidr) === false) errors.invalid(at, excepted, "must be a strict subset of `cidr`");
  }
}

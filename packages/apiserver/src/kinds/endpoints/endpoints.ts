import { type Endpoints, endpoints } from "@kubewright/api";
import {
  dnsLabelErrors,
  dnsSubdomainErrors,
  ipAddressErrors,
  portNumberErrors,
  qualifiedNameErrors,
} from "@kubewright/api/validation";

import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import type { ResourceStrategy } from "../../strategy.js";
import { validateEndpointIp } from "../../validation/ip-address.js";
import { addInvalid, validateChoice } from "../../validation/rules.js";
import { ageCell, firstItemsCell, table } from "../table-cells.js";
import { endpointsTypes } from "./types.js";

type Subset = NonNullable<Endpoints["subsets"]>[number];
type Address = NonNullable<Subset["addresses"]>[number];
type Port = NonNullable<Subset["ports"]>[number];

const PROTOCOLS = ["SCTP", "TCP", "UDP"];

/** Upstream: `pkg/registry/core/endpoint`, `ValidateEndpoints` of `pkg/apis/core/validation`. */
export const endpointsStrategy: ResourceStrategy<Endpoints> = {
  allowCreateOnUpdate: true,
  applyDefaults(object, stored) {
    if (object.subsets === stored?.subsets) return;
    for (const { ports = [] } of object.subsets ?? []) for (const port of ports) port.protocol ||= "TCP";
  },
  validate: validateEndpoints,
  printer: table<Endpoints>({
    Endpoints: ({ subsets = [] }) =>
      subsets.length === 0 ? "<none>" : firstItemsCell(subsets.flatMap(destinations)) || "<unset>",
    Age: ageCell,
  }),
};

export const endpointsResource = builtInResource<Endpoints>({
  definition: endpoints,
  shortNames: ["ep"],
  types: endpointsTypes,
  strategy: endpointsStrategy,
  deprecation: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
});

function destinations({ addresses = [], ports = [] }: Subset): string[] {
  if (ports.length === 0) return addresses.map(({ ip }) => ip);
  return ports.flatMap(({ port }) => addresses.map(({ ip }) => `${ip.includes(":") ? `[${ip}]` : ip}:${port}`));
}

function validateEndpoints({ subsets = [] }: Endpoints, errors: FieldErrors): void {
  for (const [index, { addresses = [], notReadyAddresses = [], ports = [] }] of subsets.entries()) {
    const at = `subsets[${index}]`;
    if (addresses.length === 0 && notReadyAddresses.length === 0)
      errors.required(at, "must specify `addresses` or `notReadyAddresses`");
    for (const [place, address] of addresses.entries()) validateAddress(address, `${at}.addresses[${place}]`, errors);
    for (const [place, address] of notReadyAddresses.entries())
      validateAddress(address, `${at}.notReadyAddresses[${place}]`, errors);
    for (const [place, port] of ports.entries()) validatePort(port, ports.length > 1, `${at}.ports[${place}]`, errors);
  }
}

function validateAddress({ ip, hostname = "", nodeName }: Address, path: string, errors: FieldErrors): void {
  addInvalid(errors, `${path}.ip`, ip, ipAddressErrors(ip));
  if (hostname !== "") addInvalid(errors, `${path}.hostname`, hostname, dnsLabelErrors(hostname));
  if (nodeName !== undefined) addInvalid(errors, `${path}.nodeName`, nodeName, dnsSubdomainErrors(nodeName));
  validateEndpointIp(ip, `${path}.ip`, errors);
}

function validatePort(
  { name = "", port, protocol, appProtocol }: Port,
  needsName: boolean,
  path: string,
  errors: FieldErrors,
): void {
  if (name !== "") addInvalid(errors, `${path}.name`, name, dnsLabelErrors(name));
  else if (needsName) errors.required(`${path}.name`);
  addInvalid(errors, `${path}.port`, port, portNumberErrors(port));
  validateChoice(protocol, PROTOCOLS, `${path}.protocol`, errors);
  if (appProtocol !== undefined)
    addInvalid(errors, `${path}.appProtocol`, appProtocol, qualifiedNameErrors(appProtocol));
}

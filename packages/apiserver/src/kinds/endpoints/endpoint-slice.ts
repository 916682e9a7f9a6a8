import { type EndpointSlice, endpointSlices } from "@kubewright/api";
import {
  dnsLabelErrors,
  dnsSubdomainErrors,
  ipAddressErrors,
  ipFamily,
  labelValueErrors,
  qualifiedNameErrors,
} from "@kubewright/api/validation";

import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import { jsonEqual } from "../../json.js";
import type { ResourceStrategy } from "../../strategy.js";
import { validateEndpointIp } from "../../validation/ip-address.js";
import { addInvalid, validateChoice, validateSupported, validateUnique } from "../../validation/rules.js";
import { ageCell, firstItemsCell, table } from "../table-cells.js";
import { endpointsTypes } from "./types.js";

type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number];
type Port = NonNullable<EndpointSlice["ports"]>[number];
/** A list that is written as null when absent. */
type NullableList<T> = readonly T[] | null | undefined;

const ADDRESS_TYPES = ["FQDN", "IPv4", "IPv6"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 20_000;
const MAX_HINTS = 8;

/** Upstream: `pkg/registry/discovery/endpointslice`, `pkg/apis/discovery/validation`. */
export const endpointSliceStrategy: ResourceStrategy<EndpointSlice> = {
  applyDefaults(slice, stored) {
    if (slice.ports === stored?.ports) return;
    for (const port of (slice.ports as NullableList<Port>) ?? []) {
      port.name ??= "";
      port.protocol ??= "TCP";
    }
  },
  prepareForCreate(slice) {
    slice.metadata.generation = 1;
    dropTopology(slice);
  },
  prepareForUpdate: dropTopology,
  // Labels name the Service and the managing controller, so changed labels bump the generation too.
  bumpsGeneration: ({ metadata, addressType, endpoints, ports }, stored) =>
    !jsonEqual([addressType, endpoints, ports], [stored.addressType, stored.endpoints, stored.ports]) ||
    !jsonEqual(metadata.labels ?? {}, stored.metadata.labels ?? {}),
  validateCreate: (slice, errors) => validateEndpointSlice(slice, new Set(), errors),
  validateUpdate(slice, stored, errors) {
    const known = ((stored.endpoints as NullableList<Endpoint>) ?? []).flatMap(({ addresses }) => addresses ?? []);
    validateEndpointSlice(slice, new Set(known), errors);
    if (slice.addressType !== stored.addressType)
      errors.invalid("addressType", slice.addressType, "field is immutable");
  },
  warningsOnCreate: addressTypeWarnings,
  warningsOnUpdate: addressTypeWarnings,
  printer: table<EndpointSlice>({
    AddressType: ({ addressType }) => addressType,
    Ports: ({ ports }) =>
      firstItemsCell(((ports as NullableList<Port>) ?? []).map(({ port, name }) => String(port ?? name ?? "*"))) ||
      "<unset>",
    Endpoints: ({ endpoints }) =>
      firstItemsCell(
        ((endpoints as NullableList<Endpoint>) ?? []).flatMap(({ addresses }) => [...(addresses ?? [])]),
      ) || "<unset>",
    Age: ageCell,
  }),
};

export const endpointSliceResource = builtInResource<EndpointSlice>({
  definition: endpointSlices,
  types: endpointsTypes,
  strategy: endpointSliceStrategy,
});

function addressTypeWarnings({ addressType }: EndpointSlice): readonly string[] {
  return addressType === "FQDN" ? ["spec.addressType: FQDN endpoints are deprecated"] : [];
}

/** Removes the topology field of an older version. Upstream: `dropTopologyOnV1`. */
function dropTopology(slice: EndpointSlice): void {
  const endpoints = slice.endpoints as Endpoint[] | null | undefined;
  if (endpoints?.some(({ deprecatedTopology }) => deprecatedTopology !== undefined) !== true) return;
  slice.endpoints = endpoints.map(({ deprecatedTopology: _dropped, ...endpoint }) => endpoint);
}

/** @param known - The stored addresses, which are not validated again. */
function validateEndpointSlice(slice: EndpointSlice, known: ReadonlySet<string>, errors: FieldErrors): void {
  const { addressType } = slice;
  const endpoints = (slice.endpoints as NullableList<Endpoint>) ?? [];
  validateChoice(addressType, ADDRESS_TYPES, "addressType", errors);
  if (endpoints.length > MAX_ENDPOINTS) errors.tooMany("endpoints", endpoints.length, MAX_ENDPOINTS);
  else
    for (const [index, endpoint] of endpoints.entries())
      validateEndpoint(endpoint, addressType, known, `endpoints[${index}]`, errors);
  validatePorts((slice.ports as NullableList<Port>) ?? [], errors);
}

function validateEndpoint(
  endpoint: Endpoint,
  addressType: string,
  known: ReadonlySet<string>,
  path: string,
  errors: FieldErrors,
): void {
  const { hostname, nodeName, hints } = endpoint;
  const addresses = (endpoint.addresses as NullableList<string>) ?? [];
  const at = `${path}.addresses`;
  if (addresses.length === 0) errors.required(at, "must contain at least 1 address");
  else if (addresses.length > MAX_ADDRESSES) errors.tooMany(at, addresses.length, MAX_ADDRESSES);
  for (const [index, address] of addresses.entries())
    if (!known.has(address)) validateAddress(address, addressType, at, `${at}[${index}]`, errors);
  if (nodeName !== undefined) addInvalid(errors, `${path}.nodeName`, nodeName, dnsSubdomainErrors(nodeName));
  if (hostname !== undefined) addInvalid(errors, `${path}.hostname`, hostname, dnsLabelErrors(hostname));
  validateHints(hints?.forZones, `${path}.hints.forZones`, labelValueErrors, errors);
  validateHints(hints?.forNodes, `${path}.hints.forNodes`, dnsSubdomainErrors, errors);
}

/** @param list - The path for the error about an address of the wrong family. */
function validateAddress(address: string, addressType: string, list: string, field: string, errors: FieldErrors): void {
  if (addressType === "FQDN") validateDomainName(address, field, errors);
  if (addressType !== "IPv4" && addressType !== "IPv6") return;
  const malformed = ipAddressErrors(address);
  addInvalid(errors, field, address, malformed);
  if (malformed.length > 0) return;
  if (`IPv${ipFamily(address)}` !== addressType) errors.invalid(list, address, `must be an ${addressType} address`);
  validateEndpointIp(address, field, errors);
}

/** Upstream: apimachinery `IsFullyQualifiedDomainName`. */
function validateDomainName(address: string, field: string, errors: FieldErrors): void {
  if (address === "") return errors.required(field);
  const name = address.replace(/\.$/, "");
  const malformed = dnsSubdomainErrors(name);
  const labels = name.split(".");
  if (malformed.length > 0) errors.invalid(field, name, malformed.join(","));
  else if (labels.length < 2)
    errors.invalid(field, name, "should be a domain with at least two segments separated by dots");
  else {
    const label = labels.find((candidate) => dnsLabelErrors(candidate).length > 0);
    if (label !== undefined) errors.invalid(field, label, dnsLabelErrors(label).join(","));
  }
}

function validateHints(
  hints: readonly { readonly name: string }[] = [],
  path: string,
  nameErrors: (name: string) => readonly string[],
  errors: FieldErrors,
): void {
  if (hints.length > MAX_HINTS) return errors.tooMany(path, hints.length, MAX_HINTS);
  const names = new Set<string>();
  for (const [index, { name }] of hints.entries()) {
    const at = `${path}[${index}].name`;
    validateUnique(name, names, at, errors);
    addInvalid(errors, at, name, nameErrors(name));
  }
}

function validatePorts(ports: readonly Port[], errors: FieldErrors): void {
  if (ports.length > MAX_PORTS) return errors.tooMany("ports", ports.length, MAX_PORTS);
  const names = new Set<string>();
  for (const [index, { name = "", protocol, appProtocol }] of ports.entries()) {
    const at = `ports[${index}]`;
    if (name !== "") addInvalid(errors, `${at}.name`, name, dnsLabelErrors(name));
    validateUnique(name, names, `${at}.name`, errors);
    if (protocol === undefined) errors.required(`${at}.protocol`);
    validateSupported(protocol, PROTOCOLS, `${at}.protocol`, errors);
    if (appProtocol !== undefined)
      addInvalid(errors, `${at}.appProtocol`, appProtocol, qualifiedNameErrors(appProtocol));
  }
}

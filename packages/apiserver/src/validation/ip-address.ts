import {
  type Cidr,
  type IpAddress,
  type IpAddressScope,
  cidrContains,
  ipAddressScope,
  isIPv4Mapped,
  parseCidr,
  parseIpAddress,
} from "@kubewright/api/validation";

import type { FieldErrors } from "../field-errors.js";
import { addInvalid } from "./rules.js";

const CIDR_MESSAGE = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/** Validates a CIDR such as `10.0.0.0/24`. Upstream: apimachinery `validation.IsValidCIDR`. */
export function cidrErrors(value: string): readonly string[] {
  return cidrFamily(value) === undefined ? [CIDR_MESSAGE] : [];
}

/** Returns the IP family of a CIDR; `undefined` when the text is not a CIDR. */
export function cidrFamily(value: string): 4 | 6 | undefined {
  return parseCidr(value)?.address.family;
}

/** Whether a valid address is in a valid CIDR. */
export function isInCidr(address: string, cidr: string): boolean {
  return cidrContains(blockOf(cidr)!, unmapped(parseIpAddress(address)!));
}

/** Whether a CIDR is a strict subset of another; `undefined` when one of them is invalid. */
export function isStrictlyWithin(inner: string, outer: string): boolean | undefined {
  const [small, large] = [blockOf(inner), blockOf(outer)];
  if (small === undefined || large === undefined) return undefined;
  return small.prefix > large.prefix && cidrContains(large, small.address);
}

/** Parses a CIDR. An IPv4-mapped block becomes a block of IPv4, with 96 bits less. */
function blockOf(text: string): Cidr | undefined {
  const cidr = parseCidr(text);
  if (cidr === undefined || !isIPv4Mapped(cidr.address)) return cidr;
  return { address: unmapped(cidr.address), prefix: cidr.prefix - 96 };
}

function unmapped(address: IpAddress): IpAddress {
  return isIPv4Mapped(address) ? { family: 4, bits: address.bits & 0xffffffffn } : address;
}

/**
 * Whether both families are present. Two addresses or CIDRs must have different families, and callers refuse a third.
 * Upstream: `IsDualStackIPStrings`.
 */
export function isDualStack(families: readonly (4 | 6 | undefined)[]): boolean {
  return families.includes(4) && families.includes(6);
}

const REFUSED_SCOPES: Partial<Record<IpAddressScope, string>> = {
  loopback: "may not be in the loopback range (127.0.0.0/8, ::1/128)",
  "link-local": "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
  "link-local-multicast": "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
};

/**
 * Refuses valid addresses of the machine itself or of its link, which other machines cannot reach. Upstream:
 * `ValidateNonSpecialIP`.
 */
export function specialAddressErrors(address: string): readonly string[] {
  const scope = ipAddressScope(unmapped(parseIpAddress(address)!));
  const error = scope === "unspecified" ? `may not be unspecified (${address})` : REFUSED_SCOPES[scope];
  return error === undefined ? [] : [error];
}

/** Validates an address that can receive traffic. Upstream: `ValidateEndpointIP`. */
export function validateEndpointIp(address: string, field: string, errors: FieldErrors): void {
  if (parseIpAddress(address) === undefined) errors.invalid(field, address, "must be a valid IP address");
  else addInvalid(errors, field, address, specialAddressErrors(address));
}

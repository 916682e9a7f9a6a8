import { ipFamily } from "@kubewright/api/validation";

import type { FieldErrors } from "../field-errors.js";
import { addInvalid } from "./rules.js";

const CIDR_MESSAGE = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/** Validates a CIDR such as `10.0.0.0/24`. Upstream: apimachinery `validation.IsValidCIDR`. */
export function cidrErrors(value: string): readonly string[] {
  return cidrFamily(value) === undefined ? [CIDR_MESSAGE] : [];
}

/** Returns the IP family of a CIDR; `undefined` when the text is not a CIDR. */
export function cidrFamily(value: string): 4 | 6 | undefined {
  const [, address = "", length = ""] = /^(.*)\/(\d{1,3})$/.exec(value) ?? [];
  const family = ipFamily(address);
  if (family === undefined || (length.length > 1 && length.startsWith("0"))) return undefined;
  return Number(length) <= (family === 4 ? 32 : 128) ? family : undefined;
}

/** Whether a valid address is in a valid CIDR. */
export function isInCidr(address: string, cidr: string): boolean {
  return isWithin(bytesOf(address), blockOf(cidr));
}

/** Whether a CIDR is a strict subset of another; `undefined` when one of them is invalid. */
export function isStrictlyWithin(inner: string, outer: string): boolean | undefined {
  if (cidrFamily(inner) === undefined || cidrFamily(outer) === undefined) return undefined;
  const [small, large] = [blockOf(inner), blockOf(outer)];
  return small.bits > large.bits && isWithin(small.bytes, large);
}

/** The addresses with the same first bits. */
interface Block {
  readonly bytes: readonly number[];
  readonly bits: number;
}

/** Parses a valid CIDR. An IPv4-mapped block has 96 more bits. */
function blockOf(cidr: string): Block {
  const [address = "", length = ""] = cidr.split("/");
  const bytes = bytesOf(address);
  return { bytes, bits: Number(length) - (bytes.length === 4 && address.includes(":") ? 96 : 0) };
}

function isWithin(bytes: readonly number[], block: Block): boolean {
  if (bytes.length !== block.bytes.length) return false;
  for (let bit = 0; bit < block.bits; bit++) {
    const mask = 0x80 >> (bit % 8);
    if (((bytes[bit >> 3]! ^ block.bytes[bit >> 3]!) & mask) !== 0) return false;
  }
  return true;
}

/**
 * Whether both families are present. Two addresses or CIDRs must have different families, and callers refuse a third.
 * Upstream: `IsDualStackIPStrings`.
 */
export function isDualStack(families: readonly (4 | 6 | undefined)[]): boolean {
  return families.includes(4) && families.includes(6);
}

/**
 * Refuses addresses of the machine itself or of its link, which other machines cannot reach. Upstream:
 * `ValidateNonSpecialIP`.
 */
export function specialAddressErrors(address: string): readonly string[] {
  const bytes = bytesOf(address);
  const [first = 0, second = 0, third = 0] = bytes;
  const isLong = bytes.length === 16;
  if (bytes.every((byte) => byte === 0)) return [`may not be unspecified (${address})`];
  if (isLong ? bytes.every((byte, index) => byte === (index === 15 ? 1 : 0)) : first === 127)
    return ["may not be in the loopback range (127.0.0.0/8, ::1/128)"];
  if (isLong ? first === 0xfe && (second & 0xc0) === 0x80 : first === 169 && second === 254)
    return ["may not be in the link-local range (169.254.0.0/16, fe80::/10)"];
  if (isLong ? first === 0xff && (second & 0x0f) === 2 : first === 224 && second === 0 && third === 0)
    return ["may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"];
  return [];
}

/** Returns 4 or 16 bytes. An IPv4-mapped IPv6 address has 4. */
function bytesOf(address: string): readonly number[] {
  if (ipFamily(address) === 4) return address.split(".").map(Number);
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const text =
    dotted === null
      ? address
      : address.slice(0, dotted.index) +
        [dotted.slice(1, 3), dotted.slice(3, 5)]
          .map(([high, low]) => (Number(high) * 256 + Number(low)).toString(16))
          .join(":");
  const [head = "", tail] = text.split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [...front, ...Array.from({ length: 8 - front.length - back.length }, () => "0"), ...back];
  const bytes = groups.flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  return isMapped ? bytes.slice(12) : bytes;
}

/** Validates an address that can receive traffic. Upstream: `ValidateEndpointIP`. */
export function validateEndpointIp(address: string, field: string, errors: FieldErrors): void {
  if (ipFamily(address) === undefined) errors.invalid(field, address, "must be a valid IP address");
  else addInvalid(errors, field, address, specialAddressErrors(address));
}

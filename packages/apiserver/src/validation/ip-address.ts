import type { FieldErrors } from "../field-errors.js";
import { ipFamily } from "./formats.js";

/** Addresses of a network: those whose first bits are these. */
interface Network {
  readonly bytes: readonly number[];
  readonly bits: number;
}

/** The four or sixteen bytes of an IP address; an IPv4 address in IPv6 form is one of four. `undefined` for what is none. */
export function ipBytes(text: string): readonly number[] | undefined {
  const family = ipFamily(text);
  if (family === undefined) return undefined;
  if (family === 4) return text.split(".").map(Number);
  const [head = "", tail] = text.split("::");
  const before = groupBytes(head);
  const after = tail === undefined ? [] : groupBytes(tail);
  const zeros = Array.from({ length: 16 - before.length - after.length }, () => 0);
  const bytes = [...before, ...zeros, ...after];
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return isMapped ? bytes.slice(12) : bytes;
}

function groupBytes(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (group.includes(".")) return group.split(".").map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** `10.0.0.0/8`; `undefined` for what is none. */
function parseNetwork(text: string): Network | undefined {
  const slash = text.indexOf("/");
  const bytes = slash < 0 ? undefined : ipBytes(text.slice(0, slash));
  const length = text.slice(slash + 1);
  if (bytes === undefined || !/^\d{1,3}$/.test(length)) return undefined;
  const isMapped = bytes.length === 4 && text.includes(":");
  const bits = Number(length) - (isMapped ? 96 : 0);
  return bits >= 0 && bits <= bytes.length * 8 ? { bytes, bits } : undefined;
}

/** Upstream: `IsValidCIDRForLegacyField`. */
export function cidrErrors(text: string): string[] {
  return parseNetwork(text) === undefined ? ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"] : [];
}

/** Whether a network is within another one, and smaller. `undefined` where one of them is none. */
export function isStrictlyWithin(inner: string, outer: string): boolean | undefined {
  const small = parseNetwork(inner);
  const large = parseNetwork(outer);
  if (small === undefined || large === undefined) return undefined;
  return small.bits > large.bits && isWithin(small.bytes, large);
}

function isWithin(bytes: readonly number[], network: Network): boolean {
  if (bytes.length !== network.bytes.length) return false;
  for (let at = 0; at < network.bits; at += 8) {
    const shift = Math.max(0, 8 - (network.bits - at));
    if (bytes[at / 8]! >> shift !== network.bytes[at / 8]! >> shift) return false;
  }
  return true;
}

/** An address that traffic can be sent to. Upstream: `ValidateEndpointIP`. */
export function validateEndpointIp(address: string, field: string, errors: FieldErrors): void {
  const bytes = ipBytes(address);
  if (bytes === undefined) {
    errors.invalid(field, address, "must be a valid IP address");
    return;
  }
  const [first = 0, second = 0, third = 0] = bytes;
  const isV4 = bytes.length === 4;
  if (bytes.every((byte) => byte === 0)) errors.invalid(field, address, `may not be unspecified (${address})`);
  if (isV4 ? first === 127 : bytes.at(-1) === 1 && bytes.slice(0, -1).every((byte) => byte === 0))
    errors.invalid(field, address, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
  if (isV4 ? first === 169 && second === 254 : first === 0xfe && second >> 6 === 2)
    errors.invalid(field, address, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  if (isV4 ? first === 224 && second === 0 && third === 0 : first === 0xff && (second & 0x0f) === 2)
    errors.invalid(field, address, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
}

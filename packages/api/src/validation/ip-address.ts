/** An IP address of 32 or 128 bits. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** Returns the IP family; `undefined` when the text is not an IP address. */
export function ipFamily(text: string): 4 | 6 | undefined {
  return IPV4.test(text) ? 4 : parseIPv6(text)?.family;
}

/** Parses an address strictly: no leading zeros in decimal numbers, and no zone. `undefined` when invalid. */
export function parseIpAddress(text: string): IpAddress | undefined {
  return IPV4.test(text) ? { family: 4, bits: ipv4Bits(text) } : parseIPv6(text);
}

function ipv4Bits(text: string): bigint {
  return text.split(".").reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

function parseIPv6(text: string): IpAddress | undefined {
  if (!text.includes(":")) return undefined;
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const groups = halves.map((half) => (half === "" ? [] : half.split(":")));
  // The last group may be an IPv4 address, which counts as two groups.
  const last = groups.at(-1)!;
  if (last.at(-1)?.includes(".") === true) {
    const embedded = last.pop()!;
    if (!IPV4.test(embedded)) return undefined;
    const bits = ipv4Bits(embedded);
    last.push((bits >> 16n).toString(16), (bits & 0xffffn).toString(16));
  }
  const all = groups.flat();
  if (!all.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  const missing = 8 - all.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const filled = halves.length === 1 ? all : [...groups[0]!, ...Array<string>(missing).fill("0"), ...groups[1]!];
  return { family: 6, bits: filled.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n) };
}

/** Whether an IPv6 address stands for an IPv4 address: `::ffff:10.0.0.1`. */
export function isIPv4Mapped({ family, bits }: IpAddress): boolean {
  return family === 6 && bits >> 32n === 0xffffn;
}

/** Returns the canonical form of RFC 5952. */
export function formatIpAddress({ family, bits }: IpAddress): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => Number((bits >> BigInt(112 - 16 * index)) & 0xffffn));
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let end = start;
    while (end < 8 && groups[end] === 0) end++;
    if (end - start > best.length) best = { start, length: end - start };
  }
  const text = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(":");
  if (best.start < 0) return text(groups);
  return `${text(groups.slice(0, best.start))}::${text(groups.slice(best.start + best.length))}`;
}

/** Which machines an address reaches. `global` includes private networks. Upstream: the methods of Go's `netip.Addr`. */
export type IpAddressScope =
  "unspecified" | "loopback" | "link-local" | "link-local-multicast" | "multicast" | "broadcast" | "global";

export function ipAddressScope({ family, bits }: IpAddress): IpAddressScope {
  const isLong = family === 6;
  const highest = (count: number): number => Number(bits >> BigInt(bitWidth(family) - count));
  if (bits === 0n) return "unspecified";
  if (isLong ? bits === 1n : highest(8) === 127) return "loopback";
  if (isLong ? highest(10) === 0x3fa : highest(16) === 0xa9fe) return "link-local";
  if (isLong ? (highest(16) & 0xff0f) === 0xff02 : highest(24) === 0xe00000) return "link-local-multicast";
  if (isLong ? highest(8) === 0xff : highest(4) === 0xe) return "multicast";
  return !isLong && bits === 0xffffffffn ? "broadcast" : "global";
}

/** A CIDR block. The address keeps its host bits. */
export interface Cidr {
  readonly address: IpAddress;
  readonly prefix: number;
}

/** Parses a CIDR; `undefined` when invalid. Upstream: `netip.ParsePrefix`. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.lastIndexOf("/");
  if (slash < 0) return undefined;
  const address = parseIpAddress(text.slice(0, slash));
  const digits = text.slice(slash + 1);
  if (address === undefined || !/^(0|[1-9]\d{0,2})$/.test(digits)) return undefined;
  const prefix = Number(digits);
  return prefix > bitWidth(address.family) ? undefined : { address, prefix };
}

function bitWidth(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

/** Returns the block with its host bits set to zero. */
export function maskedCidr({ address, prefix }: Cidr): Cidr {
  const rest = BigInt(bitWidth(address.family) - prefix);
  return { address: { ...address, bits: (address.bits >> rest) << rest }, prefix };
}

export function cidrContains(cidr: Cidr, address: IpAddress): boolean {
  if (cidr.address.family !== address.family) return false;
  const rest = BigInt(bitWidth(address.family) - cidr.prefix);
  return cidr.address.bits >> rest === address.bits >> rest;
}

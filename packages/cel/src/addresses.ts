/** An IP address of 32 or 128 bits. */
export interface Address {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

/**
 * Parses an address strictly: no leading zeros, no zone, no IPv4-mapped IPv6 address. `undefined` when invalid.
 * Upstream: `library.parseIPAddr`.
 */
export function parseAddress(text: string): Address | undefined {
  return text.includes(":") ? parseIPv6(text) : parseIPv4(text);
}

function parseIPv4(text: string): Address | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return undefined;
  return { family: 4, bits: parts.reduce((bits, part) => (bits << 8n) | BigInt(part), 0n) };
}

function parseIPv6(text: string): Address | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const groups = halves.map((half) => (half === "" ? [] : half.split(":")));
  // The last group may be an IPv4 address, which counts as two groups.
  const last = groups.at(-1)!;
  if (last.at(-1)?.includes(".") === true) {
    const embedded = parseIPv4(last.pop()!);
    if (embedded === undefined) return undefined;
    last.push((embedded.bits >> 16n).toString(16), (embedded.bits & 0xffffn).toString(16));
  }
  const all = groups.flat();
  if (!all.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  const missing = 8 - all.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const filled = halves.length === 1 ? all : [...groups[0]!, ...Array<string>(missing).fill("0"), ...groups[1]!];
  const bits = filled.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
  // Upstream refuses IPv4-mapped IPv6 addresses.
  return bits >> 32n === 0xffffn ? undefined : { family: 6, bits };
}

/** Returns the canonical form of RFC 5952. */
export function formatAddress({ family, bits }: Address): string {
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

/** A CIDR block. The address keeps its host bits. */
export interface Cidr {
  readonly address: Address;
  readonly prefix: number;
}

/** Parses a CIDR; `undefined` when invalid. Upstream: `netip.ParsePrefix`. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.lastIndexOf("/");
  if (slash < 0) return undefined;
  const address = parseAddress(text.slice(0, slash));
  const digits = text.slice(slash + 1);
  if (address === undefined || !/^(0|[1-9]\d{0,2})$/.test(digits)) return undefined;
  const prefix = Number(digits);
  return prefix > bitWidth(address.family) ? undefined : { address, prefix };
}

export function bitWidth(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

/** Returns the block with its host bits set to zero. */
export function masked({ address, prefix }: Cidr): Cidr {
  const rest = BigInt(bitWidth(address.family) - prefix);
  return { address: { ...address, bits: (address.bits >> rest) << rest }, prefix };
}

export function containsAddress(cidr: Cidr, address: Address): boolean {
  if (cidr.address.family !== address.family) return false;
  const rest = BigInt(bitWidth(address.family) - cidr.prefix);
  return cidr.address.bits >> rest === address.bits >> rest;
}

/** A semantic version. Upstream: `github.com/blang/semver/v4`. */
export interface Version {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly prerelease: readonly string[];
  readonly text: string;
}

const NUMBER = "(0|[1-9]\\d{0,18})";
const SYNTAX = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-([0-9A-Za-z.-]+))?(?:\\+([0-9A-Za-z.-]+))?$`);

/**
 * Parses a semantic version; `undefined` when invalid.
 *
 * @param normalize - Also accepts `v1.0` and `01.2.3`.
 */
export function parseVersion(text: string, normalize = false): Version | undefined {
  const match = SYNTAX.exec(normalize ? normalized(text) : text);
  if (match === null) return undefined;
  const [, major, minor, patch, prerelease, build] = match;
  const parts = prerelease?.split(".") ?? [];
  if (parts.some((part) => part === "" || /^0\d+$/.test(part)) || build?.split(".").includes("") === true)
    return undefined;
  return { major: BigInt(major!), minor: BigInt(minor!), patch: BigInt(patch!), prerelease: parts, text };
}

/** Removes a leading `v` and leading zeros, and adds missing numbers. Upstream: `library.normalizeAndParse`. */
function normalized(text: string): string {
  const [, numbers, rest] = /^v?([^+-]*)(.*)$/s.exec(text) as unknown as [string, string, string];
  const parts = numbers.split(".").map((part) => part.replace(/^0+(?=\d)/, ""));
  while (parts.length < 3) parts.push("0");
  return parts.join(".") + rest;
}

/** Compares two versions: negative, zero or positive. */
export function compareVersions(a: Version, b: Version): number {
  for (const part of ["major", "minor", "patch"] as const) if (a[part] !== b[part]) return a[part] < b[part] ? -1 : 1;
  if (a.prerelease.length === 0 || b.prerelease.length === 0)
    return Math.sign(b.prerelease.length - a.prerelease.length);
  const shorter = Math.min(a.prerelease.length, b.prerelease.length);
  for (let index = 0; index < shorter; index++) {
    const order = comparePart(a.prerelease[index]!, b.prerelease[index]!);
    if (order !== 0) return order;
  }
  return Math.sign(a.prerelease.length - b.prerelease.length);
}

/** Compares two prerelease parts. Numeric parts come before alphanumeric parts. */
function comparePart(a: string, b: string): number {
  const [left, right] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (left && right) return BigInt(a) === BigInt(b) ? 0 : BigInt(a) < BigInt(b) ? -1 : 1;
  if (left !== right) return left ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}

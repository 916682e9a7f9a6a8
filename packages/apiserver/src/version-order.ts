const TYPES = ["alpha", "beta", ""];

/**
 * Compares versions for sorting, preferred one first: stable versions by number, then betas, then alphas, then all
 * other names. Upstream: apimachinery `version.CompareKubeAwareVersionStrings`.
 */
export function comparePreference(a: string, b: string): number {
  const [one, other] = [read(a), read(b)];
  if (one === undefined || other === undefined)
    return one === other ? (a < b ? -1 : a > b ? 1 : 0) : one === undefined ? 1 : -1;
  return other.type - one.type || other.major - one.major || other.minor - one.minor;
}

/** Parses a version such as `v2beta1`. */
function read(version: string): { type: number; major: number; minor: number } | undefined {
  const [, major, type = "", minor = "0"] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  return major === undefined ? undefined : { type: TYPES.indexOf(type), major: Number(major), minor: Number(minor) };
}

const TYPES = ["alpha", "beta", ""];

/**
 * For sorting versions, the one to be preferred first: stable ones by their number, then betas, then alphas, then all that are
 * named otherwise. Upstream: apimachinery `version.CompareKubeAwareVersionStrings`.
 */
export function comparePreference(a: string, b: string): number {
  const [one, other] = [read(a), read(b)];
  if (one === undefined || other === undefined)
    return one === other ? (a < b ? -1 : a > b ? 1 : 0) : one === undefined ? 1 : -1;
  return other.type - one.type || other.major - one.major || other.minor - one.minor;
}

/** `v2beta1` and the like. */
function read(version: string): { type: number; major: number; minor: number } | undefined {
  const [, major, type = "", minor = "0"] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  return major === undefined ? undefined : { type: TYPES.indexOf(type), major: Number(major), minor: Number(minor) };
}

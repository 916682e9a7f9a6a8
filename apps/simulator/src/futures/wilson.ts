/** A share of what was tried, and between which bounds the true one lies with 95 % confidence. All from 0 to 1. */
export interface Share {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** The 97.5th percentile of the normal distribution. */
const Z = 1.959963984540054;

/**
 * Wilson's score interval: right for shares near 0 and 1, and for few trials, where the usual `±` is not.
 *
 * @returns `undefined` when nothing was tried.
 * @see E. B. Wilson, Probable inference, the law of succession, and statistical inference (1927)
 */
export function wilson(hits: number, trials: number): Share | undefined {
  if (trials === 0) return undefined;
  const share = hits / trials;
  const z2 = (Z * Z) / trials;
  const centre = (share + z2 / 2) / (1 + z2);
  const half = (Z * Math.sqrt((share * (1 - share)) / trials + z2 / (4 * trials))) / (1 + z2);
  // At the ends the bound is the end itself, which rounding misses.
  return { share, low: hits === 0 ? 0 : centre - half, high: hits === trials ? 1 : centre + half };
}

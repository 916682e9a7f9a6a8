/** A share of trials, with the bounds of its 95 % confidence interval. All from 0 to 1. */
export interface Share {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** The 97.5th percentile of the normal distribution. */
const Z = 1.959963984540054;

/**
 * Computes Wilson's score interval. It is accurate for shares near 0 and 1 and for few trials, unlike the usual `±`.
 *
 * @returns `undefined` when there were no trials.
 * @see E. B. Wilson, Probable inference, the law of succession, and statistical inference (1927)
 */
export function wilson(hits: number, trials: number): Share | undefined {
  if (trials === 0) return undefined;
  const share = hits / trials;
  const z2 = (Z * Z) / trials;
  const centre = (share + z2 / 2) / (1 + z2);
  const half = (Z * Math.sqrt((share * (1 - share)) / trials + z2 / (4 * trials))) / (1 + z2);
  // At 0 and 1 the bound is exact; the formula has a rounding error.
  return { share, low: hits === 0 ? 0 : centre - half, high: hits === trials ? 1 : centre + half };
}

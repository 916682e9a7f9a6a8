const SYNTAX = /^([+-]?)(\d*)(?:\.(\d*))?(?:(Ki|Mi|Gi|Ti|Pi|Ei)|([numkMGTPE])|[eE]([+-]?\d{1,3}))?$/;

const BINARY_POWERS: Readonly<Record<string, bigint>> = { Ki: 1n, Mi: 2n, Gi: 3n, Ti: 4n, Pi: 5n, Ei: 6n };
const DECIMAL_POWERS: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

/**
 * Converts a Kubernetes quantity, such as `2`, `100m`, `1.5Gi` or `1e3`, to whole multiples of 10^`exponent`, rounded
 * up as the scheduler does. Values beyond 2^53 multiples lose precision.
 *
 * Upstream: apimachinery `resource.Quantity.ScaledValue`.
 *
 * @param exponent - 0 for bytes and counts, -3 for CPUs.
 * @throws Error that names the text, when it is not a quantity.
 */
export function scaledQuantity(text: string, exponent: number): number {
  const match = SYNTAX.exec(text);
  const [, sign, whole = "", fraction = "", binary, decimal, power] = match ?? [];
  if (match === null || whole + fraction === "") throw new Error(`${JSON.stringify(text)} is not a quantity`);
  let amount = BigInt(whole + fraction);
  if (binary !== undefined) amount *= 1024n ** BINARY_POWERS[binary]!;
  const tens = (decimal === undefined ? Number(power ?? 0) : DECIMAL_POWERS[decimal]!) - fraction.length - exponent;
  if (sign === "-") amount = -amount;
  return Number(tens >= 0 ? amount * 10n ** BigInt(tens) : divideUp(amount, 10n ** BigInt(-tens)));
}

function divideUp(amount: bigint, divisor: bigint): bigint {
  const quotient = amount / divisor;
  return amount > 0n && amount % divisor !== 0n ? quotient + 1n : quotient;
}

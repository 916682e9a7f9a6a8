const DECIMAL = /^[+-]?[0-9]+$/;

/** A number of this length fits into 64 bits with any digits. */
const SURE_LENGTH = 18;

/**
 * Parses an integer as Go's `strconv.Atoi`: ASCII digits, an optional sign, leading zeros allowed. A number beyond 2^53
 * is rounded.
 *
 * @returns `undefined` for any other text, and for a number that does not fit into 64 bits.
 */
export function parseDecimal(text: string): number | undefined {
  if (!DECIMAL.test(text)) return undefined;
  if (text.length > SURE_LENGTH && !fitsInto64Bits(BigInt(text.replace("+", "")))) return undefined;
  // Converts minus zero to zero.
  return Number(text) + 0;
}

function fitsInto64Bits(number: bigint): boolean {
  return BigInt.asIntN(64, number) === number;
}

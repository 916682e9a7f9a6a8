const DECIMAL = /^[+-]?[0-9]+$/;

/** This long a text fits into 64 bits, whatever its digits. */
const SURE_LENGTH = 18;

/**
 * A whole number as Go's `strconv.Atoi` reads it: ASCII digits, with a sign or none, leading zeros or none, and nothing
 * else. Beyond 2^53 it is rounded.
 *
 * @returns `undefined` for any other text, and for a number that does not fit into 64 bits.
 */
export function parseDecimal(text: string): number | undefined {
  if (!DECIMAL.test(text)) return undefined;
  if (text.length > SURE_LENGTH && !fitsInto64Bits(BigInt(text.replace("+", "")))) return undefined;
  // Minus zero is zero.
  return Number(text) + 0;
}

function fitsInto64Bits(number: bigint): boolean {
  return BigInt.asIntN(64, number) === number;
}

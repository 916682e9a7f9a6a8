/** Error message for a malformed quantity. Upstream: `resource.ErrFormatWrong`. */
export const QUANTITY_FORMAT_ERROR =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const NANO = 1_000_000_000n;
/** Maximum amount; larger amounts are reduced to it. Upstream: `maxAllowed`. */
const MAX_NANOS = (2n ** 63n - 1n) * NANO;
const MAX_EXPONENT = 1000;
/**
 * Maximum number of relevant digits. With more digits before the point the amount is too large for any exponent; more
 * digits behind it are too small to matter.
 */
const MAX_DIGITS = MAX_EXPONENT + 30;
const SYNTAX = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:(Ki|Mi|Gi|Ti|Pi|Ei)|([numkMGTPE])|[eE]([+-]?\d+))?$/;

/** An amount in exact billionths, and the suffix family of its text. */
export interface Quantity {
  readonly nanos: bigint;
  readonly format: "BinarySI" | "DecimalSI" | "DecimalExponent";
}

/**
 * Parses a quantity such as `100m` or `1.5Gi`; `undefined` when malformed. Rounds fractions of a billionth away from
 * zero, and limits the amount to 2^63-1.
 */
export function parseQuantity(text: string): Quantity | undefined {
  const match = SYNTAX.exec(text);
  if (match === null) return undefined;
  const [, sign, digits = "", fraction = "", onlyFraction, binary, decimal, exponent] = match;
  const whole = truncateDigits(digits.replace(/^0+/, ""));
  const decimals = truncateDigits(onlyFraction ?? fraction);
  let scaled = BigInt(`${whole}${decimals}` || "0");
  let power = -decimals.length + 9;
  let format: Quantity["format"] = "DecimalSI";
  if (binary !== undefined) {
    format = "BinarySI";
    scaled *= 1024n ** BigInt(BINARY.indexOf(binary));
  } else if (decimal !== undefined) {
    power += (DECIMAL.indexOf(decimal) - 3) * 3;
  } else if (exponent !== undefined) {
    format = "DecimalExponent";
    const parsed = Number(exponent);
    if (Math.abs(parsed) > MAX_EXPONENT) return undefined;
    power += parsed;
  }
  const exact = power >= 0 ? scaled * 10n ** BigInt(power) : divideUp(scaled, 10n ** BigInt(-power));
  const nanos = exact > MAX_NANOS ? MAX_NANOS : exact;
  return { nanos: sign === "-" ? -nanos : nanos, format };
}

/**
 * Returns a quantity in whole multiples of 10^`exponent`, rounded up; `undefined` when malformed. Values beyond 2^53
 * multiples lose precision. Upstream: `Quantity.ScaledValue`.
 *
 * @param exponent - From -9: 0 for bytes and counts, -3 for thousandths of a CPU.
 */
export function scaledQuantity(text: string, exponent: number): number | undefined {
  const nanos = parseQuantity(text)?.nanos;
  if (nanos === undefined) return undefined;
  const unit = 10n ** BigInt(9 + exponent);
  return Number(nanos > 0n ? divideUp(nanos, unit) : nanos / unit);
}

/**
 * Returns the relevant digits, and one digit for all others. BigInt arithmetic takes more than linear time in the
 * number of digits.
 */
function truncateDigits(digits: string): string {
  if (digits.length <= MAX_DIGITS) return digits;
  return digits.slice(0, MAX_DIGITS) + (/[1-9]/.test(digits.slice(MAX_DIGITS)) ? "1" : "0");
}

/**
 * Formats the canonical text of an amount: the largest suffix that leaves an integer. Upstream:
 * `Quantity.CanonicalizeBytes`.
 */
export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return "0";
  if (format === "BinarySI" && (nanos >= 1024n * NANO || nanos <= -1024n * NANO)) {
    let amount = nanos < 0n ? -divideUp(-nanos, NANO) : divideUp(nanos, NANO);
    let suffix = 0;
    while (amount % 1024n === 0n && suffix < BINARY.length - 1) {
      amount /= 1024n;
      suffix++;
    }
    return `${amount}${BINARY[suffix]}`;
  }
  let amount = nanos;
  let suffix = 0;
  while (amount % 1000n === 0n && suffix < DECIMAL.length - 1) {
    amount /= 1000n;
    suffix++;
  }
  if (format !== "DecimalExponent") return `${amount}${DECIMAL[suffix]}`;
  return suffix === 3 ? `${amount}` : `${amount}e${(suffix - 3) * 3}`;
}

/** Zero, with the format that addition replaces. */
export const ZERO_QUANTITY: Quantity = { nanos: 0n, format: "DecimalSI" };

/** Returns the sum, in the format of `a` unless `a` is zero. Upstream: `Quantity.Add`. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos + b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

/** Returns the difference, in the format of `a` unless `a` is zero. Upstream: `Quantity.Sub`. */
export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, { nanos: -b.nanos, format: b.format });
}

/** Returns the canonical text of a quantity; `undefined` when malformed. */
export function canonicalQuantity(text: string): string | undefined {
  if (isPlainlyCanonical(text)) return text;
  const quantity = parseQuantity(text);
  return quantity === undefined ? undefined : formatQuantity(quantity);
}

/** Recognizes common canonical texts without BigInt arithmetic. */
function isPlainlyCanonical(text: string): boolean {
  const match = /^([1-9]\d{0,8})(m|Ki|Mi|Gi)?$/.exec(text);
  if (match === null) return false;
  const amount = Number(match[1]);
  const suffix = match[2];
  return suffix === undefined || suffix === "m" ? amount % 1000 !== 0 : amount % 1024 !== 0;
}

function divideUp(amount: bigint, by: bigint): bigint {
  return (amount + by - 1n) / by;
}

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["\u00b5s", 1_000n], // the micro sign
  ["\u03bcs", 1_000n], // the Greek letter mu
  ["ms", 1_000_000n],
  ["s", 1_000_000_000n],
  ["m", 60_000_000_000n],
  ["h", 3_600_000_000_000n],
]);

/** Durations are signed 64-bit nanoseconds: about ±292 years. */
const LIMIT = 1n << 63n;
/** The number of digits of the limit. Longer texts are not converted, which takes more than linear time. */
const MAX_DIGITS = 19;

/**
 * Parses a Go duration such as `1h30m`, `-1.5s` or `300ms`. Units are h, m, s, ms, us (µs) and ns.
 *
 * @returns Nanoseconds.
 * @throws SyntaxError with Go's message.
 * @see go src/time/format.go ParseDuration
 */
export function parseGoDuration(text: string): bigint {
  const invalid = () => new SyntaxError(`time: invalid duration ${quoteBytes(text)}`);
  const negative = text.startsWith("-");
  let rest = negative || text.startsWith("+") ? text.slice(1) : text;
  if (rest === "0") return 0n;
  if (rest === "") throw invalid();

  let total = 0n;
  while (rest !== "") {
    const [number, whole = "", fraction = ""] = /^0*(\d*)(?:\.(\d*))?/.exec(rest)!;
    if (number === "" || number === "." || whole.length > MAX_DIGITS || BigInt(whole) > LIMIT) throw invalid();
    const unitName = /^[^.\d]*/.exec((rest = rest.slice(number.length)))![0];
    if (unitName === "") throw new SyntaxError(`time: missing unit in duration ${quoteBytes(text)}`);
    const unit = UNITS.get(unitName);
    if (unit === undefined)
      throw new SyntaxError(`time: unknown unit ${quoteBytes(unitName)} in duration ${quoteBytes(text)}`);
    rest = rest.slice(unitName.length);
    total += BigInt(whole) * unit + fractionOf(fraction, unit);
    if (total > LIMIT) throw invalid();
  }
  if (negative) return -total;
  if (total === LIMIT) throw invalid();
  return total;
}

/** Parses a Go duration to nanoseconds; `undefined` when malformed. */
export function tryParseGoDuration(text: string): bigint | undefined {
  try {
    return parseGoDuration(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses a Go duration to milliseconds: exact up to 104 days, and to the microsecond up to 292 years. @throws
 * SyntaxError with Go's message.
 */
export function parseGoDurationMs(text: string): number {
  return Number(parseGoDuration(text)) / 1_000_000;
}

/**
 * Returns `0.fraction` units in whole nanoseconds, truncated. Uses floating point like upstream, because rounding
 * affects the result.
 */
function fractionOf(fraction: string, unit: bigint): bigint {
  let value = 0n;
  let scale = 1;
  for (const digit of fraction) {
    const next = value * 10n + BigInt(digit);
    if (next > LIMIT) break;
    value = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(value) * (Number(unit) / scale)));
}

/**
 * Quotes a text like Go's time package: everything except printable ASCII becomes the hexadecimal bytes of its UTF-8.
 */
function quoteBytes(text: string): string {
  let quoted = '"';
  for (const character of text) {
    if (character === '"' || character === "\\") quoted += `\\${character}`;
    else if (character >= " " && character < "\x80") quoted += character;
    else for (const byte of new TextEncoder().encode(character)) quoted += `\\x${byte.toString(16).padStart(2, "0")}`;
  }
  return `${quoted}"`;
}

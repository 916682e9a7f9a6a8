const DASH = 45;
const T = 84;
const COLON = 58;
const Z = 90;

/** The character code of the tens digit of a two-digit number. */
function tensDigit(number: number): number {
  return 48 + ((number / 10) | 0);
}

function onesDigit(number: number): number {
  return 48 + (number % 10);
}

/** Formats epoch milliseconds as `metav1.Time`: RFC 3339 in UTC, truncated to whole seconds. */
export function formatTime(epochMs: number): string {
  const date = new Date(epochMs);
  const year = date.getUTCFullYear();
  if (!(year >= 1000 && year <= 9999)) {
    const text = date.toISOString();
    return `${text.slice(0, text.length - 5)}Z`;
  }
  const century = (year / 100) | 0;
  const yearOfCentury = year % 100;
  const month = date.getUTCMonth() + 1;
  const day = date.getUTCDate();
  const hour = date.getUTCHours();
  const minute = date.getUTCMinutes();
  const second = date.getUTCSeconds();
  // Takes a quarter of the time of `toISOString`, and creates a flat string. Objects have many times.
  // prettier-ignore
  return String.fromCharCode(
    tensDigit(century), onesDigit(century), tensDigit(yearOfCentury), onesDigit(yearOfCentury), DASH,
    tensDigit(month), onesDigit(month), DASH, tensDigit(day), onesDigit(day), T,
    tensDigit(hour), onesDigit(hour), COLON, tensDigit(minute), onesDigit(minute), COLON, tensDigit(second), onesDigit(second), Z,
  );
}

/** Formats epoch milliseconds as `metav1.MicroTime`: RFC 3339 in UTC with exactly six fractional digits. */
export function formatMicroTime(epochMs: number): string {
  const wholeMs = Math.floor(epochMs);
  const micros = Math.floor((epochMs - wholeMs) * 1000);
  const fraction = (wholeMs - Math.floor(wholeMs / 1000) * 1000) * 1000 + micros;
  return `${formatTime(wholeMs).slice(0, -1)}.${String(fraction).padStart(6, "0")}Z`;
}

/** A time as the API writes it, on a day that every month has. */
const COMMON_TIME = /^[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

/** Parses a two-digit number at an index. */
function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
}

/** Parses an API time. Returns epoch milliseconds, or `undefined` for an absent or invalid time. */
export function parseTime(time: string | null | undefined): number | undefined {
  if (!time) return undefined;
  const epochMs = COMMON_TIME.test(time)
    ? Date.UTC(
        twoDigits(time, 0) * 100 + twoDigits(time, 2),
        twoDigits(time, 5) - 1,
        twoDigits(time, 8),
        twoDigits(time, 11),
        twoDigits(time, 14),
        twoDigits(time, 17),
      )
    : Date.parse(time);
  return Number.isNaN(epochMs) ? undefined : epochMs;
}

/**
 * Compares two times of API objects: negative if the first is earlier, 0 if they are equal. An absent time comes last.
 * Compares the texts, which is correct for `metav1.Time` (UTC with whole seconds).
 */
export function compareTimes(a: string | null | undefined, b: string | null | undefined): number {
  if (!a || !b) return (a ? 0 : 1) - (b ? 0 : 1);
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The largest number of whole seconds that 64-bit nanoseconds can hold. */
const MAX_EXACT_SECONDS = 9_223_372_036;

/**
 * Converts whole seconds to milliseconds with the overflow of the upstream controllers. Go's `time.Duration` counts
 * nanoseconds in 64 bits and wraps around. Beyond ±9,223,372,036 s the result is therefore a different duration, of
 * either sign. For fields that can hold any int64. Numbers beyond 2^53 are rounded first, as in JSON.
 */
export function secondsAsDurationMs(seconds: number): number {
  if (Math.abs(seconds) <= MAX_EXACT_SECONDS) return seconds * 1000;
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n)) / 1_000_000;
}

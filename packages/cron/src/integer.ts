import { goQuote } from "./go-quote.js";
import { ScheduleError } from "./schedule-error.js";

/**
 * Parses a non-negative decimal integer of at most 63 bits. Accepts leading zeros and a leading `+`.
 *
 * Returns a bigint, because error messages repeat numbers that a JavaScript number cannot hold.
 *
 * @throws {@link ScheduleError} with Go's message (strconv.Atoi).
 */
export function parseInteger(text: string): bigint {
  const negative = text.startsWith("-");
  const digits = negative || text.startsWith("+") ? text.slice(1) : text;
  const value = parseDigits(digits, text);
  if (value > (negative ? 1n << 63n : (1n << 63n) - 1n)) throw notAnInteger(text, "value out of range");
  if (negative && value > 0n) throw new ScheduleError(`negative number (-${value}) not allowed: ${text}`);
  return value;
}

function parseDigits(digits: string, text: string): bigint {
  if (digits === "") throw notAnInteger(text, "invalid syntax");
  let value = 0n;
  for (const digit of digits) {
    if (digit < "0" || digit > "9") throw notAnInteger(text, "invalid syntax");
    value = value * 10n + BigInt(digit);
    // As in Go, digits after the one that overflows 64 bits are not checked.
    if (value >= 1n << 64n) throw notAnInteger(text, "value out of range");
  }
  return value;
}

function notAnInteger(text: string, problem: string): ScheduleError {
  return new ScheduleError(`failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: ${problem}`);
}

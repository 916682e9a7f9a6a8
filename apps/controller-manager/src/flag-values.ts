import { parseGoDurationMs } from "@kubewright/cron";

/** Wrong usage: one line for the user, exit status 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/**
 * Parses one value of a flag.
 *
 * @throws UsageError with the message of Go's flag packages.
 */
export type ParseValue<T> = (flag: string, text: string) => T;

export const parseInt32: ParseValue<number> = (flag, text) => {
  if (!/^[+-]?\d+$/.test(text))
    throw invalid(flag, text, `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  const value = Number(text);
  if (value > 2 ** 31 - 1 || value < -(2 ** 31)) {
    throw invalid(flag, text, `strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
  }
  return value;
};

export const parseFloat32: ParseValue<number> = (flag, text) => {
  const value = /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value))
    throw invalid(flag, text, `strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`);
  return value;
};

export const parseBool: ParseValue<boolean> = (flag, text) => {
  if (["1", "t", "T", "TRUE", "true", "True"].includes(text)) return true;
  if (["0", "f", "F", "FALSE", "false", "False"].includes(text)) return false;
  throw invalid(flag, text, `strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`);
};

/** The level of `-v`: 0 to 2,147,483,647. */
export const parseVerbosity: ParseValue<number> = (flag, text) => {
  if (!/^\d+$/.test(text) || Number(text) > 2 ** 31 - 1) {
    throw invalid(flag, text, `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  return Number(text);
};

/** A duration in Go's form (`1h30m`, `300ms`, `0`), in milliseconds. */
export const parseDurationMs: ParseValue<number> = (flag, text) => {
  try {
    return parseGoDurationMs(text);
  } catch (error) {
    throw invalid(flag, text, (error as SyntaxError).message);
  }
};

/** Formats a duration as Go does: `12h0m0s`, `1m30s`, `500ms`, `0s`. Takes whole milliseconds. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 0) return `-${formatDuration(-durationMs)}`;
  if (durationMs > 0 && durationMs < 1_000) return `${durationMs}ms`;
  const hours = Math.floor(durationMs / 3_600_000);
  const minutes = Math.floor(durationMs / 60_000) % 60;
  const seconds = `${(durationMs % 60_000) / 1_000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

/** Splits at commas; an empty value is an empty list. Does not trim white space. */
export function splitList(text: string): string[] {
  return text === "" ? [] : text.split(",");
}

function invalid(flag: string, text: string, reason: string): UsageError {
  return new UsageError(`invalid argument ${JSON.stringify(text)} for ${JSON.stringify(flag)} flag: ${reason}`);
}

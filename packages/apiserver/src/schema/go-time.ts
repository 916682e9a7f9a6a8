/** The part of Go's `time.Parse` that RFC 3339 needs: Go's errors name the position and the expected element. */

export interface ParsedTime {
  /** Whole seconds, in milliseconds. */
  readonly epochMs: number;
  /** The six digits of a micro-time with their point; `""` without digits. */
  readonly fraction: string;
}

const LAYOUTS = { 0: "2006-01-02T15:04:05Z07:00", 6: "2006-01-02T15:04:05.000000Z07:00" } as const;
const ELEMENTS = ["2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05", ".000000", "Z07:00"] as const;
const PATTERNS: Readonly<Record<(typeof ELEMENTS)[number], RegExp>> = {
  "2006": /^\d{4}/,
  "-": /^-/,
  "01": /^\d\d/,
  "02": /^\d\d/,
  T: /^T/,
  "15": /^\d\d?/,
  ":": /^:/,
  "04": /^\d\d/,
  "05": /^\d\d/,
  ".000000": /^[.,]\d{6}/,
  "Z07:00": /^(?:Z|[+-]\d\d:\d\d)/,
};
const RANGES: Readonly<Record<string, readonly [min: number, max: number, unit: string]>> = {
  "01": [1, 12, "month"],
  "15": [0, 23, "hour"],
  "04": [0, 59, "minute"],
  "05": [0, 59, "second"],
};

/**
 * Parses a time.
 *
 * @param digits - Digits of the fraction: exactly six; or 0 for any number of digits, which are dropped.
 */
export function parseGoTime(text: string, digits: 0 | 6): ParsedTime | { readonly error: string } {
  const shown = JSON.stringify(text);
  const found = new Map<string, string>();
  let rest = text;
  for (const element of ELEMENTS) {
    if (element === ".000000" && digits === 0) {
      rest = rest.replace(/^[.,]\d+/, "");
      continue;
    }
    const [part] = PATTERNS[element].exec(rest) ?? [];
    if (part === undefined)
      return {
        error: `parsing time ${shown} as "${LAYOUTS[digits]}": cannot parse ${JSON.stringify(rest)} as "${element}"`,
      };
    const [min, max, unit] = RANGES[element] ?? [];
    if (min !== undefined && (Number(part) < min || Number(part) > max!))
      return { error: `parsing time ${shown}: ${unit} out of range` };
    found.set(element, part);
    rest = rest.slice(part.length);
  }
  if (rest !== "") return { error: `parsing time ${shown}: extra text: ${JSON.stringify(rest)}` };
  const part = (element: (typeof ELEMENTS)[number]): string => found.get(element)!;
  const day = `${part("2006")}-${part("01")}-${part("02")}`;
  // JavaScript accepts a day beyond the end of the month as a day of the next month; Go refuses it.
  const epochMs = Date.parse(`${day}T${part("15").padStart(2, "0")}:${part("04")}:${part("05")}Z`);
  if (Number.isNaN(epochMs) || new Date(epochMs).toISOString().slice(8, 10) !== part("02"))
    return { error: `parsing time ${shown}: day out of range` };
  return { epochMs: epochMs - offsetMs(part("Z07:00")), fraction: (found.get(".000000") ?? "").replace(",", ".") };
}

function offsetMs(zone: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(zone) ?? [];
  const ms = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  return sign === "-" ? -ms : ms;
}

/** Result of {@link plainScalar}; text without another meaning stays text. */
export type ScalarValue = string | number | boolean | null;

const WORDS: ReadonlyMap<string, ScalarValue> = new Map<string, ScalarValue>([
  ...["", "~", "null", "Null", "NULL"].map((word) => [word, null] as const),
  ...["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"].map((word) => [word, true] as const),
  ...["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"].map((word) => [word, false] as const),
  ...[".nan", ".NaN", ".NAN"].map((word) => [word, Number.NaN] as const),
  ...["", "+"].flatMap((sign) =>
    [".inf", ".Inf", ".INF"].map((word) => [`${sign}${word}`, Number.POSITIVE_INFINITY] as const),
  ),
  ...["-.inf", "-.Inf", "-.INF"].map((word) => [word, Number.NEGATIVE_INFINITY] as const),
]);

const DECIMAL = /^[-+]?(?:0|[1-9][0-9]*)$/;
const OCTAL = /^([-+]?)0[oO]?([0-7]+)$/;
const HEXADECIMAL = /^([-+]?)0[xX]([0-9a-fA-F]+)$/;
const BINARY = /^([-+]?)0[bB]([01]+)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const DOT_FLOAT = /^\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?$/;

const MIN_INTEGER = -(2n ** 63n);
const MAX_INTEGER = 2n ** 64n - 1n;

/**
 * Returns the value of a plain scalar as kubectl reads it: YAML 1.1 of gopkg.in/yaml.v2 (`resolve.go`), with Go's
 * integers. `yes` is true, `010` and `0o10` are eight, `1_000` is a thousand; `1:30` and dates are text.
 */
export function plainScalar(text: string): ScalarValue {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (text.startsWith(".")) return DOT_FLOAT.test(text) ? finite(text, text.replaceAll("_", "")) : text;
  if (!/^[-+0-9]/.test(text)) return text;
  const digits = text.replaceAll("_", "");
  return integer(digits) ?? (FLOAT.test(digits) ? finite(text, digits) : text);
}

/** Whether the scalar is an integer. */
export function isInteger(text: string): boolean {
  return integer(text.replaceAll("_", "")) !== undefined;
}

function integer(text: string): number | undefined {
  let value: bigint;
  if (DECIMAL.test(text)) value = BigInt(text.replace("+", ""));
  else {
    const [prefix, match] =
      (
        [
          ["0o", OCTAL.exec(text)],
          ["0x", HEXADECIMAL.exec(text)],
          ["0b", BINARY.exec(text)],
        ] as const
      ).find(([, found]) => found !== null) ?? [];
    if (match === undefined || match === null) return undefined;
    value = BigInt(`${prefix}${match[2]}`) * (match[1] === "-" ? -1n : 1n);
  }
  // Only a number without a sign may be as large as an unsigned integer.
  const max = text.startsWith("+") ? 2n ** 63n - 1n : MAX_INTEGER;
  return value >= MIN_INTEGER && value <= max ? Number(value) : undefined;
}

/** Returns the text when the number is too large for Go's float64. */
function finite(text: string, digits: string): number | string {
  const value = Number(digits);
  // Adding 0 converts negative zero to zero.
  return Number.isFinite(value) ? value + 0 : text;
}

import { dnsLabelErrors, dnsSubdomainErrors, ipFamily } from "@kubewright/api/validation";
import { tryParseGoDuration } from "@kubewright/cron";

/**
 * The string formats of schemas. Upstream: kube-openapi `validation/strfmt` and the patterns of govalidator behind it.
 */
const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map<string, (text: string) => boolean>([
  ["bsonobjectid", matching(/^[0-9a-fA-F]{24}$/)],
  ["byte", matching(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/)],
  ["cidr", isCidr],
  ["creditcard", isCreditCard],
  ["date", isDate],
  ["datetime", isDateTime],
  ["duration", (text) => parseLooseDuration(text) !== undefined],
  ["email", isEmail],
  ["hexcolor", matching(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ["hostname", isHostname],
  ["ipv4", (text) => text.includes(".") && ipFamily(text) !== undefined],
  ["ipv6", (text) => ipFamily(text) === 6],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["k8slongname", (text) => dnsSubdomainErrors(text).length === 0],
  ["k8sshortname", (text) => dnsLabelErrors(text).length === 0],
  ["mac", isHardwareAddress],
  ["password", () => true],
  ["rgbcolor", matching(rgb())],
  ["ssn", matching(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/)],
  ["uri", isRequestUri],
  ["uuid", matching(uuid("[0-9a-f]", "[0-9a-f]"))],
  ["uuid3", matching(uuid("3", "[0-9a-f]"))],
  ["uuid4", matching(uuid("4", "[89ab]"))],
  ["uuid5", matching(uuid("5", "[89ab]"))],
]);

/** Number formats, which schemas may also use. */
const NUMBER_FORMATS: ReadonlySet<string> = new Set(["int32", "int64", "float", "double"]);

/** Whether the format is known. Schemas with an unknown format get a warning. */
export function isKnownFormat(format: string): boolean {
  return NUMBER_FORMATS.has(format) || FORMATS.has(format.replaceAll("-", ""));
}

/** Whether the text violates the format. An unknown format accepts any text. */
export function formatError(format: string, text: string): boolean {
  return FORMATS.get(format.replaceAll("-", ""))?.(text) === false;
}

function matching(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text);
}

function uuid(version: string, variant: string): RegExp {
  const digits = (count: number): string => `[0-9a-f]{${count}}`;
  return new RegExp(`^${digits(8)}-?${digits(4)}-?${version}${digits(3)}-?${variant}${digits(3)}-?${digits(12)}$`, "i");
}

function rgb(): RegExp {
  const part = "\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*";
  return new RegExp(`^rgb\\(${part},${part},${part}\\)$`);
}

export function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (match === null) return false;
  const atMs = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(atMs) && new Date(atMs).getUTCDate() === Number(match[3]);
}

function isDateTime(text: string): boolean {
  const match = /^(\d{4}-\d\d-\d\d)t(\d\d):(\d\d):(\d\d)(?:.\d+)?(?:z|[+-]\d\d:\d\d)$/i.exec(text);
  return match !== null && isDate(match[1]!) && match[2]! <= "23" && match[3]! <= "59" && match[4]! <= "59";
}

/** Time units in nanoseconds. The last name of each unit also matches as a prefix of longer words. */
const UNITS: readonly (readonly [readonly string[], bigint])[] = [
  [["ns", "nano"], 1n],
  [["us", "µs", "micro"], 1_000n],
  [["ms", "milli"], 1_000_000n],
  [["s", "sec"], 1_000_000_000n],
  [["m", "min"], 60_000_000_000n],
  [["h", "hr", "hour"], 3_600_000_000_000n],
  [["d", "day"], 86_400_000_000_000n],
  [["w", "wk", "week"], 604_800_000_000_000n],
];

/**
 * Returns the nanoseconds of `2h45m`, `-1.5s`, `3 days` or `P1D`; `undefined` when the text contains no duration.
 * Upstream: `strfmt.ParseDuration`.
 */
export function parseLooseDuration(text: string): bigint | undefined {
  const exact = tryParseGoDuration(text);
  if (exact !== undefined) return exact;
  let nanos: bigint | undefined;
  for (const [, count, word] of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    if (count!.length > 18) return undefined;
    const unit = word!.toLowerCase();
    for (const [names, size] of UNITS)
      for (const [index, name] of names.entries())
        if (unit === name || (index === names.length - 1 && unit.startsWith(name)))
          nanos = (nanos ?? 0n) + BigInt(count!) * size;
  }
  return nanos;
}

function isCidr(text: string): boolean {
  const [address, prefix, ...more] = text.split("/");
  const family = ipFamily(address!);
  if (prefix === undefined || more.length > 0 || family === undefined || !/^\d{1,3}$/.test(prefix)) return false;
  return Number(prefix) <= (family === 6 ? 128 : 32);
}

/**
 * Whether the text has 6, 8 or 20 bytes, in pairs with colons or dashes, or in groups of four digits with dots.
 * Upstream: Go's `net.ParseMAC`.
 */
function isHardwareAddress(text: string): boolean {
  const separator = /[:-]/.exec(text)?.[0];
  if (separator !== undefined) {
    const pairs = text.split(separator);
    return [6, 8, 20].includes(pairs.length) && pairs.every((pair) => /^[0-9a-fA-F]{2}$/.test(pair));
  }
  const fours = text.split(".");
  return [3, 4, 10].includes(fours.length) && fours.every((four) => /^[0-9a-fA-F]{4}$/.test(four));
}

const HOST_NAME =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u;

function isHostname(text: string): boolean {
  return text.length <= 255 && HOST_NAME.test(text) && text.split(".").every((label) => label.length <= 63);
}

/** Whether the text is an absolute URL or an absolute path. Upstream: `govalidator.IsRequestURI`. */
function isRequestUri(text: string): boolean {
  if (/[\0-\x1f\x7f]/.test(text)) return false;
  const path = text.split("?", 1)[0]!;
  if (/%(?![0-9a-fA-F]{2})/.test(path)) return false;
  if (path.startsWith("/")) return true;
  const match = /^[a-zA-Z][a-zA-Z0-9+.-]*:(?:\/\/([^/]*))?/.exec(path);
  if (match === null) return false;
  const host = match[1]?.slice(match[1].lastIndexOf("@") + 1) ?? "";
  return host.startsWith("[") ? /^\[[^\]]*\](?::\d*)?$/.test(host) : /^[^:[\] "<>\\^`{|}]*(?::\d*)?$/.test(host);
}

/** Whether the text is one address, with or without a display name. Upstream: Go's `mail.ParseAddress`. */
function isEmail(text: string): boolean {
  const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\uffff-]+";
  const address = `(?:${atom}(?:\\.${atom})*|"(?:[^"\\\\\\r\\n]|\\\\.)*")@(?:${atom}(?:\\.${atom})*|\\[[^\\[\\]\\\\]*\\])`;
  return new RegExp(`^(?:${address}|[^<>@,;:]*<${address}>)$`).test(text.trim());
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < 10; index++) sum += (index + 1) * (digits[index] === "X" ? 10 : Number(digits[index]));
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^\d{13}$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < 12; index++) sum += (index % 2 === 0 ? 1 : 3) * Number(digits[index]);
  return (10 - (sum % 10)) % 10 === Number(digits[12]);
}

const CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11}|6[27][0-9]{14})$/;

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, "");
  if (!CARD.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

import {
  type ParseValue,
  UsageError,
  formatDuration,
  parseBool,
  parseDurationMs,
  parseFloat32,
  parseInt32,
  splitList,
} from "./flag-values.js";

/** Type of a flag's value, on the command line and in a configuration file. */
export interface FlagType<T> {
  /** Placeholder of the value in the help. */
  readonly placeholder: string;
  /**
   * Parses a value of the command line.
   *
   * @throws UsageError with the message of Go's flag packages.
   */
  parse(flag: string, text: string): T;
  /**
   * Converts a value of a YAML file; `undefined` for a value of the wrong type.
   *
   * @throws UsageError as `parse` does.
   */
  fromYaml(flag: string, value: unknown): T | undefined;
  /** What `fromYaml` expects, for the error message. */
  readonly expected: string;
  /** Formats a default for the help; `""` shows none. */
  format(value: T): string;
  /** Combines the value so far with that of a further occurrence. Default: the later value replaces the earlier one. */
  append?(before: T, more: T): T;
}

export const text: FlagType<string> = {
  placeholder: "string",
  parse: (_flag, given) => given,
  fromYaml: (_flag, value) => (typeof value === "string" ? value : undefined),
  expected: "a string",
  format: (value) => value,
};

/** A string with a more specific placeholder in the help. */
export function textNamed(placeholder: string): FlagType<string> {
  return { ...text, placeholder };
}

export const bool: FlagType<boolean> = {
  placeholder: "bool",
  parse: parseBool,
  fromYaml: (_flag, value) => (typeof value === "boolean" ? value : undefined),
  expected: "true or false",
  format: String,
};

function number(placeholder: string, parse: ParseValue<number>, expected: string): FlagType<number> {
  return {
    placeholder,
    parse,
    fromYaml: (flag, value) => (typeof value === "number" ? parse(flag, String(value)) : undefined),
    expected,
    format: String,
  };
}

export const int32 = number("int", parseInt32, "a whole number");
export const float32 = number("float", parseFloat32, "a number");

export const duration: FlagType<number> = {
  placeholder: "duration",
  parse: parseDurationMs,
  fromYaml: (flag, value) => {
    if (typeof value === "string") return parseDurationMs(flag, value);
    return value === 0 ? 0 : undefined;
  },
  expected: 'a duration such as "10s"',
  format: formatDuration,
};

/** Comma-separated list. The first occurrence replaces the default, further ones are appended. */
export const list: FlagType<readonly string[]> = {
  placeholder: "list",
  parse: (_flag, given) => splitList(given),
  fromYaml: (_flag, value) => (typeof value === "string" ? splitList(value) : stringsOf(value)),
  expected: "a list of strings",
  format: (value) => value.join(","),
  append: (before, more) => [...before, ...more],
};

/** List with one value for each occurrence, commas included. */
export const repeated: FlagType<readonly string[]> = {
  ...list,
  placeholder: "value",
  parse: (_flag, given) => [given],
  fromYaml: (_flag, value) => (typeof value === "string" ? [value] : stringsOf(value)),
};

/** `name=value,…`; in a file also a mapping. The items are not parsed further. */
export const assignments: FlagType<readonly string[]> = {
  ...list,
  placeholder: "name=value,…",
  fromYaml: (flag, value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return list.fromYaml(flag, value);
    const entries = Object.entries(value);
    if (entries.some(([, set]) => typeof set !== "boolean" && typeof set !== "string")) return undefined;
    return entries.map(([name, set]) => `${name}=${String(set)}`);
  },
  expected: "a mapping, or a list of name=value",
};

/** An IPv4 or IPv6 address that URLs and sockets accept. */
export const ip: FlagType<string> = {
  ...text,
  placeholder: "ip",
  parse: parseIp,
  fromYaml: (flag, value) => (typeof value === "string" ? parseIp(flag, value) : undefined),
};

function parseIp(flag: string, given: string): string {
  const address = given.trim();
  const isV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(address);
  const isV6 = address.includes(":") && URL.canParse(`http://[${address}]/`);
  if (isV4 || isV6) return address;
  throw new UsageError(
    `invalid argument ${JSON.stringify(given)} for ${JSON.stringify(flag)} flag: failed to parse IP: ${JSON.stringify(address)}`,
  );
}

function stringsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined;
}

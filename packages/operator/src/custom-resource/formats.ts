import { RE2JS } from "re2js";

import type { Rules } from "./rules.js";

/** Formats with the same meaning in Kubernetes. They may be kept together with the schema's own pattern. */
const SAME: ReadonlySet<string> = new Set(["date", "date-time", "email", "ipv4", "ipv6", "mac", "uri", "uuid"]);

/**
 * Formats that Kubernetes validates or knows. Upstream: kube-openapi `validation/strfmt`, and `supportedVersions` in
 * apiextensions.
 */
const KUBERNETES: ReadonlySet<string> = new Set([
  ...SAME,
  "bsonobjectid",
  "byte",
  "cidr",
  "creditcard",
  "datetime",
  "double",
  "duration",
  "float",
  "hexcolor",
  "hostname",
  "int32",
  "int64",
  "isbn",
  "isbn10",
  "isbn13",
  "k8s-long-name",
  "k8s-short-name",
  "password",
  "rgbcolor",
  "ssn",
  "uuid3",
  "uuid4",
  "uuid5",
]);

/**
 * Translates format and pattern of a string for Kubernetes. A format without pattern is Kubernetes' format of that
 * name. When a schema has a pattern for its format, the pattern decides. Kubernetes may have another format of that
 * name: its durations are Go's.
 *
 * @returns The rules, or the problem with an alternative.
 */
export function textRules({ format, pattern }: Pick<Rules, "format" | "pattern">): Rules | string {
  if (pattern === undefined) {
    if (format === undefined) return {};
    if (!KUBERNETES.has(format))
      return `has the format ${JSON.stringify(format)}, which the API server does not check: give a pattern for it`;
    // Kubernetes accepts a path as a URI, too.
    return format === "uri" ? { format, pattern: "^[a-zA-Z][a-zA-Z0-9+.-]*:" } : { format };
  }
  const translated = RE2JS.translateRegExp(pattern);
  const error = syntaxError(translated);
  if (error === undefined)
    return format !== undefined && SAME.has(format) ? { format, pattern: translated } : { pattern: translated };
  return `has a pattern that the API server cannot read, as its regular expressions (RE2) neither look around nor back: ${error}`;
}

function syntaxError(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^error parsing regexp: /, "");
  }
}

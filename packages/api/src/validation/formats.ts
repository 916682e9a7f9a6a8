/**
 * Validators of formats that only some kinds use. Each returns the error messages; an empty list means that the value
 * is valid. `names.ts` has names and labels.
 *
 * Upstream: apimachinery `pkg/util/validation`.
 */

import { ipFamily } from "./ip-address.js";

const CONFIG_KEY_FORMAT = "[-._a-zA-Z0-9]+";
const HTTP_PATH_FORMAT = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

const DNS_1035_FORMAT = "[a-z]([-a-z0-9]*[a-z0-9])?";

const WILDCARD_FORMAT = "\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";

const WILDCARD = whole(WILDCARD_FORMAT);
const UNDERSCORE_LABEL_FORMAT = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const UNDERSCORE_SUBDOMAIN_FORMAT = `${UNDERSCORE_LABEL_FORMAT}(\\.${UNDERSCORE_LABEL_FORMAT})*`;

const UNDERSCORE_SUBDOMAIN = whole(UNDERSCORE_SUBDOMAIN_FORMAT);
const DNS_1035 = whole(DNS_1035_FORMAT);
const CONFIG_KEY = whole(CONFIG_KEY_FORMAT);
const HTTP_PATH = whole(HTTP_PATH_FORMAT);
const RELAXED_ENV_NAME = /^[ -<>-~]+$/;

const CONFIG_KEY_MESSAGE = formatMessage(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  CONFIG_KEY_FORMAT,
  "key.name",
  "KEY_NAME",
  "key-name",
);

const DNS_1035_MESSAGE = formatMessage(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  DNS_1035_FORMAT,
  "my-name",
  "abc-123",
);

const WILDCARD_MESSAGE = formatMessage(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  WILDCARD_FORMAT,
  "*.example.com",
);

const UNDERSCORE_SUBDOMAIN_MESSAGE = formatMessage(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
  UNDERSCORE_SUBDOMAIN_FORMAT,
  "example.com",
);

/** Validates a DNS label that begins with a letter, as names of API resources and versions do. */
export function dns1035LabelErrors(value: string): string[] {
  const errors: string[] = [];
  if (byteLength(value) > 63) errors.push("must be no more than 63 characters");
  if (!DNS_1035.test(value)) errors.push(DNS_1035_MESSAGE);
  return errors;
}

/** Validates a wildcard DNS subdomain: `*.example.com`. */
export function wildcardSubdomainErrors(value: string): string[] {
  const errors: string[] = [];
  if (byteLength(value) > 253) errors.push("must be no more than 253 characters");
  if (!WILDCARD.test(value)) errors.push(WILDCARD_MESSAGE);
  return errors;
}

/** Validates a DNS subdomain whose labels may contain underscores, as those of service records do. */
export function underscoreSubdomainErrors(value: string): string[] {
  const errors: string[] = [];
  if (byteLength(value) > 253) errors.push("must be no more than 253 characters");
  if (!UNDERSCORE_SUBDOMAIN.test(value)) errors.push(UNDERSCORE_SUBDOMAIN_MESSAGE);
  return errors;
}

/** Validates a data key of a ConfigMap or Secret. */
export function configKeyErrors(value: string): string[] {
  const errors: string[] = [];
  if (byteLength(value) > 253) errors.push("must be no more than 253 characters");
  if (!CONFIG_KEY.test(value)) errors.push(CONFIG_KEY_MESSAGE);
  if (value === ".") errors.push("must not be '.'");
  else if (value === "..") errors.push("must not be '..'");
  else if (value.startsWith("..")) errors.push("must not start with '..'");
  return errors;
}

/** Validates the name of a container port or service port. */
export function portNameErrors(value: string): string[] {
  const errors: string[] = [];
  if (byteLength(value) > 15) errors.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(value))
    errors.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(value)) errors.push("must contain at least one letter (a-z)");
  if (value.includes("--")) errors.push("must not contain consecutive hyphens");
  if (value.startsWith("-") || value.endsWith("-")) errors.push("must not begin or end with a hyphen");
  return errors;
}

/** Validates the number of a port, 1 to 65535. */
export function portNumberErrors(value: number): string[] {
  return value >= 1 && value <= 65535 ? [] : ["must be between 1 and 65535, inclusive"];
}

/** Validates the name of an environment variable by the relaxed rule. */
export function environmentNameErrors(value: string): string[] {
  return RELAXED_ENV_NAME.test(value)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

/** Validates the path of a domain-prefixed path. */
export function httpPathErrors(value: string): string[] {
  return HTTP_PATH.test(value) ? [] : [`Invalid path (regex used for validation is '${HTTP_PATH_FORMAT}')`];
}

/** Validates an IP address of either family. */
export function ipAddressErrors(value: string): string[] {
  return ipFamily(value) === undefined ? ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"] : [];
}

/** Returns the length in bytes of UTF-8, which length limits count. */
export function byteLength(value: string): number {
  let bytes = value.length;
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    if (code < 0x80) continue;
    if (code < 0x800) bytes += 1;
    else if (code >= 0xd800 && code <= 0xdbff) {
      bytes += 2;
      index++;
    } else bytes += 2;
  }
  return bytes;
}

/** Formats `rule (e.g. 'a',  or 'b', regex used for validation is '…')`, including upstream's double spaces. */
function formatMessage(rule: string, format: string, ...examples: readonly string[]): string {
  return `${rule} (e.g. ${examples.map((example) => `'${example}', `).join(" or ")}regex used for validation is '${format}')`;
}

function whole(format: string): RegExp {
  return new RegExp(`^${format}$`);
}

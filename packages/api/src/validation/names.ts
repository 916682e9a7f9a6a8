/**
 * Formats of names, labels and keys, with their error messages. Each function returns one message per violated rule; an
 * empty list means valid. Upstream: apimachinery `util/validation`, `api/validate/content`.
 */

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

const labelPattern = new RegExp(`^${LABEL}$`);
const subdomainPattern = new RegExp(`^${SUBDOMAIN}$`);
const qualifiedPattern = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const LABEL_MESSAGE = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`;
const SUBDOMAIN_MESSAGE = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;
const VALUE_MESSAGE = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`;
const NAME_PART = `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}')`;

const NONE: readonly string[] = [];
/** Matches almost all qualified names. A name that does not match may still be valid. */
const USUAL_QUALIFIED = /^(?:[a-z0-9]+(?:[-.][a-z0-9]+)*\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** Validates an RFC 1123 label of at most 63 characters. */
export function dnsLabelErrors(name: string): readonly string[] {
  if (name.length <= 63 && labelPattern.test(name)) return NONE;
  const errors: string[] = [];
  if (name.length > 63) errors.push("must be no more than 63 characters");
  if (!labelPattern.test(name)) errors.push(subdomainPattern.test(name) ? "must not contain dots" : LABEL_MESSAGE);
  return errors;
}

/** Validates an RFC 1123 subdomain of at most 253 characters: labels with dots between them. */
export function dnsSubdomainErrors(name: string): readonly string[] {
  if (name.length <= 253 && subdomainPattern.test(name)) return NONE;
  const errors: string[] = [];
  if (name.length > 253) errors.push("must be no more than 253 characters");
  if (!subdomainPattern.test(name)) errors.push(SUBDOMAIN_MESSAGE);
  return errors;
}

/** Validates the value of a label. */
export function labelValueErrors(value: string): readonly string[] {
  if (value === "" || (value.length <= 63 && qualifiedPattern.test(value))) return NONE;
  const errors: string[] = [];
  if (value.length > 63) errors.push("must be no more than 63 bytes");
  if (value !== "" && !qualifiedPattern.test(value)) errors.push(VALUE_MESSAGE);
  return errors;
}

/** Validates a name with an optional domain: `example.com/name`. */
export function qualifiedNameErrors(text: string): readonly string[] {
  return qualifiedErrors(text, "a qualified name");
}

/** Validates the key of a label, which may have a domain. */
export function labelKeyErrors(text: string): readonly string[] {
  return qualifiedErrors(text, "a valid label key");
}

function qualifiedErrors(text: string, what: string): readonly string[] {
  // The whole text is short enough, so each part is too.
  if (text.length <= 63 && USUAL_QUALIFIED.test(text)) return NONE;
  const parts = text.split("/");
  if (parts.length > 2)
    return [`${what} ${NAME_PART} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  const errors: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0]!;
    if (prefix === "") errors.push("prefix part must be non-empty");
    else
      for (const message of dnsSubdomainErrors(prefix))
        errors.push(`prefix part ${message.replace("253 characters", "253 bytes")}`);
  }
  const name = parts.at(-1)!;
  if (name === "") errors.push("name part must be non-empty");
  if (name.length > 63) errors.push("name part must be no more than 63 bytes");
  if (!qualifiedPattern.test(name)) errors.push(`name part ${NAME_PART}`);
  return errors;
}

const NO_ERRORS: readonly string[] = [];

/**
 * Returns errors for text that cannot be part of a URL path, whatever its format. Upstream:
 * `path.IsValidPathSegmentName`.
 */
export function pathSegmentErrors(name: string): readonly string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  if (!/[/%]/.test(name)) return NO_ERRORS;
  return ["/", "%"]
    .filter((character) => name.includes(character))
    .map((character) => `may not contain '${character}'`);
}

const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Returns whether a string is a valid object name: an RFC 1123 subdomain of at most 253 characters. */
export function isDnsSubdomain(name: string): boolean {
  return name.length <= 253 && DNS_SUBDOMAIN.test(name);
}

/**
 * Returns whether a string is a valid prefix of a generated name: as {@link isDnsSubdomain}, but it may end with a
 * dash.
 */
export function isDnsSubdomainPrefix(prefix: string): boolean {
  return isDnsSubdomain(prefix.length > 1 && prefix.endsWith("-") ? `${prefix.slice(0, -1)}a` : prefix);
}

const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Whether an object may have this name: an RFC 1123 subdomain of at most 253 characters. */
export function isDnsSubdomain(name: string): boolean {
  return name.length <= 253 && DNS_SUBDOMAIN.test(name);
}

/** Whether a generated name may begin with this: as {@link isDnsSubdomain}, but it may also end in a dash. */
export function isDnsSubdomainPrefix(prefix: string): boolean {
  return isDnsSubdomain(prefix.length > 1 && prefix.endsWith("-") ? `${prefix.slice(0, -1)}a` : prefix);
}

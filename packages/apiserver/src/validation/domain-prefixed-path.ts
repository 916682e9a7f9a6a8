import { dnsSubdomainErrors, httpPathErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../field-errors.js";
import { addInvalid } from "./rules.js";

/** Validates a name with a domain prefix: `example.com/name`. Upstream: apimachinery `IsDomainPrefixedPath`. */
export function validateDomainPrefixedPath(value: string, field: string, errors: FieldErrors): void {
  const slash = value.indexOf("/");
  const host = value.slice(0, slash);
  const path = value.slice(slash + 1);
  if (value === "") errors.required(field);
  else if (slash < 1 || path === "")
    errors.invalid(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")');
  else {
    addInvalid(errors, field, host, dnsSubdomainErrors(host));
    addInvalid(errors, field, path, httpPathErrors(path));
  }
}

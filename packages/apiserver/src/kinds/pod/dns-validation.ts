import type { PodSpec } from "@kubewright/api";
import { ipAddressErrors, underscoreSubdomainErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { addInvalid } from "../../validation/rules.js";

/** The limits of libc's resolver. */
const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;

/** Upstream: `validatePodDNSConfig`. */
export function validateDnsConfig({ dnsPolicy, dnsConfig }: PodSpec, field: string, errors: FieldErrors): void {
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  if (dnsPolicy === "None") {
    if (dnsConfig === undefined) return errors.required(field, "must provide `dnsConfig` when `dnsPolicy` is None");
    if (nameservers.length === 0) {
      const detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
      return errors.required(`${field}.nameservers`, detail);
    }
  }
  if (nameservers.length > MAX_NAMESERVERS)
    errors.invalid(`${field}.nameservers`, nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`);
  for (const [index, address] of nameservers.entries()) {
    addInvalid(errors, `${field}.nameservers[${index}]`, address, ipAddressErrors(address));
  }
  if (searches.length > MAX_SEARCHES)
    errors.invalid(`${field}.searches`, searches, `must not have more than ${MAX_SEARCHES} search paths`);
  if (searches.join(" ").length > MAX_SEARCH_CHARACTERS) {
    const detail = `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`;
    errors.invalid(`${field}.searches`, searches, detail);
  }
  for (const [index, search] of searches.entries()) {
    if (search === ".") continue;
    const domain = search.replace(/\.$/, "");
    addInvalid(errors, `${field}.searches[${index}]`, domain, underscoreSubdomainErrors(domain));
  }
  for (const [index, { name }] of options.entries())
    if (!name) errors.required(`${field}.options[${index}]`, "must not be empty");
}

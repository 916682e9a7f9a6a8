import type { Service } from "@kubewright/api";
import { ipAddressErrors, ipFamily } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { isDualStack } from "../../validation/ip-address.js";
import { addInvalid, validateSupported, validateUnique } from "../../validation/rules.js";
import { isHeadless } from "./service-requirements.js";

type Spec = NonNullable<Service["spec"]>;

const FIELD = "spec.clusterIPs";
const FAMILIES = ["IPv4", "IPv6"];
const FAMILY_POLICIES = ["PreferDualStack", "RequireDualStack", "SingleStack"];

/** Validates addresses and families, and their combination. Upstream: `ValidateServiceClusterIPsRelatedFields`. */
export function validateClusterIPs(spec: Spec, errors: FieldErrors): void {
  if (spec.type === "ExternalName") return;
  const { clusterIP = "", clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  if (clusterIP === "") {
    if (clusterIPs.length > 0) errors.invalid(FIELD, clusterIPs, "must be empty when `clusterIP` is not specified");
  } else if (clusterIPs.length === 0) errors.required(FIELD);
  else if (clusterIPs[0] !== clusterIP) errors.invalid(FIELD, clusterIPs, "first value must match `clusterIP`");
  const seen = new Set<string>();
  for (const [index, family] of ipFamilies.entries()) {
    validateSupported(family, FAMILIES, `spec.ipFamilies[${index}]`, errors);
    validateUnique(family, seen, `spec.ipFamilies[${index}]`, errors);
  }
  validateSupported(ipFamilyPolicy, FAMILY_POLICIES, "spec.ipFamilyPolicy", errors);
  if (!validateAddresses(clusterIPs, errors)) return;
  if (clusterIPs.length > 1 && !isDualStack(clusterIPs.map(ipFamily)))
    errors.invalid(FIELD, clusterIPs, "may specify no more than one IP for each IP family");
  if (isHeadless(spec)) return;
  for (const [index, address] of clusterIPs.entries()) {
    const family = ipFamilies[index];
    if (family !== undefined && FAMILIES.includes(family) && `IPv${ipFamily(address)}` !== family)
      errors.invalid(
        `${FIELD}[${index}]`,
        address,
        `expected an ${family} value as indicated by \`ipFamilies[${index}]\``,
      );
  }
}

/** Validates addresses. Returns whether their families should be checked. */
function validateAddresses(addresses: readonly string[], errors: FieldErrors): boolean {
  let areValid = true;
  for (const [index, address] of addresses.entries()) {
    if (index === 0 && address === "None") {
      if (addresses.length > 1) {
        errors.invalid(FIELD, addresses, "'None' must be the first and only value");
        areValid = false;
      }
      continue;
    }
    const sentences = ipAddressErrors(address);
    addInvalid(errors, `${FIELD}[${index}]`, address, sentences);
    areValid &&= sentences.length === 0;
  }
  if (addresses.length > 2) errors.invalid(FIELD, addresses, "may only hold up to 2 values");
  return areValid;
}

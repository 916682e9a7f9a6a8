import { type Container, canonicalQuantity } from "@kubewright/api";
import { qualifiedNameErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { addInvalid } from "../../validation/rules.js";

type EnvVarSource = NonNullable<NonNullable<Container["env"]>[number]["valueFrom"]>;
type ObjectFieldSelector = NonNullable<EnvVarSource["fieldRef"]>;
type ResourceFieldSelector = NonNullable<EnvVarSource["resourceFieldRef"]>;

/** The pod fields of the downward API. Environment variables and volumes support different subsets. */
const POD_FIELDS = new Set(
  "metadata.annotations metadata.labels metadata.name metadata.namespace metadata.uid spec.nodeName spec.restartPolicy spec.serviceAccountName spec.schedulerName status.phase status.hostIP status.hostIPs status.podIP status.podIPs spec.host".split(
    " ",
  ),
);
export const ENVIRONMENT_FIELDS =
  "metadata.name metadata.namespace metadata.uid spec.nodeName spec.serviceAccountName status.hostIP status.hostIPs status.podIP status.podIPs".split(
    " ",
  );
export const VOLUME_FIELDS = "metadata.annotations metadata.labels metadata.name metadata.namespace metadata.uid".split(
  " ",
);

const RESOURCE_FIELDS =
  "limits.cpu limits.ephemeral-storage limits.memory requests.cpu requests.ephemeral-storage requests.memory".split(
    " ",
  );
const HUGE_PAGES = /^(?:limits|requests)\.hugepages-/;
const CPU_DIVISORS = ["1m", "1"];
const BYTE_DIVISORS = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/** Upstream: `validateObjectFieldSelector`. */
export function validateFieldRef(
  reference: ObjectFieldSelector,
  allowedFields: readonly string[],
  path: string,
  errors: FieldErrors,
): void {
  const { apiVersion, fieldPath } = reference;
  if (!apiVersion) return errors.required(`${path}.apiVersion`);
  if (!fieldPath) return errors.required(`${path}.fieldPath`);
  const [, map, key] = /^(metadata\.(?:annotations|labels))\['(.*)'\]$/.exec(fieldPath) ?? [];
  if (apiVersion !== "v1") {
    errors.invalid(
      `${path}.fieldPath`,
      fieldPath,
      `error converting fieldPath: unsupported pod version: ${apiVersion}`,
    );
  } else if (map !== undefined && key !== undefined) {
    addInvalid(errors, path, key, qualifiedNameErrors(map.endsWith("annotations") ? key.toLowerCase() : key));
  } else if (!POD_FIELDS.has(fieldPath)) {
    errors.invalid(
      `${path}.fieldPath`,
      fieldPath,
      `error converting fieldPath: field label not supported: ${fieldPath}`,
    );
  } else if (!allowedFields.includes(fieldPath === "spec.host" ? "spec.nodeName" : fieldPath)) {
    errors.notSupported(`${path}.fieldPath`, fieldPath, allowedFields);
  }
}

/**
 * Validates a reference to a container's request or limit.
 *
 * @param isFile - Whether the reference is in a volume, which needs a container name.
 * @see kubernetes `validateContainerResourceFieldSelector` of `pkg/apis/core/validation`
 */
export function validateResourceFieldRef(
  { resource, containerName, divisor }: ResourceFieldSelector,
  isFile: boolean,
  path: string,
  errors: FieldErrors,
): void {
  if (isFile && !containerName) errors.required(`${path}.containerName`);
  else if (!resource) errors.required(`${path}.resource`);
  else if (!RESOURCE_FIELDS.includes(resource) && !HUGE_PAGES.test(resource))
    errors.notSupported(`${path}.resource`, resource, RESOURCE_FIELDS);
  const unit = canonicalQuantity(divisor ?? "0") ?? "0";
  if (unit === "0") return;
  const supported = divisorsOf(resource);
  if (supported === undefined || supported.divisors.includes(unit)) return;
  const { text, resourceText } = supported;
  errors.invalid(
    `${path}.divisor`,
    resource,
    `only divisor's values ${text} are supported with the ${resourceText} resource`,
  );
}

function divisorsOf(resource = ""): { divisors: readonly string[]; text: string; resourceText: string } | undefined {
  const name = resource.slice(resource.indexOf(".") + 1);
  if (HUGE_PAGES.test(resource))
    return { divisors: BYTE_DIVISORS, text: BYTE_DIVISORS.join(", "), resourceText: "hugepages" };
  if (!RESOURCE_FIELDS.includes(resource)) return undefined;
  if (name === "cpu") return { divisors: CPU_DIVISORS, text: CPU_DIVISORS.join(" and "), resourceText: name };
  const resourceText = name === "ephemeral-storage" ? "local ephemeral storage" : name;
  return { divisors: BYTE_DIVISORS, text: BYTE_DIVISORS.join(", "), resourceText };
}

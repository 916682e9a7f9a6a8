import type { Container } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { dnsSubdomainErrors, qualifiedNameErrors } from "../../names.js";
import { configKeyErrors, environmentNameErrors } from "../../validation/formats.js";
import { addInvalid } from "../../validation/rules.js";

type EnvVar = NonNullable<Container["env"]>[number];
type EnvVarSource = NonNullable<EnvVar["valueFrom"]>;
type ObjectFieldSelector = NonNullable<EnvVarSource["fieldRef"]>;

/** What the downward API knows of a pod; which of it is offered differs by place. */
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

/** Upstream: `ValidateEnv`, `ValidateEnvFrom`. */
export function validateEnvironment(container: Container, path: string, errors: FieldErrors): void {
  for (const [index, variable] of (container.env ?? []).entries()) {
    const at = `${path}.env[${index}]`;
    if (!variable.name) errors.required(`${at}.name`);
    else addInvalid(errors, `${at}.name`, variable.name, environmentNameErrors(variable.name));
    if (variable.valueFrom !== undefined)
      validateSource(variable.valueFrom, variable.value ?? "", `${at}.valueFrom`, errors);
  }
  for (const [index, { prefix, configMapRef, secretRef }] of (container.envFrom ?? []).entries()) {
    const at = `${path}.envFrom[${index}]`;
    if (prefix) addInvalid(errors, `${at}.prefix`, prefix, environmentNameErrors(prefix));
    if (configMapRef && !configMapRef.name) errors.required(`${at}.configMapRef.name`);
    if (secretRef && !secretRef.name) errors.required(`${at}.secretRef.name`);
    if (!configMapRef && !secretRef)
      errors.invalid(`${path}.envFrom`, "", "must specify one of: `configMapRef` or `secretRef`");
    else if (configMapRef && secretRef)
      errors.invalid(`${path}.envFrom`, "", "may not have more than one field specified at a time");
  }
}

function validateSource(source: EnvVarSource, value: string, path: string, errors: FieldErrors): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef) validateFieldRef(fieldRef, ENVIRONMENT_FIELDS, `${path}.fieldRef`, errors);
  if (resourceFieldRef && !resourceFieldRef.resource) errors.required(`${path}.resourceFieldRef.resource`);
  if (configMapKeyRef) validateKeyRef(configMapKeyRef, `${path}.configMapKeyRef`, errors);
  if (secretKeyRef) validateKeyRef(secretKeyRef, `${path}.secretKeyRef`, errors);
  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(Boolean).length;
  if (count === 0) {
    const detail =
      "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
    errors.invalid(path, "", detail);
  } else if (value !== "") errors.invalid(path, "", "may not be specified when `value` is not empty");
  else if (count > 1) errors.invalid(path, "", "may not have more than one field specified at a time");
}

function validateKeyRef({ name = "", key }: { name?: string; key: string }, path: string, errors: FieldErrors): void {
  addInvalid(errors, `${path}.name`, name, dnsSubdomainErrors(name));
  if (!key) errors.required(`${path}.key`);
  else addInvalid(errors, `${path}.key`, key, configKeyErrors(key));
}

/** Upstream: `validateObjectFieldSelector`. */
export function validateFieldRef(
  reference: ObjectFieldSelector,
  offered: readonly string[],
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
  } else if (!offered.includes(fieldPath === "spec.host" ? "spec.nodeName" : fieldPath)) {
    errors.notSupported(`${path}.fieldPath`, fieldPath, offered);
  }
}

import type { Container } from "@kubewright/api";
import { configKeyErrors, dnsSubdomainErrors, environmentNameErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { addInvalid, validateRequired } from "../../validation/rules.js";
import { ENVIRONMENT_FIELDS, validateFieldRef, validateResourceFieldRef } from "./downward-api.js";
import { validateLocalPath } from "./local-path.js";
import type { Volume } from "./volume-validation.js";

type EnvVar = NonNullable<Container["env"]>[number];
type EnvVarSource = NonNullable<EnvVar["valueFrom"]>;
type FileKeySelector = NonNullable<EnvVarSource["fileKeyRef"]>;
type Volumes = ReadonlyMap<string, Volume>;

const MAX_FILE_KEY = 128;

/** Upstream: `ValidateEnv`, `ValidateEnvFrom`. */
export function validateEnvironment(container: Container, volumes: Volumes, path: string, errors: FieldErrors): void {
  for (const [index, variable] of (container.env ?? []).entries()) {
    const at = `${path}.env[${index}]`;
    validateRequired(variable.name, environmentNameErrors, `${at}.name`, errors);
    if (variable.valueFrom !== undefined)
      validateSource(variable.valueFrom, variable.value ?? "", volumes, `${at}.valueFrom`, errors);
  }
  for (const [index, { prefix, configMapRef, secretRef }] of (container.envFrom ?? []).entries()) {
    const at = `${path}.envFrom[${index}]`;
    if (prefix) addInvalid(errors, `${at}.prefix`, prefix, environmentNameErrors(prefix));
    if (configMapRef) validateObjectName(configMapRef, `${at}.configMapRef.name`, errors);
    if (secretRef) validateObjectName(secretRef, `${at}.secretRef.name`, errors);
    if (!configMapRef && !secretRef)
      errors.invalid(`${path}.envFrom`, "", "must specify one of: `configMapRef` or `secretRef`");
    else if (configMapRef && secretRef)
      errors.invalid(`${path}.envFrom`, "", "may not have more than one field specified at a time");
  }
}

/**
 * Validates the name of a ConfigMap or Secret that provides all its keys. As upstream, the name may end with a dash,
 * like a name prefix.
 */
function validateObjectName({ name }: { name?: string }, field: string, errors: FieldErrors): void {
  if (!name) return errors.required(field);
  const completed = name.length > 1 && name.endsWith("-") ? `${name.slice(0, -1)}a` : name;
  addInvalid(errors, field, name, dnsSubdomainErrors(completed));
}

function validateSource(
  source: EnvVarSource,
  value: string,
  volumes: Volumes,
  path: string,
  errors: FieldErrors,
): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef) validateFieldRef(fieldRef, ENVIRONMENT_FIELDS, `${path}.fieldRef`, errors);
  if (resourceFieldRef) validateResourceFieldRef(resourceFieldRef, false, `${path}.resourceFieldRef`, errors);
  if (configMapKeyRef) validateKeyRef(configMapKeyRef, `${path}.configMapKeyRef`, errors);
  if (secretKeyRef) validateKeyRef(secretKeyRef, `${path}.secretKeyRef`, errors);
  if (fileKeyRef) validateFileKey(fileKeyRef, volumes, `${path}.fileKeyRef`, errors);
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
  validateRequired(key, configKeyErrors, `${path}.key`, errors);
}

/** Validates a reference to a variable in a file that an init container writes. Upstream: `validateFileKeySelector`. */
function validateFileKey(
  { key, volumeName, path: file }: FileKeySelector,
  volumes: Volumes,
  path: string,
  errors: FieldErrors,
): void {
  if (!key) errors.required(`${path}.key`);
  else {
    addInvalid(errors, `${path}.key`, key, environmentNameErrors(key));
    if (key.length > MAX_FILE_KEY) errors.tooLong(`${path}.key`, MAX_FILE_KEY);
  }
  if (!volumeName) errors.required(`${path}.volumeName`);
  if (!file) errors.required(`${path}.path`);
  else validateLocalPath(file, `${path}.path`, errors);
  const volume = volumes.get(volumeName);
  if (volume === undefined) errors.notFound(`${path}.volumeName`, volumeName ?? "");
  else if (volume.emptyDir === undefined)
    errors.invalid(`${path}.volumeName`, volumeName, "referenced volume must be of type emptyDir");
}

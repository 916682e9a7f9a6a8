import { type Secret, secrets } from "@kubewright/api";
import { configKeyErrors } from "@kubewright/api/validation";

import { base64 } from "../base64.js";
import { builtInResource } from "../built-in-resource.js";
import type { FieldErrors } from "../field-errors.js";
import { jsonEqual } from "../json.js";
import type { ResourceStrategy } from "../strategy.js";
import { addInvalid } from "../validation/rules.js";
import { decodedLength, IMMUTABLE_WHEN_SET } from "./config-map.js";
import { goJsonError } from "./go-json-error.js";
import { ageCell, table } from "./table-cells.js";

const MAX_BYTES = 1024 * 1024;
const ACCOUNT_ANNOTATION = "kubernetes.io/service-account.name";
/** The required data keys of each type. */
const REQUIRED_KEYS: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
};

/** Upstream: `pkg/registry/core/secret`, `ValidateSecret`, `ValidateSecretUpdate`. */
export const secretStrategy: ResourceStrategy<Secret> = {
  applyDefaults(secret) {
    secret.type ||= "Opaque";
    if (secret.stringData === undefined) return;
    const added = Object.entries(secret.stringData).map(([key, value]) => [
      key,
      base64(new TextEncoder().encode(value)),
    ]);
    if (added.length > 0) secret.data = { ...secret.data, ...(Object.fromEntries(added) as Record<string, string>) };
    delete secret.stringData;
  },
  validateCreate: validateSecret,
  warningsOnCreate: keyPairWarnings,
  validateUpdate(secret, stored, errors) {
    if (secret.type !== stored.type) errors.invalid("type", secret.type ?? "", "field is immutable");
    if (stored.immutable === true) {
      if (secret.immutable !== true) errors.forbidden("immutable", IMMUTABLE_WHEN_SET);
      if (!jsonEqual(secret.data ?? {}, stored.data ?? {})) errors.forbidden("data", IMMUTABLE_WHEN_SET);
    }
    validateSecret(secret, errors);
  },
  warningsOnUpdate: keyPairWarnings,
  fieldSelectors: { type: ({ type }) => type ?? "" },
  printer: table<Secret>({
    Type: ({ type }) => type ?? "",
    Data: ({ data }) => Object.keys(data ?? {}).length,
    Age: ageCell,
  }),
};

export const secretResource = builtInResource<Secret>({
  definition: secrets,
  strategy: secretStrategy,
});

function validateSecret({ metadata, type = "", data = {} }: Secret, errors: FieldErrors): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(data)) {
    addInvalid(errors, `data[${key}]`, key, configKeyErrors(key));
    bytes += decodedLength(value);
  }
  if (bytes > MAX_BYTES) errors.tooLong("data", MAX_BYTES);
  if (type === "kubernetes.io/service-account-token" && !metadata.annotations?.[ACCOUNT_ANNOTATION]) {
    errors.required(`metadata.annotations[${ACCOUNT_ANNOTATION}]`);
  }
  for (const key of REQUIRED_KEYS[type] ?? []) {
    if (!Object.hasOwn(data, key)) errors.required(`data[${key}]`);
    else if (key.startsWith(".docker")) {
      const problem = goJsonError(decodeBase64(data[key]!));
      if (problem !== undefined) errors.invalid(`data[${key}]`, "<secret contents redacted>", problem);
    }
  }
  // Either key is sufficient, but upstream reports both when both are missing.
  if (type === "kubernetes.io/basic-auth" && !Object.hasOwn(data, "username") && !Object.hasOwn(data, "password")) {
    errors.required("data[username]");
    errors.required("data[password]");
  }
}

/** Returns a warning for a key pair without a PEM block. Certificates are not parsed. Upstream: `warningsForSecret`. */
function keyPairWarnings({ type, data }: Secret): string[] {
  const certificate = data?.["tls.crt"];
  const key = data?.["tls.key"];
  if (type !== "kubernetes.io/tls" || certificate === undefined || key === undefined) return [];
  const hasBlock = (text: string): boolean => decodeBase64(text).includes("-----BEGIN ");
  if (!hasBlock(certificate)) return ["tls: failed to find any PEM data in certificate input"];
  return hasBlock(key) ? [] : ["tls: failed to find any PEM data in key input"];
}

function decodeBase64(text: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
}

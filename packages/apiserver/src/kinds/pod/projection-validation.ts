import type { PodSpec } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { validateFieldRef, validateResourceFieldRef, VOLUME_FIELDS } from "./downward-api.js";
import { validateNonReservedPath } from "./local-path.js";

type Volume = NonNullable<PodSpec["volumes"]>[number];
type Projection = NonNullable<NonNullable<Volume["projected"]>["sources"]>[number];
type KeyToPath = NonNullable<NonNullable<Volume["configMap"]>["items"]>[number];
type DownwardFile = NonNullable<NonNullable<Volume["downwardAPI"]>["items"]>[number];

const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;
const KINDS = ["secret", "configMap", "downwardAPI", "serviceAccountToken"] as const;

export function validateMode(mode: number | undefined, field: string, errors: FieldErrors): void {
  if (mode !== undefined && (mode < 0 || mode > 0o777))
    errors.invalid(field, mode, "must be a number between 0 and 0777 (octal), both inclusive");
}

export function validateKeyToPath({ key, path, mode }: KeyToPath, at: string, errors: FieldErrors): void {
  if (!key) errors.required(`${at}.key`);
  validateFilePath(path, `${at}.path`, errors);
  validateMode(mode, `${at}.mode`, errors);
}

/** Upstream: `validateDownwardAPIVolumeFile`. */
export function validateDownwardFile(file: DownwardFile, at: string, errors: FieldErrors): void {
  const { fieldRef, resourceFieldRef } = file;
  validateFilePath(file.path, `${at}.path`, errors);
  if (fieldRef !== undefined) {
    validateFieldRef(fieldRef, VOLUME_FIELDS, `${at}.fieldRef`, errors);
    if (resourceFieldRef !== undefined)
      errors.invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
  } else if (resourceFieldRef !== undefined) {
    validateResourceFieldRef(resourceFieldRef, true, `${at}.resourceFieldRef`, errors);
  } else errors.required(at, "one of fieldRef and resourceFieldRef is required");
  validateMode(file.mode, `${at}.mode`, errors);
}

function validateFilePath(path: string | undefined, field: string, errors: FieldErrors): void {
  if (!path) errors.required(field);
  else validateNonReservedPath(path, field, errors);
}

/** Validates several sources that share one directory. Upstream: `validateProjectionSources`. */
export function validateProjections(sources: readonly Projection[], volume: string, errors: FieldErrors): void {
  const paths = new Set<string>();
  const addPath = (path: string | undefined, owner: string): void => {
    if (!path) return;
    if (paths.has(path)) errors.invalid(volume, owner, "conflicting duplicate paths");
    paths.add(path);
  };
  for (const [index, source] of sources.entries()) {
    const at = `${volume}.sources[${index}]`;
    const { downwardAPI, serviceAccountToken: token } = source;
    for (const kind of ["secret", "configMap"] as const) {
      const projected = source[kind];
      if (projected === undefined) continue;
      const { name = "", items = [] } = projected;
      if (name === "") errors.required(`${at}.${kind}.name`);
      for (const [item, keyToPath] of items.entries()) {
        validateKeyToPath(keyToPath, `${at}.${kind}.items[${item}]`, errors);
        addPath(keyToPath.path, name);
      }
    }
    for (const file of downwardAPI?.items ?? []) {
      validateDownwardFile(file, `${at}.downwardAPI`, errors);
      addPath(file.path, file.path);
    }
    if (token !== undefined) {
      const { expirationSeconds = 0 } = token;
      const field = `${at}.serviceAccountToken.expirationSeconds`;
      if (expirationSeconds < MIN_TOKEN_SECONDS)
        errors.invalid(field, expirationSeconds, "may not specify a duration less than 10 minutes");
      if (expirationSeconds > MAX_TOKEN_SECONDS)
        errors.invalid(field, expirationSeconds, "may not specify a duration larger than 2^32 seconds");
      // Upstream reports the path of the volume, without the source.
      validateFilePath(token.path, `${volume}.path`, errors);
    }
    if (KINDS.filter((kind) => source[kind] !== undefined).length > 1)
      errors.forbidden(at, "may not specify more than 1 volume type per source");
  }
}

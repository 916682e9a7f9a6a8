import type { PodSpec } from "@kubewright/api";
import { dnsLabelErrors, dnsSubdomainErrors } from "@kubewright/api/validation";

import { FieldErrors } from "../../field-errors.js";
import { addInvalid } from "../../validation/rules.js";
import { extraSourcePath, SOURCE_NAMES, validateVolumeSource } from "./volume-sources.js";

export type Volume = NonNullable<PodSpec["volumes"]>[number];

const MAX_NAME_AND_PORTAL = 64;

/**
 * Validates volumes. Returns the valid volumes by name.
 *
 * @param podName - `undefined` for a template, which may omit what only pods need.
 * @see kubernetes `ValidateVolumes` of `pkg/apis/core/validation`
 */
export function validateVolumes(
  volumes: readonly Volume[],
  podName: string | undefined,
  path: string,
  errors: FieldErrors,
): ReadonlyMap<string, Volume> {
  const valid = new Map<string, Volume>();
  for (const [index, volume] of volumes.entries()) {
    const at = `${path}[${index}]`;
    const own = new FieldErrors();
    validateSources(volume, podName, at, own);
    if (!volume.name) own.required(`${at}.name`);
    else addInvalid(own, `${at}.name`, volume.name, dnsLabelErrors(volume.name));
    if (valid.has(volume.name)) own.duplicate(`${at}.name`, volume.name);
    if (own.isEmpty) valid.set(volume.name, volume);
    for (const error of own.all) errors.add(error);
  }
  return valid;
}

/** Validates that exactly one source is set. Upstream: `validateVolumeSource`. */
function validateSources(volume: Volume, podName: string | undefined, path: string, errors: FieldErrors): void {
  let isFirst = true;
  for (const source of SOURCE_NAMES) {
    if (volume[source] === undefined) continue;
    if (isFirst) validateVolumeSource(volume, source, path, podName !== undefined, errors);
    else errors.forbidden(`${path}.${extraSourcePath(source)}`, "may not specify more than 1 volume type");
    if (source === "iscsi") validateNameForInitiator(volume, path, errors);
    if (source === "ephemeral" && isFirst) validateClaimName(volume, podName, path, errors);
    isFirst = false;
  }
  if (isFirst) errors.required(path, "must specify a volume type");
}

function validateNameForInitiator({ name, iscsi }: Volume, path: string, errors: FieldErrors): void {
  if (iscsi?.initiatorName === undefined || `${name}:${iscsi.targetPortal}`.length <= MAX_NAME_AND_PORTAL) return;
  const detail =
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
  errors.invalid(`${path}.name`, name, detail);
}

/** Validates the name of the claim for an ephemeral volume: pod name and volume name. */
function validateClaimName({ name }: Volume, podName: string | undefined, path: string, errors: FieldErrors): void {
  if (!podName || !name) return;
  const claim = `${podName}-${name}`;
  for (const sentence of dnsSubdomainErrors(claim))
    errors.invalid(`${path}.name`, name, `PVC name ${JSON.stringify(claim)}: ${sentence}`);
}

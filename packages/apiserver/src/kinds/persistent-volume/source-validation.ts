import type { PersistentVolume } from "@kubewright/api";
import { dnsSubdomainErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { addInvalid } from "../../validation/rules.js";
import { validateNoBacksteps } from "../pod/local-path.js";
import {
  isInitiatorName,
  requireFields,
  requiringFields,
  validateUnit,
  volumeSourceRules,
} from "../pod/volume-sources.js";

type VolumeSpec = NonNullable<PersistentVolume["spec"]>;
type SourceName = Exclude<
  keyof VolumeSpec,
  | "accessModes"
  | "capacity"
  | "claimRef"
  | "mountOptions"
  | "nodeAffinity"
  | "persistentVolumeReclaimPolicy"
  | "storageClassName"
  | "volumeAttributesClassName"
  | "volumeMode"
>;
type Rule<Name extends SourceName> = (source: NonNullable<VolumeSpec[Name]>, path: string, errors: FieldErrors) => void;

/**
 * The secret references of a CSI driver that need a name and a namespace. The driver validates the reference for
 * `nodeStage`.
 */
const CSI_SECRETS = [
  "controllerPublishSecretRef",
  "controllerExpandSecretRef",
  "nodePublishSecretRef",
  "nodeExpandSecretRef",
] as const;

/** The rules in upstream's order. Only the first source that is set is permitted. */
const RULES: { readonly [Name in SourceName]-?: Rule<Name> } = {
  hostPath: volumeSourceRules.hostPath,
  gcePersistentDisk: volumeSourceRules.gcePersistentDisk,
  awsElasticBlockStore: volumeSourceRules.awsElasticBlockStore,
  glusterfs(source, path, errors) {
    requireFields(source, ["endpoints", "path"], path, errors);
    if (source.endpointsNamespace === "")
      errors.invalid(
        `${path}.endpointsNamespace`,
        "",
        "if the endpointnamespace is set, it must be a valid namespace name",
      );
  },
  flocker: volumeSourceRules.flocker,
  nfs: volumeSourceRules.nfs,
  rbd: volumeSourceRules.rbd,
  quobyte: volumeSourceRules.quobyte,
  cephfs: volumeSourceRules.cephfs,
  iscsi(source, path, errors) {
    const { iqn, lun, initiatorName, secretRef, chapAuthDiscovery, chapAuthSession } = source;
    requireFields(source, ["targetPortal", "iqn"], path, errors);
    if (iqn && !isInitiatorName(iqn)) errors.invalid(`${path}.iqn`, iqn, "must be valid format");
    validateUnit(lun, `${path}.lun`, errors);
    if ((chapAuthDiscovery || chapAuthSession) && secretRef === undefined) errors.required(`${path}.secretRef`);
    if (secretRef !== undefined) requireFields(secretRef, ["name"], `${path}.secretRef`, errors);
    if (initiatorName !== undefined && !isInitiatorName(initiatorName))
      errors.invalid(`${path}.initiatorname`, initiatorName, "must be valid format");
  },
  cinder(source, path, errors) {
    requireFields(source, ["volumeID"], path, errors);
    validateSecretReference(source.secretRef, `${path}.secretRef`, errors);
  },
  fc: volumeSourceRules.fc,
  flexVolume: volumeSourceRules.flexVolume,
  azureFile(source, path, errors) {
    requireFields(source, ["secretName", "shareName"], path, errors);
    if (source.secretNamespace === "") errors.required(`${path}.secretNamespace`);
  },
  vsphereVolume: volumeSourceRules.vsphereVolume,
  photonPersistentDisk: volumeSourceRules.photonPersistentDisk,
  portworxVolume: volumeSourceRules.portworxVolume,
  azureDisk: volumeSourceRules.azureDisk,
  scaleIO: volumeSourceRules.scaleIO,
  local(source, path, errors) {
    requireFields(source, ["path"], path, errors);
    validateNoBacksteps(source.path ?? "", `${path}.path`, errors);
  },
  storageos: requiringFields(),
  csi(source, path, errors) {
    const { driver } = source;
    if (!driver) errors.required(`${path}.driver`);
    else if (driver.length > 63) errors.tooLong(`${path}.driver`, 63);
    else addInvalid(errors, `${path}.driver`, driver.toLowerCase(), dnsSubdomainErrors(driver.toLowerCase()));
    requireFields(source, ["volumeHandle"], path, errors);
    for (const member of CSI_SECRETS) validateSecretReference(source[member], `${path}.${member}`, errors);
  },
};

export const SOURCES = Object.keys(RULES) as readonly SourceName[];

/** Validates that exactly one source is set, with its required fields. Upstream: `ValidatePersistentVolumeSpec`. */
export function validateVolumeSource(spec: VolumeSpec, path: string, errors: FieldErrors): void {
  const [first, ...others] = SOURCES.filter((source) => spec[source] !== undefined);
  if (first === undefined) return errors.required(path, "must specify a volume type");
  (RULES[first] as Rule<SourceName>)(spec[first] as never, `${path}.${first}`, errors);
  if (first === "local" && spec.nodeAffinity === undefined)
    errors.required(`${path}.nodeAffinity`, "Local volume requires node affinity");
  for (const source of others) errors.forbidden(`${path}.${source}`, "may not specify more than 1 volume type");
}

function validateSecretReference(
  reference: { readonly name?: string; readonly namespace?: string } | undefined,
  path: string,
  errors: FieldErrors,
): void {
  if (reference !== undefined) requireFields(reference, ["name", "namespace"], path, errors);
}

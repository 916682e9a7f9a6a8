import type { PersistentVolume } from "@kubewright/api";
import { dnsSubdomainErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { addInvalid } from "../../validation/rules.js";
import { CACHING_MODES, DISK_KINDS, HOST_PATH_TYPES } from "../pod/volume-sources.js";

type VolumeSpec = NonNullable<PersistentVolume["spec"]>;
type Source = (typeof SOURCES)[number];
type Members = Readonly<Record<string, unknown>>;

/** The sources in upstream's order. Only the first source that is set is permitted. */
export const SOURCES = [
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "flocker",
  "nfs",
  "rbd",
  "quobyte",
  "cephfs",
  "iscsi",
  "cinder",
  "fc",
  "flexVolume",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "scaleIO",
  "local",
  "storageos",
  "csi",
] as const satisfies readonly (keyof VolumeSpec)[];

/** The required fields of the sources, in upstream's order. */
const REQUIRED: Readonly<Partial<Record<Source, readonly string[]>>> = {
  gcePersistentDisk: ["pdName"],
  awsElasticBlockStore: ["volumeID"],
  glusterfs: ["endpoints", "path"],
  nfs: ["server"],
  rbd: ["monitors", "image"],
  cephfs: ["monitors"],
  iscsi: ["targetPortal"],
  cinder: ["volumeID"],
  flexVolume: ["driver"],
  azureFile: ["secretName", "shareName"],
  vsphereVolume: ["volumePath"],
  photonPersistentDisk: ["pdID"],
  portworxVolume: ["volumeID"],
  azureDisk: ["diskName", "diskURI"],
  scaleIO: ["gateway", "system", "volumeName"],
};
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
const INITIATORS = [/^iqn\.\d{4}-\d{2}\.[\w.-]+(:[^,;*&$|\s]+)$/, /^eui.[0-9A-Za-z]{16}$/, /^naa.[0-9A-Za-z]{32}$/];

/** Validates that exactly one source is set, with its required fields. Upstream: `ValidatePersistentVolumeSpec`. */
export function validateVolumeSource(spec: VolumeSpec, path: string, errors: FieldErrors): void {
  let isFirst = true;
  for (const source of SOURCES) {
    const value = spec[source];
    if (value === undefined) continue;
    const at = `${path}.${source}`;
    if (!isFirst) errors.forbidden(at, "may not specify more than 1 volume type");
    else {
      const members = value as unknown as Members;
      for (const member of REQUIRED[source] ?? []) if (isEmpty(members[member])) errors.required(`${at}.${member}`);
      VALIDATIONS[source]?.(spec, at, errors);
    }
    isFirst = false;
  }
  if (isFirst) errors.required(path, "must specify a volume type");
}

/** Additional rules of individual sources. */
const VALIDATIONS: Readonly<Partial<Record<Source, (spec: VolumeSpec, path: string, errors: FieldErrors) => void>>> = {
  hostPath({ hostPath }, path, errors) {
    const { path: host, type = "" } = hostPath!;
    if (!host) {
      errors.required(`${path}.path`);
      return;
    }
    validateNoBacksteps(host, `${path}.path`, errors);
    if (!HOST_PATH_TYPES.includes(type)) errors.notSupported(`${path}.type`, type, HOST_PATH_TYPES);
  },
  gcePersistentDisk({ gcePersistentDisk }, path, errors) {
    validateByte(gcePersistentDisk!.partition, `${path}.partition`, errors);
  },
  awsElasticBlockStore({ awsElasticBlockStore }, path, errors) {
    validateByte(awsElasticBlockStore!.partition, `${path}.partition`, errors);
  },
  glusterfs({ glusterfs }, path, errors) {
    const namespace = glusterfs!.endpointsNamespace;
    if (namespace === "")
      errors.invalid(
        `${path}.endpointsNamespace`,
        namespace,
        "if the endpointnamespace is set, it must be a valid namespace name",
      );
  },
  flocker({ flocker }, path, errors) {
    const { datasetName = "", datasetUUID = "" } = flocker!;
    if (datasetName === "" && datasetUUID === "")
      errors.required(path, "one of datasetName and datasetUUID is required");
    if (datasetName !== "" && datasetUUID !== "")
      errors.invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously");
    if (datasetName.includes("/")) errors.invalid(`${path}.datasetName`, datasetName, "must not contain '/'");
  },
  nfs({ nfs }, path, errors) {
    if (!nfs!.path) errors.required(`${path}.path`);
    else if (!nfs!.path.startsWith("/")) errors.invalid(`${path}.path`, nfs!.path, "must be an absolute path");
  },
  quobyte({ quobyte }, path, errors) {
    const { registry, tenant = "", volume } = quobyte!;
    if (!registry)
      errors.required(`${path}.registry`, "must be a host:port pair or multiple pairs separated by commas");
    else if (tenant.length >= 65)
      errors.required(`${path}.tenant`, "must be a UUID and may not exceed a length of 64 characters");
    else
      for (const pair of registry.split(","))
        if (!/^[^:]*:[^:]*$/.test(pair))
          errors.invalid(
            `${path}.registry`,
            registry,
            "must be a host:port pair or multiple pairs separated by commas",
          );
    if (!volume) errors.required(`${path}.volume`);
  },
  iscsi({ iscsi }, path, errors) {
    const { iqn, lun, initiatorName, secretRef, chapAuthDiscovery, chapAuthSession } = iscsi!;
    if (!iqn) errors.required(`${path}.iqn`);
    else if (!isInitiator(iqn)) errors.invalid(`${path}.iqn`, iqn, "must be valid format");
    validateByte(lun, `${path}.lun`, errors);
    if ((chapAuthDiscovery || chapAuthSession) && secretRef === undefined) errors.required(`${path}.secretRef`);
    if (secretRef !== undefined && !secretRef.name) errors.required(`${path}.secretRef.name`);
    if (initiatorName !== undefined && !isInitiator(initiatorName))
      errors.invalid(`${path}.initiatorname`, initiatorName, "must be valid format");
  },
  cinder({ cinder }, path, errors) {
    validateSecretReference(cinder!.secretRef, `${path}.secretRef`, errors);
  },
  fc({ fc }, path, errors) {
    const { targetWWNs = [], wwids = [], lun } = fc!;
    const field = `${path}.targetWWNs`;
    if (targetWWNs.length === 0 && wwids.length === 0)
      errors.required(field, "must specify either targetWWNs or wwids, but not both");
    if (targetWWNs.length > 0 && wwids.length > 0)
      errors.invalid(field, targetWWNs, "targetWWNs and wwids can not be specified simultaneously");
    if (targetWWNs.length === 0) return;
    if (lun === undefined) errors.required(`${path}.lun`, "lun is required if targetWWNs is specified");
    else validateByte(lun, `${path}.lun`, errors);
  },
  azureFile({ azureFile }, path, errors) {
    if (azureFile!.secretNamespace === "") errors.required(`${path}.secretNamespace`);
  },
  azureDisk({ azureDisk }, path, errors) {
    const { cachingMode, kind, diskURI } = azureDisk!;
    if (cachingMode !== undefined && !CACHING_MODES.includes(cachingMode))
      errors.notSupported(`${path}.cachingMode`, cachingMode, CACHING_MODES);
    if (kind !== undefined && !DISK_KINDS.includes(kind)) errors.notSupported(`${path}.kind`, kind, DISK_KINDS);
    const scheme = kind === "Managed" ? "/subscriptions/" : "https://";
    if (diskURI && !diskURI.toLowerCase().startsWith(scheme)) {
      const forms =
        kind === "Managed"
          ? "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
          : "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";
      errors.notSupported(`${path}.diskURI`, diskURI, [forms]);
    }
  },
  local({ local, nodeAffinity }, path, errors) {
    if (!local!.path) errors.required(`${path}.path`);
    else validateNoBacksteps(local!.path, `${path}.path`, errors);
    if (nodeAffinity === undefined)
      errors.required(path.replace(/local$/, "nodeAffinity"), "Local volume requires node affinity");
  },
  csi({ csi }, path, errors) {
    const { driver, volumeHandle } = csi!;
    if (!driver) errors.required(`${path}.driver`);
    else if (driver.length > 63) errors.tooLong(`${path}.driver`, 63);
    else addInvalid(errors, `${path}.driver`, driver.toLowerCase(), dnsSubdomainErrors(driver.toLowerCase()));
    if (!volumeHandle) errors.required(`${path}.volumeHandle`);
    for (const member of CSI_SECRETS) validateSecretReference(csi![member], `${path}.${member}`, errors);
  },
};

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

function isInitiator(name: string): boolean {
  return INITIATORS.some((pattern) => pattern.test(name));
}

function validateByte(value: number | undefined, field: string, errors: FieldErrors): void {
  if (value !== undefined && (value < 0 || value > 255))
    errors.invalid(field, value, "must be between 0 and 255, inclusive");
}

function validateNoBacksteps(path: string, field: string, errors: FieldErrors): void {
  if (path.split("/").includes("..")) errors.invalid(field, path, "must not contain '..'");
}

function validateSecretReference(
  reference: { readonly name?: string; readonly namespace?: string } | undefined,
  path: string,
  errors: FieldErrors,
): void {
  if (reference === undefined) return;
  if (!reference.name) errors.required(`${path}.name`);
  if (!reference.namespace) errors.required(`${path}.namespace`);
}

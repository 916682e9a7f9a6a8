import { type PodSpec, parseQuantity } from "@kubewright/api";
import { byteLength, dnsLabelErrors, dnsSubdomainErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { validateAnnotations, validateLabels } from "../../metadata-validation.js";
import { addInvalid, validateRequired, validateSupported } from "../../validation/rules.js";
import { validateClaimSpec } from "../persistent-volume-claim/spec-validation.js";
import { validateNoBacksteps, validateLocalPath } from "./local-path.js";
import { validateDownwardFile, validateKeyToPath, validateMode, validateProjections } from "./projection-validation.js";

type Volume = NonNullable<PodSpec["volumes"]>[number];
type SourceName = Exclude<keyof Volume, "name">;
type Source<Name extends SourceName> = NonNullable<Volume[Name]>;
/** @param isPod - Whether the volume belongs to a pod, not to a template or a PersistentVolume. Default false. */
type Rule<Name extends SourceName> = (source: Source<Name>, path: string, errors: FieldErrors, isPod?: boolean) => void;

const HOST_PATH_TYPES = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];
const CACHING_MODES = ["None", "ReadOnly", "ReadWrite"];
const DISK_KINDS = ["Dedicated", "Managed", "Shared"];
export const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];
const MAX_DRIVER_NAME = 63;
const MAX_TENANT = 64;
const REGISTRY_MESSAGE = "must be a host:port pair or multiple pairs separated by commas";
/** The three forms of iSCSI names, with their patterns. */
const ISCSI_NAMES: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([-.a-zA-Z0-9]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[a-zA-Z0-9]{16}$/,
  naa: /^naa.[a-zA-Z0-9]{32}$/,
};

/** The rules in upstream's order. Only the first source that is set is permitted. */
export const volumeSourceRules: { readonly [Name in SourceName]-?: Rule<Name> } = {
  emptyDir({ sizeLimit }, path, errors) {
    if (sizeLimit !== undefined && (parseQuantity(sizeLimit)?.nanos ?? 0n) < 0n)
      errors.forbidden(`${path}.sizeLimit`, "SizeLimit field must be a valid resource quantity");
  },
  hostPath({ path: hostPath, type }, path, errors) {
    if (!hostPath) return errors.required(`${path}.path`);
    validateNoBacksteps(hostPath, `${path}.path`, errors);
    validateSupported(type, HOST_PATH_TYPES, `${path}.type`, errors);
  },
  gitRepo(source, path, errors) {
    requireFields(source, ["repository"], path, errors);
    validateLocalPath(source.directory ?? "", `${path}.directory`, errors);
  },
  gcePersistentDisk(source, path, errors) {
    requireFields(source, ["pdName"], path, errors);
    validatePartition(source, path, errors);
  },
  awsElasticBlockStore(source, path, errors) {
    requireFields(source, ["volumeID"], path, errors);
    validatePartition(source, path, errors);
  },
  secret(source, path, errors) {
    requireFields(source, ["secretName"], path, errors);
    validateFiles(source, path, errors);
  },
  nfs(source, path, errors) {
    requireFields(source, ["server", "path"], path, errors);
    if (!source.path?.startsWith("/")) errors.invalid(`${path}.path`, source.path ?? "", "must be an absolute path");
  },
  iscsi(source, path, errors) {
    requireFields(source, ["targetPortal", "iqn"], path, errors);
    if (source.iqn) validateIscsiName(source.iqn, `${path}.iqn`, errors);
    validateUnit(source.lun ?? 0, `${path}.lun`, errors);
    if ((source.chapAuthDiscovery || source.chapAuthSession) && source.secretRef === undefined)
      errors.required(`${path}.secretRef`);
    if (source.initiatorName !== undefined) validateIscsiName(source.initiatorName, `${path}.initiatorname`, errors);
  },
  glusterfs: requiringFields("endpoints", "path"),
  flocker({ datasetName = "", datasetUUID = "" }, path, errors) {
    if (datasetName === "" && datasetUUID === "")
      errors.required(path, "one of datasetName and datasetUUID is required");
    if (datasetName !== "" && datasetUUID !== "")
      errors.invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously");
    if (datasetName.includes("/")) errors.invalid(`${path}.datasetName`, datasetName, "must not contain '/'");
  },
  persistentVolumeClaim: requiringFields("claimName"),
  rbd: requiringFields("monitors", "image"),
  cinder(source, path, errors) {
    requireFields(source, ["volumeID"], path, errors);
    validateSecretRef(source.secretRef, `${path}.secretRef`, errors);
  },
  cephfs: requiringFields("monitors"),
  quobyte(source, path, errors) {
    const { registry, tenant = "" } = source;
    if (!registry) errors.required(`${path}.registry`, REGISTRY_MESSAGE);
    else if (tenant.length > MAX_TENANT)
      errors.required(`${path}.tenant`, "must be a UUID and may not exceed a length of 64 characters");
    else {
      for (const pair of registry.split(","))
        if (!isHostAndPort(pair)) errors.invalid(`${path}.registry`, registry, REGISTRY_MESSAGE);
    }
    requireFields(source, ["volume"], path, errors);
  },
  downwardAPI({ defaultMode, items = [] }, path, errors) {
    validateMode(defaultMode, `${path}.defaultMode`, errors);
    // Upstream's path has no index.
    for (const file of items) validateDownwardFile(file, path, errors);
  },
  fc({ targetWWNs = [], wwids = [], lun }, path, errors) {
    const field = `${path}.targetWWNs`;
    if (targetWWNs.length === 0 && wwids.length === 0)
      errors.required(field, "must specify either targetWWNs or wwids, but not both");
    if (targetWWNs.length === 0) return;
    if (wwids.length > 0) errors.invalid(field, targetWWNs, "targetWWNs and wwids can not be specified simultaneously");
    if (lun === undefined) errors.required(`${path}.lun`, "lun is required if targetWWNs is specified");
    else validateUnit(lun, `${path}.lun`, errors);
  },
  flexVolume(source, path, errors) {
    requireFields(source, ["driver"], path, errors);
    for (const key of Object.keys(source.options ?? {})) {
      const namespace = `.${key.split("/", 1)[0]!.toLowerCase()}`;
      if (!namespace.endsWith(".kubernetes.io") && !namespace.endsWith(".k8s.io")) continue;
      errors.invalid(`${path}.options[${key}]`, key, "kubernetes.io and k8s.io namespaces are reserved");
    }
  },
  configMap(source, path, errors) {
    requireFields(source, ["name"], path, errors);
    validateFiles(source, path, errors);
  },
  azureFile: requiringFields("secretName", "shareName"),
  vsphereVolume: requiringFields("volumePath"),
  photonPersistentDisk: requiringFields("pdID"),
  portworxVolume: requiringFields("volumeID"),
  azureDisk(source, path, errors) {
    requireFields(source, ["diskName", "diskURI"], path, errors);
    const { cachingMode, kind } = source;
    const diskURI = source.diskURI ?? "";
    validateSupported(cachingMode, CACHING_MODES, `${path}.cachingMode`, errors);
    if (kind === undefined) return;
    validateSupported(kind, DISK_KINDS, `${path}.kind`, errors);
    const [start, example] =
      kind === "Managed"
        ? [
            "/subscriptions/",
            "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
          ]
        : ["https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"];
    if (!diskURI.startsWith(start)) errors.notSupported(`${path}.diskURI`, diskURI, [example]);
  },
  storageos({ volumeName = "", volumeNamespace = "", secretRef }, path, errors) {
    validateRequired(volumeName, dnsLabelErrors, `${path}.volumeName`, errors);
    if (volumeNamespace !== "")
      addInvalid(errors, `${path}.volumeNamespace`, volumeNamespace, dnsLabelErrors(volumeNamespace));
    validateSecretRef(secretRef, `${path}.secretRef`, errors);
  },
  projected({ defaultMode, sources = [] }, path, errors) {
    validateMode(defaultMode, `${path}.defaultMode`, errors);
    validateProjections(sources, path, errors);
  },
  scaleIO: requiringFields("gateway", "system", "volumeName"),
  csi({ driver, nodePublishSecretRef }, path, errors) {
    const field = `${path}.driver`;
    if (!driver) errors.required(field);
    else {
      if (byteLength(driver) > MAX_DRIVER_NAME) errors.tooLong(field, MAX_DRIVER_NAME);
      addInvalid(errors, field, driver, dnsSubdomainErrors(driver.toLowerCase()));
    }
    validateSecretRef(nodePublishSecretRef, `${path}.nodePublishSecretRef`, errors);
    const name = nodePublishSecretRef?.name;
    if (name) addInvalid(errors, `${path}.name`, name, dnsSubdomainErrors(name));
  },
  ephemeral({ volumeClaimTemplate: template }, path, errors) {
    const at = `${path}.volumeClaimTemplate`;
    if (template === undefined) return errors.required(at);
    const { labels = {}, annotations = {}, ...others } = template.metadata ?? {};
    validateAnnotations(annotations, `${at}.metadata.annotations`, errors);
    validateLabels(labels, `${at}.metadata.labels`, errors);
    for (const [member, value] of Object.entries(others))
      if (value !== undefined) errors.forbidden(`${at}.metadata.${member}`, "cannot be set");
    validateClaimSpec(template.spec ?? {}, `${at}.spec`, errors);
  },
  image({ reference, pullPolicy = "" }, path, errors, isPod) {
    if (isPod && !reference) errors.required(`${path}.reference`);
    if (pullPolicy === "") errors.required(`${path}.pullPolicy`);
    else validateSupported(pullPolicy, PULL_POLICIES, `${path}.pullPolicy`, errors);
  },
};

export const SOURCE_NAMES = Object.keys(volumeSourceRules) as readonly SourceName[];

/** Validates the first source of a volume. */
export function validateVolumeSource(
  volume: Volume,
  name: SourceName,
  path: string,
  isPod: boolean,
  errors: FieldErrors,
): void {
  const rule = volumeSourceRules[name] as Rule<SourceName>;
  rule(volume[name] as never, `${path}.${firstSourcePath(name)}`, errors, isPod);
}

/** Returns upstream's path for errors inside the first source. */
function firstSourcePath(name: SourceName): string {
  return name === "gcePersistentDisk" ? "persistentDisk" : name;
}

/** Returns upstream's path for an additional source, including a misspelling. */
export function extraSourcePath(name: SourceName): string {
  return name === "cephfs" ? "cephFS" : name === "downwardAPI" ? "downwarAPI" : name;
}

export function requiringFields<T extends object>(
  ...members: readonly (keyof T & string)[]
): (source: T, path: string, errors: FieldErrors) => void {
  return (source, path, errors) => {
    requireFields(source, members, path, errors);
  };
}

/** Reports missing fields. An empty string or list counts as missing. */
export function requireFields<T extends object>(
  source: T,
  members: readonly (keyof T & string)[],
  path: string,
  errors: FieldErrors,
): void {
  for (const member of members) {
    const value = source[member];
    if (value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0))
      errors.required(`${path}.${member}`);
  }
}

function validateFiles(
  { items = [], defaultMode }: Pick<Source<"configMap">, "items" | "defaultMode">,
  path: string,
  errors: FieldErrors,
): void {
  validateMode(defaultMode, `${path}.defaultMode`, errors);
  for (const [index, item] of items.entries()) validateKeyToPath(item, `${path}.items[${index}]`, errors);
}

/** Validates a partition. 0 means the whole disk, although the message says between 1 and 255. */
function validatePartition({ partition = 0 }: { partition?: number }, path: string, errors: FieldErrors): void {
  if (partition < 0 || partition > 255)
    errors.invalid(`${path}.partition`, partition, "must be between 1 and 255, inclusive");
}

export function validateUnit(lun: number, field: string, errors: FieldErrors): void {
  if (lun < 0 || lun > 255) errors.invalid(field, lun, "must be between 0 and 255, inclusive");
}

/** Whether the text is an iSCSI name of one of the three forms. */
export function isInitiatorName(name: string): boolean {
  return ISCSI_NAMES[name.slice(0, 3)]?.test(name) === true;
}

function validateIscsiName(name: string, field: string, errors: FieldErrors): void {
  if (ISCSI_NAMES[name.slice(0, 3)] === undefined)
    errors.invalid(field, name, "must be valid format starting with iqn, eui, or naa");
  else if (!isInitiatorName(name)) errors.invalid(field, name, "must be valid format");
}

function validateSecretRef(secret: { name?: string } | undefined, path: string, errors: FieldErrors): void {
  if (secret !== undefined) requireFields(secret, ["name"], path, errors);
}

/** Whether the text splits into host and port. Upstream: Go's `net.SplitHostPort`. */
function isHostAndPort(text: string): boolean {
  return /^(?:\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/.test(text);
}

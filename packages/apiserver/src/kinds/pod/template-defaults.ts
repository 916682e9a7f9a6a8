import { type Container, type PodSpec, type PodTemplateSpec, formatQuantity, parseQuantity } from "@kubewright/api";

import { dropMember } from "../../json.js";

type Probe = NonNullable<Container["livenessProbe"]>;
type Volume = NonNullable<PodSpec["volumes"]>[number];

const DEFAULT_MODE = 0o644;
const MILLI = 1_000_000n;

/**
 * Upstream: `SetDefaults_PodSpec` and what `SetObjectDefaults_PodTemplate` calls for its parts, in `pkg/apis/core/v1`.
 */
export function applyPodTemplateDefaults(template: PodTemplateSpec | undefined): void {
  if (template !== undefined) applyPodSpecDefaults((template.spec ??= { containers: [] }));
}

/** Applies the defaults that pods and pod templates share. */
export function applyPodSpecDefaults(spec: PodSpec): void {
  spec.dnsPolicy ||= "ClusterFirst";
  spec.restartPolicy ||= "Always";
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  // Older versions accepted a negative period, which means the shortest one.
  if (spec.terminationGracePeriodSeconds < 0) spec.terminationGracePeriodSeconds = 1;
  spec.schedulerName ||= "default-scheduler";
  mirrorServiceAccount(spec);
  for (const container of spec.initContainers ?? []) applyContainerDefaults(container, spec);
  for (const container of spec.containers ?? []) applyContainerDefaults(container, spec);
  for (const container of spec.ephemeralContainers ?? []) applyContainerDefaults(container, spec);
  for (const volume of spec.volumes ?? []) applyVolumeDefaults(volume);
}

/** Keeps the deprecated `serviceAccount` equal to `serviceAccountName`, which wins when both are set. */
function mirrorServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (!name || (spec.serviceAccountName === name && spec.serviceAccount === name)) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

function applyContainerDefaults(container: Container, { hostNetwork }: PodSpec): void {
  container.imagePullPolicy ||= pullPolicyOf(container.image ?? "");
  container.terminationMessagePath ||= "/dev/termination-log";
  container.terminationMessagePolicy ||= "File";
  for (const port of container.ports ?? []) {
    port.protocol ||= "TCP";
    if (hostNetwork && !port.hostPort) port.hostPort = port.containerPort;
  }
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.fieldRef) valueFrom.fieldRef.apiVersion ||= "v1";
    if (valueFrom?.fileKeyRef) valueFrom.fileKeyRef.optional ??= false;
  }
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
    if (probe) applyProbeDefaults(probe);
  }
  for (const handler of [container.lifecycle?.postStart, container.lifecycle?.preStop]) {
    if (handler?.httpGet) applyHttpGetDefaults(handler.httpGet);
  }
  for (const quantities of [container.resources?.limits, container.resources?.requests]) {
    if (quantities !== undefined) roundUpToMilli(quantities);
  }
}

/**
 * Returns `Always` for the tag `latest`, explicit or implied, which may change at any time. Other tags and digests are
 * assumed to be fixed.
 */
function pullPolicyOf(image: string): string {
  if (image.includes("@")) return "IfNotPresent";
  const colon = image.lastIndexOf(":");
  const tag = colon > image.lastIndexOf("/") ? image.slice(colon + 1) : "";
  return tag === "" || tag === "latest" ? "Always" : "IfNotPresent";
}

function applyProbeDefaults(probe: Probe): void {
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  if (probe.httpGet) applyHttpGetDefaults(probe.httpGet);
  if (probe.grpc) probe.grpc.service ??= "";
}

function applyHttpGetDefaults(action: NonNullable<Probe["httpGet"]>): void {
  action.path ||= "/";
  action.scheme ||= "HTTP";
}

/**
 * Applies volume defaults. Drops fields behind feature gates that are off by default, as upstream's
 * `dropDisabledFields`.
 */
function applyVolumeDefaults(volume: Volume): void {
  if (Object.keys(volume).every((member) => member === "name")) volume.emptyDir = {};
  const { secret, configMap, downwardAPI, projected, hostPath, ephemeral, image } = volume;
  for (const source of [secret, configMap, downwardAPI, projected]) if (source) source.defaultMode ??= DEFAULT_MODE;
  for (const { fieldRef } of downwardAPI?.items ?? []) if (fieldRef) fieldRef.apiVersion ||= "v1";
  for (const source of projected?.sources ?? []) {
    dropMember(source, "clusterTrustBundle");
    dropMember(source, "podCertificate");
    if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= 3600;
    for (const { fieldRef } of source.downwardAPI?.items ?? []) if (fieldRef) fieldRef.apiVersion ||= "v1";
  }
  if (hostPath) hostPath.type ??= "";
  if (ephemeral?.volumeClaimTemplate?.spec) ephemeral.volumeClaimTemplate.spec.volumeMode ??= "Filesystem";
  const { iscsi, rbd, azureDisk, scaleIO } = volume;
  if (iscsi || rbd || azureDisk || scaleIO) applyDiskDefaults(volume);
  if (image) image.pullPolicy ||= pullPolicyOf(image.reference ?? "");
}

function applyDiskDefaults({ iscsi, rbd, azureDisk, scaleIO }: Volume): void {
  if (iscsi) iscsi.iscsiInterface ||= "default";
  if (rbd) {
    rbd.pool ||= "rbd";
    rbd.user ||= "admin";
    rbd.keyring ||= "/etc/ceph/keyring";
  }
  if (azureDisk) {
    azureDisk.cachingMode ??= "ReadWrite";
    azureDisk.kind ??= "Shared";
    azureDisk.fsType ??= "ext4";
    azureDisk.readOnly ??= false;
  }
  if (scaleIO) {
    scaleIO.storageMode ||= "ThinProvisioned";
    scaleIO.fsType ||= "xfs";
  }
}

/** Rounds container resources up to thousandths. Upstream: `SetDefaults_ResourceList`. */
function roundUpToMilli(quantities: Record<string, string>): void {
  for (const [name, text] of Object.entries(quantities)) {
    if (!/[nu]$|e-[69]$/.test(text)) continue;
    const quantity = parseQuantity(text);
    if (quantity === undefined || quantity.nanos <= 0n) continue;
    const nanos = ((quantity.nanos + MILLI - 1n) / MILLI) * MILLI;
    quantities[name] = formatQuantity({ ...quantity, nanos });
  }
}

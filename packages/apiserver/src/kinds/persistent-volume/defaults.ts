import type { PersistentVolume } from "@kubewright/api";

/** Upstream: `SetDefaults_PersistentVolume`, and those of the sources. */
export function applyVolumeDefaults({ spec, status }: PersistentVolume, stored?: PersistentVolume): void {
  if (status !== undefined && status !== stored?.status) status.phase ||= "Pending";
  if (spec === undefined || spec === stored?.spec) return;
  spec.persistentVolumeReclaimPolicy ||= "Retain";
  spec.volumeMode ??= "Filesystem";
  if (spec.hostPath !== undefined) spec.hostPath.type ??= "";
  if (spec.iscsi !== undefined) spec.iscsi.iscsiInterface ||= "default";
  const { rbd, azureDisk, scaleIO } = spec;
  if (rbd !== undefined) {
    rbd.pool ||= "rbd";
    rbd.user ||= "admin";
    rbd.keyring ||= "/etc/ceph/keyring";
  }
  if (azureDisk !== undefined) {
    azureDisk.cachingMode ??= "ReadWrite";
    azureDisk.kind ??= "Shared";
    azureDisk.fsType ??= "ext4";
    azureDisk.readOnly ??= false;
  }
  if (scaleIO !== undefined) {
    scaleIO.storageMode ||= "ThinProvisioned";
    scaleIO.fsType ||= "xfs";
  }
}

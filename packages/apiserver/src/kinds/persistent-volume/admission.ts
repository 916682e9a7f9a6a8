import { type PersistentVolume, formatTime } from "@kubewright/api";

import type { AdmissionPlugin } from "../../registry/admission.js";
import { addFinalizer } from "../add-finalizer.js";

export const PROTECTION_FINALIZER = "kubernetes.io/pv-protection";

/**
 * Adds the protection finalizer to new volumes, and sets the transition time. Upstream: plugin
 * `StorageObjectInUseProtection`.
 */
export const volumeAdmission: AdmissionPlugin = {
  concerns: ({ group, resource }) => group === "" && resource === "persistentvolumes",
  mutate({ operation, subresource, object, oldObject, server }) {
    if (operation === "CREATE" && subresource === "") addFinalizer(object!, PROTECTION_FINALIZER);
    else if (operation === "UPDATE" && subresource === "status")
      setTransitionTime(object as PersistentVolume, oldObject as PersistentVolume, server.clock.now());
  },
};

/**
 * Sets the time of a phase change, unless the writer sets it. Upstream does this in the status strategy, which knows
 * the time.
 */
function setTransitionTime(volume: PersistentVolume, stored: PersistentVolume, nowMs: number): void {
  const { phase, lastPhaseTransitionTime } = volume.status ?? {};
  if (phase === stored.status?.phase) return;
  if (lastPhaseTransitionTime === undefined || lastPhaseTransitionTime === stored.status?.lastPhaseTransitionTime)
    volume.status = { ...volume.status, lastPhaseTransitionTime: formatTime(nowMs) };
}

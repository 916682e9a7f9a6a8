import { type PersistentVolumeClaim, storageClasses } from "@kubewright/api";

import { forbidden } from "../../api-error.js";
import type { AdmissionPlugin } from "../../registry/admission.js";
import { storageClassNameOf, defaultClass } from "../storage-class/storage-class-lookup.js";
import { addFinalizer } from "../add-finalizer.js";
import { storageOf } from "./storage-amounts.js";

export const PROTECTION_FINALIZER = "kubernetes.io/pvc-protection";
const NOT_EXPANDABLE =
  "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";

/**
 * Adds the protection finalizer and the default class to new claims, and permits expansion only when the class allows
 * it.
 *
 * Upstream: plugins `DefaultStorageClass`, `StorageObjectInUseProtection`, `PersistentVolumeClaimResize`.
 */
export const claimAdmission: AdmissionPlugin = {
  concerns: ({ group, resource }) => group === "" && resource === "persistentvolumeclaims",
  mutate({ operation, subresource, object, server }) {
    if (operation !== "CREATE" || subresource !== "") return;
    const claim = object as PersistentVolumeClaim;
    addFinalizer(claim, PROTECTION_FINALIZER);
    if (storageClassNameOf(claim) !== undefined) return;
    const classes = server.registry.storageOf(storageClasses);
    const found = classes === undefined ? undefined : defaultClass(classes);
    if (found !== undefined) claim.spec = { ...claim.spec, storageClassName: found.metadata.name! };
  },
  validate({ operation, subresource, object, oldObject, server, resource, name }) {
    if (operation !== "UPDATE" || subresource !== "") return;
    const { spec } = object as PersistentVolumeClaim;
    const stored = oldObject as PersistentVolumeClaim;
    if (storageOf(spec?.resources?.requests) <= storageOf(stored.spec?.resources?.requests)) return;
    if (stored.status?.phase !== "Bound")
      throw forbidden(resource, name, "Only bound persistent volume claims can be expanded");
    const storageClass = server.registry.storageOf(storageClasses)?.get("", storageClassNameOf(stored) ?? "")?.object;
    if ((storageClass as { allowVolumeExpansion?: boolean } | undefined)?.allowVolumeExpansion !== true)
      throw forbidden(resource, name, NOT_EXPANDABLE);
  },
};

import type { TypeDeclarations } from "../../schema/type-declarations.js";
import { fields } from "./fields.js";

/**
 * The types of claims except their spec, which ephemeral volumes of pods share. StatefulSets have templates of claims.
 */
export const claimTypes: TypeDeclarations = {
  fields,
  rules: {
    patchMergeKeys: { "PersistentVolumeClaimStatus.conditions": "type" },
    listTypes: { "PersistentVolumeClaimStatus.conditions": "type" },
    quantityFields: new Set(["PersistentVolumeClaimStatus.capacity", "PersistentVolumeClaimStatus.allocatedResources"]),
    presentWhenZero: {
      "PersistentVolumeClaim.spec": {},
      "PersistentVolumeClaim.status": {},
      "PersistentVolumeClaimCondition.type": "",
      "PersistentVolumeClaimCondition.status": "",
      "PersistentVolumeClaimCondition.lastProbeTime": null,
      "PersistentVolumeClaimCondition.lastTransitionTime": null,
      "ModifyVolumeStatus.status": "",
    },
    keepsEmptyString: new Set(["PersistentVolumeClaimStatus.currentVolumeAttributesClassName"]),
  },
  fieldNumbers: {
    PersistentVolumeClaim: "metadata,spec,status",
    PersistentVolumeClaimStatus:
      "phase,accessModes,capacity,conditions,allocatedResources,,allocatedResourceStatuses,currentVolumeAttributesClassName,modifyVolumeStatus",
    PersistentVolumeClaimCondition: "type,status,lastProbeTime,lastTransitionTime,reason,message",
    ModifyVolumeStatus: "targetVolumeAttributesClassName,status",
  },
};

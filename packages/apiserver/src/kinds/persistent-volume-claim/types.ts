import type { TypeDeclarations } from "../../schema/type-declarations.js";

/**
 * The types of claims except their spec, which ephemeral volumes of pods share. StatefulSets have templates of claims.
 */
export const claimTypes: TypeDeclarations = {
  fields: {
    PersistentVolumeClaim:
      "metadata:ObjectMeta spec+:PersistentVolumeClaimSpec status+:PersistentVolumeClaimStatus | apiVersion kind",
    PersistentVolumeClaimStatus:
      "phase accessModes:[]string capacity:{}quantity conditions:[type]PersistentVolumeClaimCondition allocatedResources:{}quantity - allocatedResourceStatuses:{}string currentVolumeAttributesClassName* modifyVolumeStatus:ModifyVolumeStatus",
    PersistentVolumeClaimCondition: "type!+ status!+ lastProbeTime+:time lastTransitionTime+:time reason message",
    ModifyVolumeStatus: "targetVolumeAttributesClassName status!+",
  },
};

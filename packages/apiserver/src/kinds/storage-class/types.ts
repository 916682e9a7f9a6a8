import type { TypeDeclarations } from "../../schema/type-declarations.js";

export const storageClassTypes: TypeDeclarations = {
  fields: {
    StorageClass:
      "metadata:ObjectMeta provisioner!+ parameters:{}string reclaimPolicy* mountOptions:[]string allowVolumeExpansion:boolean volumeBindingMode* allowedTopologies:[]TopologySelectorTerm | apiVersion kind",
    TopologySelectorTerm: "matchLabelExpressions:[]TopologySelectorLabelRequirement",
    TopologySelectorLabelRequirement: "key!+ values!+*:[]string",
  },
  atomicTypes: new Set(["TopologySelectorTerm"]),
};

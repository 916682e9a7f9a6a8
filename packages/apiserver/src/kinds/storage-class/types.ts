import type { TypeDeclarations } from "../../schema/type-declarations.js";
import { fields } from "./fields.js";

export const storageClassTypes: TypeDeclarations = {
  fields,
  rules: {
    atomicTypes: new Set(["TopologySelectorTerm"]),
    presentWhenZero: {
      "StorageClass.provisioner": "",
      "TopologySelectorLabelRequirement.key": "",
      "TopologySelectorLabelRequirement.values": null,
    },
    keepsEmptyString: new Set(["StorageClass.reclaimPolicy", "StorageClass.volumeBindingMode"]),
    keepsEmptyCollection: new Set(["TopologySelectorLabelRequirement.values"]),
  },
  fieldNumbers: {
    StorageClass:
      "metadata,provisioner,parameters,reclaimPolicy,mountOptions,allowVolumeExpansion,volumeBindingMode,allowedTopologies",
    TopologySelectorTerm: "matchLabelExpressions",
    TopologySelectorLabelRequirement: "key,values",
  },
};

import type { TypeDeclarations } from "../../schema/type-declarations.js";
import { fields } from "./fields.js";

export const resourceQuotaTypes: TypeDeclarations = {
  fields,
  rules: {
    atomicTypes: new Set(["ScopeSelector"]),
    quantityFields: new Set(["ResourceQuotaSpec.hard", "ResourceQuotaStatus.hard", "ResourceQuotaStatus.used"]),
    presentWhenZero: {
      "ResourceQuota.spec": {},
      "ResourceQuota.status": {},
      "ScopedResourceSelectorRequirement.scopeName": "",
      "ScopedResourceSelectorRequirement.operator": "",
    },
  },
  fieldNumbers: {
    ResourceQuota: "metadata,spec,status",
    ResourceQuotaSpec: "hard,scopes,scopeSelector",
    ResourceQuotaStatus: "hard,used",
    ScopeSelector: "matchExpressions",
    ScopedResourceSelectorRequirement: "scopeName,operator,values",
  },
};

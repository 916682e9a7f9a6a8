import type { TypeDeclarations } from "../../schema/type-declarations.js";

export const resourceQuotaTypes: TypeDeclarations = {
  fields: {
    ResourceQuota: "metadata:ObjectMeta spec+:ResourceQuotaSpec status+:ResourceQuotaStatus | apiVersion kind",
    ResourceQuotaSpec: "hard:{}quantity scopes:[]string scopeSelector:ScopeSelector",
    ResourceQuotaStatus: "hard:{}quantity used:{}quantity",
    ScopeSelector: "matchExpressions:[]ScopedResourceSelectorRequirement",
    ScopedResourceSelectorRequirement: "scopeName!+ operator!+ values:[]string",
  },
  atomicTypes: new Set(["ScopeSelector"]),
};

import type { TypeDeclarations } from "../../schema/type-declarations.js";
import { fields } from "./fields.js";

export const limitRangeTypes: TypeDeclarations = {
  fields,
  rules: {
    quantityFields: new Set(
      ["default", "defaultRequest", "max", "maxLimitRequestRatio", "min"].map((field) => `LimitRangeItem.${field}`),
    ),
    presentWhenZero: { "LimitRange.spec": {}, "LimitRangeSpec.limits": null, "LimitRangeItem.type": "" },
    keepsEmptyCollection: new Set(["LimitRangeSpec.limits"]),
  },
  fieldNumbers: {
    LimitRange: "metadata,spec",
    LimitRangeSpec: "limits",
    LimitRangeItem: "type,max,min,default,defaultRequest,maxLimitRequestRatio",
  },
};

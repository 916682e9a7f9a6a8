import type { TypeDeclarations } from "../../schema/type-declarations.js";

export const limitRangeTypes: TypeDeclarations = {
  fields: {
    LimitRange: "metadata:ObjectMeta spec+:LimitRangeSpec | apiVersion kind",
    LimitRangeSpec: "limits!+*:[]LimitRangeItem",
    LimitRangeItem:
      "type!+ max:{}quantity min:{}quantity default:{}quantity defaultRequest:{}quantity maxLimitRequestRatio:{}quantity",
  },
};

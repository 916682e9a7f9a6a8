import type { TypeDeclarations } from "../../schema/type-declarations.js";
import { fields } from "./fields.js";

export const priorityClassTypes: TypeDeclarations = {
  fields,
  rules: {
    presentWhenZero: { "PriorityClass.value": 0 },
    dropsZero: new Set(["PriorityClass.globalDefault"]),
    keepsEmptyString: new Set(["PriorityClass.preemptionPolicy"]),
  },
  fieldNumbers: { PriorityClass: "metadata,value,globalDefault,description,preemptionPolicy" },
};

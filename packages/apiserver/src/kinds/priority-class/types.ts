import type { TypeDeclarations } from "../../schema/type-declarations.js";

export const priorityClassTypes: TypeDeclarations = {
  fields: {
    PriorityClass:
      "metadata:ObjectMeta value+:int32 globalDefault?:boolean description preemptionPolicy* | apiVersion kind",
  },
};

export { ownerReferenceTo } from "./owner-reference.js";

export type { ControllerDescription, OperatorDescription, UsedResource } from "./operator-description.js";

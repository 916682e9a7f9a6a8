export { ownerReferenceTo } from "./owner-reference.js";

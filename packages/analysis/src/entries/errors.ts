export { ClusterError } from "../errors/cluster-error.js";
export { InterruptedError } from "../errors/interrupted-error.js";
export { UserError } from "../errors/user-error.js";

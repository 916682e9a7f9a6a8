import type { ControllerName } from "./controllers.js";

/** Controllers of a faulty cluster: those of any cluster and, with a kubelet, the one for lost nodes. */
export type FaultyControllerName = ControllerName | "node-lifecycle-controller";

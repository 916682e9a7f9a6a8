import type { NodeShape } from "@kubewright/cluster";

/** A machine, with the name of its group if the group has a `count`. */
export interface GroupedNode extends NodeShape {
  readonly group?: string;
}

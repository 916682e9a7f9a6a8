import type { NodeShape } from "@kubewright/cluster";

/** A machine, and the group with a `count` that it belongs to, if any. */
export interface GroupedNode extends NodeShape {
  readonly group?: string;
}

/** JSON paths of a Scale's fields in the object: `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  /** Path of a label selector, a map of labels, or a selector as text. Absent: the Scale has no selector. */
  readonly labelSelectorPath?: string;
}

/** The supported feature gates, with kube-apiserver's names. */
export interface ServerFeatureGates {
  /** Lists and watches of a part of a collection with `shardSelector` (KEP-5866). Alpha, off by default. */
  readonly ShardedListAndWatch?: boolean;
}

export const defaultFeatureGates: Required<ServerFeatureGates> = { ShardedListAndWatch: false };

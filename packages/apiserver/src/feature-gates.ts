/** The features of kube-apiserver that can be switched here, by its names for them. */
export interface ServerFeatureGates {
  /** Lists and watches of a part of a collection, as `shardSelector` says (KEP-5866). Alpha, off by default. */
  readonly ShardedListAndWatch?: boolean;
}

export const defaultFeatureGates: Required<ServerFeatureGates> = { ShardedListAndWatch: false };

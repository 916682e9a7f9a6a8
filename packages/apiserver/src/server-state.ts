import type { VersionBehaviours } from "@kubewright/api";

import type { BookmarkClock } from "./bookmark-clock.js";
import type { ContainerLogs } from "./container-logs.js";
import type { ConversionContext } from "./custom-resources/conversion-webhook.js";
import type { ServerFeatureGates } from "./feature-gates.js";
import type { LeaseRenewals } from "./lease-renewals.js";
import type { WriteServer } from "./registry/write.js";
import type { ShardMetrics } from "./shard-metrics.js";
import type { WatchConversionCache } from "./watch-conversion-cache.js";

/** State that all requests of a server share. */
export interface ServerState extends WriteServer {
  /** Absent when no containers run. */
  readonly containerLogs: ContainerLogs | undefined;
  readonly watchConversions: WatchConversionCache;
  readonly conversions: ConversionContext;
  /** Aborted when the server closes: pending webhook calls are cancelled. */
  readonly ended: AbortController;
  readonly bookmarks: BookmarkClock;
  readonly leaseRenewals: LeaseRenewals;
  readonly behaviours: VersionBehaviours;
  readonly featureGates: Required<ServerFeatureGates>;
  readonly watchCache: boolean;
  readonly shardMetrics: ShardMetrics | undefined;
}

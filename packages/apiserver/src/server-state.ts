import type { VersionBehaviours } from "@kubewright/api";
import type { Clock, Random } from "@kubewright/clock";

import type { ServerFeatureGates } from "./feature-gates.js";
import type { AccessControl } from "./access-control.js";
import type { ConversionContext } from "./custom-resources/conversion-webhook.js";
import type { ContainerLogs } from "./container-logs.js";
import type { BookmarkClock } from "./bookmark-clock.js";
import type { ManagerReader } from "./fields/managers.js";
import type { NewObjectFields } from "./fields/new-object-fields.js";
import type { QuotaUsage } from "./kinds/resource-quota/quota-usage.js";
import type { Admission } from "./registry/admission.js";
import type { ResourceRegistry } from "./resource-registry.js";
import type { BuiltInSchemas } from "./schema/built-in-schemas.js";
import type { ServedResource } from "./served-resource.js";
import type { ShardMetrics } from "./shard-metrics.js";
import type { Store } from "./storage/store.js";
import type { WatchConversionCache } from "./watch-conversion-cache.js";

/** State that all requests of a server share. */
export interface ServerState {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly registry: ResourceRegistry;
  readonly namespaces: ServedResource;
  readonly schemas: BuiltInSchemas;
  /** Whether the server maintains `metadata.managedFields`. */
  readonly tracksFields: boolean;
  /** Whether containers may be privileged. */
  readonly allowsPrivileged: boolean;
  /** Absent when no containers run. */
  readonly containerLogs: ContainerLogs | undefined;
  readonly managers: ManagerReader;
  readonly newObjectFields: NewObjectFields;
  readonly watchConversions: WatchConversionCache;
  readonly access: AccessControl;
  readonly admission: Admission;
  readonly conversions: ConversionContext;
  readonly quotas: QuotaUsage;
  /** Aborted when the server closes: pending webhook calls are cancelled. */
  readonly ended: AbortController;
  readonly bookmarks: BookmarkClock;
  /** Whether the server creates the default objects of a cluster. */
  readonly hasDefaultObjects: boolean;
  readonly behaviours: VersionBehaviours;
  readonly featureGates: Required<ServerFeatureGates>;
  readonly watchCache: boolean;
  readonly shardMetrics: ShardMetrics | undefined;
}

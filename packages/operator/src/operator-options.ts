import type { HealthCheck } from "@kubewright/controller";
import type { MetricFamilies } from "@kubewright/controller/metrics";

import type { EventsApi } from "./event-recording.js";
import type { Webhook } from "./webhooks/webhook.js";
import type { NarrowedCache } from "./cache-narrowing.js";

/** Leader election among the replicas. The default durations are client-go's. */
export interface LeaderElectionOptions {
  /** Name of the Lease. Default: the operator's name. */
  readonly leaseName?: string;
  /** Namespace of the Lease. Default: the namespace that the operator runs in. */
  readonly namespace?: string;
  /** How long other replicas wait after the last observed renewal before they take over. Default 15,000. */
  readonly leaseDurationMs?: number;
  /** How long the leader retries a renewal before it stops leading. Default 10,000. */
  readonly renewDeadlineMs?: number;
  /** Pause between attempts. Default 2,000. */
  readonly retryPeriodMs?: number;
}

export interface OperatorOptions<Metrics> {
  /** A DNS name; also the field manager, the source of Events, the User-Agent, and the name of the Lease. */
  readonly name: string;
  /** Namespaces that it watches. Cluster-scoped objects are always included. Default: all. */
  readonly namespaces?: readonly string[];
  /**
   * What the caches of single resources store: `narrowCache(secrets, { labelSelector: … })`. Default: all objects of
   * every resource that a controller watches, owns or reads.
   */
  readonly caches?: readonly NarrowedCache[];
  /**
   * Default: on, so that one of several replicas is active. Writes of other replicas are rejected before they are sent.
   */
  readonly leaderElection?: LeaderElectionOptions | false;
  /**
   * All replicas are active, each for some of the namespaces, instead of one leader: see `@kubewright/sharding`. A
   * controller of a namespaced resource then sees the namespaces of one bucket at a time, and cluster-scoped objects.
   * Controllers of cluster-scoped resources, and tasks, run in one replica, which sees everything. Cannot be combined
   * with `namespaces`. Default: off.
   */
  readonly sharding?: "namespaces";
  /**
   * Maximum requests per second, with a burst, without those for the Lease. Default: no limit, which leaves limiting to
   * the API server.
   */
  readonly rateLimit?: { readonly qps: number; readonly burst: number };
  /**
   * The API that events are recorded with. Default `v1`, as Kubernetes' own controllers. With `events.k8s.io/v1` the
   * reporting instance is `NAME-HOST`.
   */
  readonly events?: EventsApi;
  /** Webhooks that `runOperator` and test clusters serve, and that manifests register. Default: none. */
  readonly webhooks?: readonly Webhook[];
  /** Creates the operator's own metrics in the registry of the run. Reconcilers receive the return value. */
  readonly metrics?: (families: MetricFamilies) => Metrics;
  /** Further readiness checks by name, in addition to unfilled caches. */
  readonly readyChecks?: Readonly<Record<string, HealthCheck>>;
  /**
   * Further liveness checks by name, in addition to a Lease that is not renewed. A failure should restart the process.
   */
  readonly healthChecks?: Readonly<Record<string, HealthCheck>>;
  /** Longest time to fill the caches, in milliseconds, before the run fails; may be Infinity. Default 120,000. */
  readonly cacheSyncTimeoutMs?: number;
  /** How long reconciles may take to end on shutdown, in milliseconds; may be Infinity. Default 30,000. */
  readonly stopTimeoutMs?: number;
  /** Resync period, in milliseconds: all objects are reconciled even without changes. Default 10 hours; 0: never. */
  readonly resyncMs?: number;
}

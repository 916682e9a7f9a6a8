import type { HealthCheck } from "@kubewright/controller";
import type { MetricFamilies } from "@kubewright/controller/metrics";

/** Which of several processes acts. All times are client-go's defaults. */
export interface LeaderElectionOptions {
  /** Name of the Lease. Default: the operator's. */
  readonly leaseName?: string;
  /** Where the Lease is. Default: the namespace that the operator runs in. */
  readonly namespace?: string;
  /** How long others wait, after the last change they saw, before they take over. Default 15,000. */
  readonly leaseDurationMs?: number;
  /** How long the leader tries to renew before it gives up. Default 10,000. */
  readonly renewDeadlineMs?: number;
  /** Pause between attempts. Default 2,000. */
  readonly retryPeriodMs?: number;
}

export interface OperatorOptions<Metrics> {
  /** A DNS name: field manager, reporter of events, User-Agent, and name of the Lease. */
  readonly name: string;
  /** Namespaces it looks at; what is in none it sees in any case. Default: all. */
  readonly namespaces?: readonly string[];
  /** Default: on, so that one of several replicas acts. What is not the leader's writes is refused before it is sent. */
  readonly leaderElection?: LeaderElectionOptions | false;
  /**
   * All replicas act, each for some of the namespaces, in place of one that leads: see `@kubewright/sharding`. A controller then sees
   * the namespaces of one bucket at a time, and what is in no namespace; controllers of resources that are in none, and tasks, run at
   * one replica, which sees everything. Not together with `namespaces`. Default: off.
   */
  readonly sharding?: "namespaces";
  /** Most requests a second, after a burst, those of its Lease not counted. Default: not limited, which is up to the server. */
  readonly rateLimit?: { readonly qps: number; readonly burst: number };
  /** Makes metrics of its own in the registry of the run. Reconcilers are handed what it answers with. */
  readonly metrics?: (families: MetricFamilies) => Metrics;
  /** What makes it not ready, beside caches that are not filled, by name. */
  readonly readyChecks?: Readonly<Record<string, HealthCheck>>;
  /** What it should be restarted for, beside a Lease that it fails to renew, by name. */
  readonly healthChecks?: Readonly<Record<string, HealthCheck>>;
  /** How long the caches may take to fill, in milliseconds, before it gives up; may be infinite. Default 120,000. */
  readonly cacheSyncTimeoutMs?: number;
  /** How long reconciles may take to end when it is stopped, in milliseconds; may be infinite. Default 30,000. */
  readonly stopTimeoutMs?: number;
  /** How often everything is reconciled though nothing has changed, in milliseconds. Default 10 hours; 0: never. */
  readonly resyncMs?: number;
}

import { canonicalControllers, controllerListErrors } from "@kubewright/controller";

/** Everything the command line decides. */
export interface ControllerManagerOptions {
  /** `""`: not given. */
  readonly kubeconfig: string;
  readonly master: string;
  /** As given; aliases not yet replaced. */
  readonly controllers: readonly string[];
  readonly concurrentJobSyncs: number;
  readonly concurrentCronJobSyncs: number;
  readonly concurrentTtlAfterFinishedSyncs: number;
  readonly concurrentGcSyncs: number;
  /** False: the garbage collector is not started, whatever `controllers` says. */
  readonly enableGarbageCollector: boolean;
  /** Ended pods of the whole cluster that PodGC lets be; not positive: all of them. */
  readonly terminatedPodGcThreshold: number;
  /** Requests a second of each controller; below 0: no limit; 0: the library's default of 5. */
  readonly kubeApiQps: number;
  readonly kubeApiBurst: number;
  readonly minResyncPeriodMs: number;
  readonly controllerStartIntervalMs: number;
  /** 0: no limit. */
  readonly controllerShutdownTimeoutMs: number;
  readonly leaderElect: boolean;
  readonly leaderElectLeaseDurationMs: number;
  readonly leaderElectRenewDeadlineMs: number;
  readonly leaderElectRetryPeriodMs: number;
  readonly leaderElectResourceLock: string;
  readonly leaderElectResourceName: string;
  readonly leaderElectResourceNamespace: string;
  readonly loggingFormat: string;
  readonly verbosity: number;
}

/** Upstream's defaults. */
export const defaultOptions: ControllerManagerOptions = {
  kubeconfig: "",
  master: "",
  controllers: ["*"],
  concurrentJobSyncs: 5,
  concurrentCronJobSyncs: 5,
  concurrentTtlAfterFinishedSyncs: 5,
  concurrentGcSyncs: 20,
  enableGarbageCollector: true,
  terminatedPodGcThreshold: 12_500,
  kubeApiQps: 20,
  kubeApiBurst: 30,
  minResyncPeriodMs: 12 * 3_600_000,
  controllerStartIntervalMs: 0,
  controllerShutdownTimeoutMs: 10_000,
  leaderElect: true,
  leaderElectLeaseDurationMs: 15_000,
  leaderElectRenewDeadlineMs: 10_000,
  leaderElectRetryPeriodMs: 2_000,
  leaderElectResourceLock: "leases",
  leaderElectResourceName: "kube-controller-manager",
  leaderElectResourceNamespace: "kube-system",
  loggingFormat: "text",
  verbosity: 0,
};

/**
 * What is wrong with the options as a whole, in upstream's words. Upstream finds durations of leader election that do not
 * fit each other only when it starts to elect, and panics.
 */
export function optionErrors(options: ControllerManagerOptions): string[] {
  const errors: string[] = [];
  const check = (holds: boolean, message: string): void => void (holds || errors.push(message));
  const { concurrentJobSyncs, concurrentCronJobSyncs, loggingFormat, kubeApiQps, kubeApiBurst } = options;
  check(
    loggingFormat === "text" || loggingFormat === "json",
    `format: Invalid value: ${JSON.stringify(loggingFormat)}: Unsupported log format`,
  );
  errors.push(...controllerListErrors(options.controllers));
  check(concurrentJobSyncs >= 1, `concurrent-job-syncs must be greater than 0, but got ${concurrentJobSyncs}`);
  check(
    concurrentCronJobSyncs >= 1,
    `concurrent-cron-job-syncs must be greater than 0, but got ${concurrentCronJobSyncs}`,
  );
  check(
    kubeApiQps <= 0 || kubeApiBurst > 0,
    "burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0",
  );
  if (options.leaderElect) {
    const {
      leaderElectLeaseDurationMs: leaseMs,
      leaderElectRenewDeadlineMs: renewMs,
      leaderElectRetryPeriodMs: retryMs,
    } = options;
    check(options.leaderElectResourceLock === "leases", 'resourceLock value must be "leases"');
    check(leaseMs > renewMs, "leaseDuration must be greater than renewDeadline");
    check(renewMs > retryMs * 1.2, "renewDeadline must be greater than retryPeriod*JitterFactor");
    check(leaseMs >= 1_000, "leaseDuration must be at least 1s: a Lease counts whole seconds");
    check(retryMs > 0, "retryPeriod must be greater than zero");
  }
  return [...new Set(errors)];
}

/** The options with aliases of controllers replaced. */
export function completed(options: ControllerManagerOptions): ControllerManagerOptions {
  return { ...options, controllers: canonicalControllers(options.controllers) };
}

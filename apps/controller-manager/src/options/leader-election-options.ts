import type { LeaderOptions } from "@kubewright/manager";

import { flagGroup } from "../flag.js";
import { bool, duration, textNamed } from "../flag-types.js";

export interface LeaderElectionOptions {
  readonly leaderElect: boolean;
  readonly leaderElectLeaseDurationMs: number;
  readonly leaderElectRenewDeadlineMs: number;
  readonly leaderElectRetryPeriodMs: number;
  readonly leaderElectResourceLock: string;
  readonly leaderElectResourceName: string;
  readonly leaderElectResourceNamespace: string;
}

/** Upstream's defaults except for the name: this manager and kube-controller-manager do not contend for one Lease. */
export const leaderElectionDefaults: LeaderElectionOptions = {
  leaderElect: true,
  leaderElectLeaseDurationMs: 15_000,
  leaderElectRenewDeadlineMs: 10_000,
  leaderElectRetryPeriodMs: 2_000,
  leaderElectResourceLock: "leases",
  leaderElectResourceName: "kubewright-controller-manager",
  leaderElectResourceNamespace: "kube-system",
};

/** The Lease of leader election, and its durations. */
export function leaseOf(
  options: LeaderElectionOptions,
): Pick<LeaderOptions, "namespace" | "name" | "leaseDurationMs" | "renewDeadlineMs" | "retryPeriodMs"> {
  return {
    namespace: options.leaderElectResourceNamespace,
    name: options.leaderElectResourceName,
    leaseDurationMs: options.leaderElectLeaseDurationMs,
    renewDeadlineMs: options.leaderElectRenewDeadlineMs,
    retryPeriodMs: options.leaderElectRetryPeriodMs,
  };
}

export const leaderElectionFlags = flagGroup<LeaderElectionOptions>("Leader election", {
  leaderElect: ["leader-elect", bool, "run controllers only while holding a Lease, so that replicas can stand by"],
  leaderElectLeaseDurationMs: [
    "leader-elect-lease-duration",
    duration,
    "how long others wait for a leader that does not renew",
  ],
  leaderElectRenewDeadlineMs: [
    "leader-elect-renew-deadline",
    duration,
    "how long a leader tries to renew before it gives up",
  ],
  leaderElectRetryPeriodMs: ["leader-elect-retry-period", duration, "pause between attempts"],
  leaderElectResourceLock: ["leader-elect-resource-lock", textNamed("kind"), "only 'leases'"],
  leaderElectResourceName: [
    "leader-elect-resource-name",
    textNamed("name"),
    "name of the Lease; with --managed-by, that name is appended to the default",
  ],
  leaderElectResourceNamespace: [
    "leader-elect-resource-namespace",
    textNamed("namespace"),
    "namespace of the Lease; with --namespace, the default is the first of those",
  ],
});

/** Validates the options. Upstream detects inconsistent durations only when it starts to elect, and panics. */
export function leaderElectionErrors(options: LeaderElectionOptions): string[] {
  if (!options.leaderElect) return [];
  const {
    leaderElectLeaseDurationMs: leaseMs,
    leaderElectRenewDeadlineMs: renewMs,
    leaderElectRetryPeriodMs: retryMs,
  } = options;
  const errors: string[] = [];
  if (options.leaderElectResourceLock !== "leases") errors.push('resourceLock value must be "leases"');
  if (!(leaseMs > renewMs)) errors.push("leaseDuration must be greater than renewDeadline");
  if (!(renewMs > retryMs * 1.2)) errors.push("renewDeadline must be greater than retryPeriod*JitterFactor");
  if (!(leaseMs >= 1_000)) errors.push("leaseDuration must be at least 1s: a Lease counts whole seconds");
  if (!(retryMs > 0)) errors.push("retryPeriod must be greater than zero");
  if (options.leaderElectResourceName === "") errors.push("resourceName is required");
  if (options.leaderElectResourceNamespace === "") errors.push("resourceNamespace is required");
  return errors;
}

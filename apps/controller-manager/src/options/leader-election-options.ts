import type { LeaderOptions } from "@kubewright/manager";

import { type OptionsOf, option, optionGroup } from "../flag.js";
import { bool, duration, textNamed } from "../flag-types.js";

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

/** Upstream's defaults except for the name: this manager and kube-controller-manager do not contend for one Lease. */
export const leaderElectionOptions = optionGroup("Leader election", {
  leaderElect: option(bool, true, "run controllers only while holding a Lease, so that replicas can stand by"),
  leaderElectLeaseDurationMs: option(duration, 15_000, "how long others wait for a leader that does not renew"),
  leaderElectRenewDeadlineMs: option(duration, 10_000, "how long a leader tries to renew before it gives up"),
  leaderElectRetryPeriodMs: option(duration, 2_000, "pause between attempts"),
  leaderElectResourceLock: option(textNamed("kind"), "leases", "only 'leases'"),
  leaderElectResourceName: option(
    textNamed("name"),
    "kubewright-controller-manager",
    "name of the Lease; with --managed-by, that name is appended to the default",
  ),
  leaderElectResourceNamespace: option(
    textNamed("namespace"),
    "kube-system",
    "namespace of the Lease; with --namespace, the default is the first of those",
  ),
});

export type LeaderElectionOptions = OptionsOf<typeof leaderElectionOptions>;

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

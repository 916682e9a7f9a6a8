import {
  type FeatureGate,
  FeatureGateError,
  type FeatureGateSettings,
  resolveFeatureGates as resolveGates,
} from "@kubewright/controller";

import { UsageError } from "./flag-values.js";

/**
 * The gates of kube-controller-manager v1.36 that concern the implemented controllers.
 *
 * `ControllerManagerReleaseLeaderElectionLockOnExit` is off upstream: SIGTERM ends the process immediately there. This
 * binary shuts down gracefully unless the gate is switched off.
 */
export const featureGates: readonly FeatureGate[] = [
  { name: "ComponentFlagz", stage: "BETA", default: true, hasEffect: true },
  { name: "ComponentStatusz", stage: "BETA", default: true, hasEffect: true },
  { name: "ContextualLogging", stage: "BETA", default: true, hasEffect: true },
  {
    name: "ControllerManagerReleaseLeaderElectionLockOnExit",
    stage: "ALPHA",
    default: true,
    hasEffect: true,
  },
  { name: "CoordinatedLeaderElection", stage: "BETA", default: false },
  { name: "GenericWorkload", stage: "ALPHA", default: false },
  { name: "JobBackoffLimitPerIndex", stage: "GA", default: true, locked: true },
  { name: "JobManagedBy", stage: "GA", default: true, locked: true },
  { name: "JobPodReplacementPolicy", stage: "GA", default: true, locked: true },
  { name: "JobSuccessPolicy", stage: "GA", default: true, locked: true },
  { name: "LoggingAlphaOptions", stage: "ALPHA", default: false, hasEffect: true },
  { name: "LoggingBetaOptions", stage: "BETA", default: true, hasEffect: true },
  { name: "MutablePodResourcesForSuspendedJobs", stage: "BETA", default: true },
  { name: "MutableSchedulingDirectivesForSuspendedJobs", stage: "BETA", default: true },
  { name: "NativeHistograms", stage: "ALPHA", default: false },
  { name: "StaleControllerConsistencyJob", stage: "BETA", default: true },
  { name: "WorkloadWithJob", stage: "ALPHA", default: false, dependsOn: ["GenericWorkload"] },
];

/**
 * Resolves the values of `--feature-gates`.
 *
 * @throws UsageError for an invalid setting.
 */
export function resolveFeatureGates(
  items: readonly string[],
  gates: readonly FeatureGate[] = featureGates,
): FeatureGateSettings {
  try {
    return resolveGates(items, gates);
  } catch (error) {
    if (error instanceof FeatureGateError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

/** Help text of the gates that can be set, sorted by name. */
export function describeFeatureGates(): string {
  return featureGates
    .filter(({ stage }) => stage === "ALPHA" || stage === "BETA")
    .map(({ name, stage, default: byDefault }) => `  kube:${name}=true|false (${stage} - default=${byDefault})`)
    .join("\n");
}

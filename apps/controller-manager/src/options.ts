import { canonicalControllers } from "@kubewright/controller";

import { resolveFeatureGates } from "./feature-gates.js";
import { type OptionsOf, defaultsOf } from "./flag.js";
import { managedByLeaseName } from "./managed-by-lease.js";
import { clientOptions, connectionErrors, connectionOptions } from "./options/connection-options.js";
import { controllerErrors, controllerOptions } from "./options/controller-options.js";
import { authenticationOptions, authorizationOptions, delegatedAuthErrors } from "./options/delegated-auth-options.js";
import { genericErrors, genericOptions } from "./options/generic-options.js";
import { leaderElectionErrors, leaderElectionOptions } from "./options/leader-election-options.js";
import { debuggingOptions, logOptions, metricsOptions, observabilityErrors } from "./options/observability-options.js";
import { safetyErrors, safetyOptions } from "./options/safety-options.js";
import { servingErrors, servingOptions } from "./options/serving-options.js";
import { shardingErrors, shardingOptions } from "./options/sharding-options.js";
import { shardTimingOf } from "./sharding/shard-timing.js";

/** Every option of the command line and the configuration file, in the order of the help. */
export const OPTIONS = {
  ...debuggingOptions,
  ...genericOptions,
  ...clientOptions,
  ...safetyOptions,
  ...leaderElectionOptions,
  ...shardingOptions,
  ...servingOptions,
  ...authenticationOptions,
  ...authorizationOptions,
  ...controllerOptions,
  ...metricsOptions,
  ...logOptions,
  ...connectionOptions,
};

export type ControllerManagerOptions = OptionsOf<typeof OPTIONS>;

/** The defaults: upstream's, where upstream has the option. */
export const defaultOptions: ControllerManagerOptions = defaultsOf(OPTIONS);

/** Controllers whose work is not bound to a namespace. */
const CLUSTER_WIDE = ["pod-garbage-collector-controller", "garbage-collector-controller"];

/**
 * Validates the options, with upstream's messages where upstream has any.
 *
 * @returns One message for each problem.
 * @throws UsageError for invalid feature gates.
 */
export function optionErrors(options: ControllerManagerOptions): string[] {
  const { enabled } = resolveFeatureGates(options.featureGates);
  return [
    ...new Set([
      ...observabilityErrors(options, (gate) => enabled.get(gate) === true),
      ...genericErrors(options),
      ...safetyErrors(options),
      ...controllerErrors(options),
      ...connectionErrors(options),
      ...leaderElectionErrors(options),
      ...servingErrors(options),
      ...delegatedAuthErrors(options),
      ...namespaceErrors(options),
      ...shardingErrors(options),
      ...timingErrors(options),
    ]),
  ];
}

function namespaceErrors({
  namespaces,
  controllers,
  useServiceAccountCredentials,
}: ControllerManagerOptions): string[] {
  if (namespaces.length === 0) return [];
  const errors = CLUSTER_WIDE.filter((name) => namesController(controllers, name)).map(
    (name) => `${name} needs the whole cluster: leave it out of --controllers, or leave out --namespace`,
  );
  if (useServiceAccountCredentials)
    errors.push("--use-service-account-credentials needs kube-system: it cannot be combined with --namespace");
  return errors;
}

/** Sharding needs more slack between the durations than leader election. */
function timingErrors(options: ControllerManagerOptions): string[] {
  if (options.sharding === "" || leaderElectionErrors(options).length > 0) return [];
  try {
    shardTimingOf(options);
    return [];
  } catch (error) {
    return [`--sharding: ${(error as Error).message}`];
  }
}

function namesController(items: readonly string[], name: string): boolean {
  return items.some((item) => item !== "*" && !item.startsWith("-") && canonical(item) === name);
}

function canonical(item: string): string | undefined {
  return canonicalControllers([item])[0];
}

/**
 * Completes valid options:
 *
 * - Aliases of controllers become canonical names.
 * - With `--managed-by` only the Job controller and the named controllers run.
 * - Name and namespace of the Lease follow from `--managed-by` and `--namespace`, unless they are given.
 */
export function completeOptions(options: ControllerManagerOptions): ControllerManagerOptions {
  const { managedBy, leaderElectResourceName, leaderElectResourceNamespace } = options;
  const namespaces = [...new Set(options.namespaces)].sort();
  const named = canonicalControllers(options.controllers);
  const hasDefaultName = leaderElectResourceName === defaultOptions.leaderElectResourceName;
  const hasDefaultNamespace = leaderElectResourceNamespace === defaultOptions.leaderElectResourceNamespace;
  return {
    ...options,
    namespaces,
    controllers: managedBy === "" ? named : [...named.filter((item) => item !== "*"), "job-controller"],
    leaderElectResourceName:
      managedBy !== "" && hasDefaultName
        ? managedByLeaseName(leaderElectResourceName, managedBy)
        : leaderElectResourceName,
    leaderElectResourceNamespace: hasDefaultNamespace
      ? (namespaces[0] ?? leaderElectResourceNamespace)
      : leaderElectResourceNamespace,
  };
}

/** Controllers that are skipped because the manager is limited to some namespaces. */
export function skippedControllers({ namespaces }: Pick<ControllerManagerOptions, "namespaces">): readonly string[] {
  return namespaces.length === 0 ? [] : CLUSTER_WIDE;
}

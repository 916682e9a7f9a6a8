import type { Flag } from "./flag.js";
import type { ControllerManagerOptions } from "./options.js";
import { clientFlags, connectionFlags } from "./options/connection-options.js";
import { controllerFlags } from "./options/controller-options.js";
import { authenticationFlags, authorizationFlags } from "./options/delegated-auth-options.js";
import { genericFlags } from "./options/generic-options.js";
import { leaderElectionFlags } from "./options/leader-election-options.js";
import { debuggingFlags, logFlags, metricsFlags } from "./options/observability-options.js";
import { safetyFlags } from "./options/safety-options.js";
import { servingFlags } from "./options/serving-options.js";
import { shardingFlags } from "./options/sharding-options.js";

/** Every flag that sets an option, in the order of the help. The groups are in `options/`. */
export const FLAGS: readonly Flag[] = [
  ...debuggingFlags,
  ...genericFlags,
  ...clientFlags,
  ...safetyFlags,
  ...leaderElectionFlags,
  ...shardingFlags,
  ...servingFlags,
  ...authenticationFlags,
  ...authorizationFlags,
  ...controllerFlags,
  ...metricsFlags,
  ...logFlags,
  ...connectionFlags,
];

/** Every flag with its effective value, sorted by name and formatted as in the help. */
export function flagValues(options: ControllerManagerOptions): (readonly [name: string, value: string])[] {
  const values = options as unknown as Readonly<Record<string, unknown>>;
  return FLAGS.map(({ name, option, type }) => [name, type.format(values[option])] as const).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
}

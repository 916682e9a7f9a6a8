import type { Flag } from "./flag.js";
import { clientFlags, connectionFlags } from "./options/connection-options.js";
import { controllerFlags } from "./options/controller-options.js";
import { authenticationFlags, authorizationFlags } from "./options/delegated-auth-options.js";
import { genericFlags } from "./options/generic-options.js";
import { leaderElectionFlags } from "./options/leader-election-options.js";
import { debuggingFlags, logFlags, metricsFlags } from "./options/observability-options.js";
import { safetyFlags } from "./options/safety-options.js";
import { servingFlags } from "./options/serving-options.js";

/** Every flag that sets an option, in the order of the help. Their groups are in `options/`. */
export const FLAGS: readonly Flag[] = [
  ...debuggingFlags,
  ...genericFlags,
  ...clientFlags,
  ...safetyFlags,
  ...leaderElectionFlags,
  ...servingFlags,
  ...authenticationFlags,
  ...authorizationFlags,
  ...controllerFlags,
  ...metricsFlags,
  ...logFlags,
  ...connectionFlags,
];

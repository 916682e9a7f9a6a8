export { parseCommandLine } from "./command-line.js";
export { runControllerManager } from "./controller-manager.js";
export { UsageError } from "./flag-values.js";
export { createLogger } from "./logging.js";
export { defaultOptions } from "./options.js";
export { run } from "./run.js";
export { waitForHealthy } from "./wait-for-healthy.js";

export type { Invocation } from "./command-line.js";
export type { ControllerManagerDeps } from "./controller-manager-deps.js";
export type { LoggingOptions } from "./logging.js";
export type { ControllerManagerOptions } from "./options.js";
export type { ProcessContext } from "./run.js";
export type { Build } from "./user-agent.js";

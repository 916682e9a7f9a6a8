import { errorMessage } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";
import { type Environment, createHttpTransport, loadClientConfig } from "@kubewright/transport-http";

import { PROGRAM, parseCommandLine } from "./command-line.js";
import { runControllerManager } from "./controller-manager.js";
import { UsageError } from "./flag-values.js";
import { createLogger } from "./logging.js";
import { type Build, KUBERNETES_VERSION } from "./user-agent.js";

/** What the process is and has. */
export interface ProcessContext {
  readonly args: readonly string[];
  readonly env: Environment;
  readonly pid: number;
  readonly hostname: string;
  readonly build: Build;
  readonly localTimeZone: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
}

/**
 * The whole program, from the command line to the exit status: 0 after `--help`, `--version` or being told to stop; 2 for
 * wrong usage (upstream: 1); 1 for everything that fails later. A failure is one line, never a stack.
 */
export async function run(context: ProcessContext, signal: AbortSignal): Promise<number> {
  const { args, build, clock } = context;
  let invocation;
  try {
    invocation = parseCommandLine(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    context.writeError(`${PROGRAM}: ${error.message}\n`);
    return 2;
  }
  if (invocation.command === "help") {
    context.writeOut(invocation.text);
    return 0;
  }
  if (invocation.command === "version") {
    context.writeOut(`${PROGRAM} v${build.version} (Kubernetes ${KUBERNETES_VERSION})\n`);
    return 0;
  }

  const { options } = invocation;
  const logger = createLogger({
    format: options.loggingFormat,
    verbosity: options.verbosity,
    clock,
    pid: context.pid,
    write: context.writeError,
  });
  try {
    const { kubeconfig, master } = options;
    const connection = await loadClientConfig({
      kubeconfig,
      master,
      env: context.env,
      warn: (message) => logger.warn({}, message),
    });
    const { transport, close } = createHttpTransport({ ...connection, clock });
    logger.info(
      { version: `v${build.version}`, kubernetes: KUBERNETES_VERSION, server: connection.server },
      "Starting",
    );
    const loggerFor = (name?: string) => (name === undefined ? logger : logger.child({ logger: name }));
    await runControllerManager({ ...context, options, transport, loggerFor }, signal);
    await close();
    return 0;
  } catch (error) {
    logger.error({ err: errorMessage(error) }, "command failed");
    return 1;
  }
}

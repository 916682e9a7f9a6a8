import { errorMessage } from "@kubewright/client";
import { type Clock, type Random, untilAborted } from "@kubewright/clock";
import { type Environment, createHttpTransport, loadClientConfig } from "@kubewright/transport-http";

import { type Invocation, PROGRAM, parseCommandLine } from "./command-line.js";
import { runControllerManager } from "./controller-manager.js";
import { resolveFeatureGates } from "./feature-gates.js";
import { UsageError } from "./flag-values.js";
import { flagValues } from "./flags.js";
import { Loggers } from "./loggers.js";
import type { ProcessStats } from "./metrics/process-metrics.js";
import { defaultOptions } from "./options.js";
import { createOperations } from "./serving/create-operations.js";
import { type SecureServing, startSecureServing } from "./serving/secure-serving.js";
import type { ServingIo } from "./serving/serving-io.js";
import { type Build, KUBERNETES_VERSION, goPlatform, userAgent } from "./user-agent.js";

/** The environment of the process. */
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
  /** Reads a text file, for the configuration. */
  readonly readFile: (path: string) => string;
  /** Restores the default action of signals: they end the process immediately. */
  readonly ignoreSignals: () => void;
  /** Sockets and files of the HTTPS server. */
  readonly servingIo: ServingIo;
  readonly readProcess: () => ProcessStats;
  /** Version of Node, such as `v24.1.0`. */
  readonly nodeVersion: string;
}

/**
 * Runs the whole program and returns the exit status:
 *
 * - 0 after `--help`, `--version` or a shutdown.
 * - 2 for wrong usage (upstream: 1), which includes running beside a live kube-controller-manager without the flags for
 *   that.
 * - 1 for every later failure.
 *
 * A failure is logged in one line, without a stack trace.
 */
export async function run(context: ProcessContext, signal: AbortSignal): Promise<number> {
  const { args, readFile, clock } = context;
  // A manager without controllers and Lease has no timers or sockets that keep the process alive.
  const release = clock.keepAlive();
  try {
    const invocation = parseCommandLine(args, { version: context.build.version, readFile });
    return await execute(invocation, context, signal);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    context.writeError(`${PROGRAM}: ${error.message}\n`);
    return 2;
  } finally {
    release();
  }
}

async function execute(invocation: Invocation, context: ProcessContext, signal: AbortSignal): Promise<number> {
  if (invocation.command === "help") {
    context.writeOut(invocation.text);
    return 0;
  }
  if (invocation.command === "version") {
    context.writeOut(versionText(context, invocation.raw));
    return 0;
  }
  return runManager(invocation, context, signal);
}

async function runManager(
  { options, ignored, version }: Extract<Invocation, { command: "run" }>,
  context: ProcessContext,
  signal: AbortSignal,
): Promise<number> {
  const { clock } = context;
  const build = version === undefined ? context.build : { ...context.build, version: version.slice(1) };
  const gates = resolveFeatureGates(options.featureGates);
  const loggers = new Loggers({
    format: options.loggingFormat,
    verbosity: options.verbosity,
    clock,
    pid: context.pid,
    write: context.writeError,
    vmodule: options.vmodule,
    named: gates.enabled.get("ContextualLogging") !== false,
  });
  const logger = loggers.for();
  if (options.verbosity >= 1) {
    for (const [name, value] of flagValues(options)) logger.info({}, `FLAG: --${name}=${JSON.stringify(value)}`);
  }
  for (const { message, ...fields } of gates.warnings) logger.warn(fields, message);
  if (options.kubeApiContentType !== defaultOptions.kubeApiContentType)
    logger.info({ ignored: options.kubeApiContentType }, "Requests to the API server are JSON");
  if (ignored.length > 0) logger.info({ flags: ignored }, "Ignoring flags of controllers that are not in this binary");
  if (gates.enabled.get("ControllerManagerReleaseLeaderElectionLockOnExit") === false) context.ignoreSignals();
  let serving: SecureServing | undefined;
  try {
    const { kubeconfig, master } = options;
    const warn = (message: string): void => logger.warn({}, message);
    const connection = await loadClientConfig({ kubeconfig, master, env: context.env, warn });
    const { transport, close } = createHttpTransport({ ...connection, clock, warn });
    const { server, ca, serverName, insecureSkipTlsVerify, proxyUrl } = connection;
    const anonymous = options.useServiceAccountCredentials
      ? createHttpTransport({ server, ca, serverName, insecureSkipTlsVerify, proxyUrl, clock })
      : undefined;
    logger.info(
      { version: `v${build.version}`, kubernetes: KUBERNETES_VERSION, server: withoutCredentials(server) },
      "Starting",
    );
    const loggerFor = (name?: string) => loggers.for(name);
    const operations = await createOperations(
      { ...context, build, options, server, logger, verbosity: loggers },
      signal,
    );
    const starting = startSecureServing({
      ...context,
      options,
      handler: operations.router.handle,
      io: context.servingIo,
      userAgent: userAgent(build, "authentication"),
      logger,
      metrics: operations.metrics,
    });
    // Starting the server may wait for the API server; a shutdown does not wait for that.
    serving = await Promise.race([starting, untilAborted(signal).then(() => undefined)]);
    if (signal.aborted) {
      void starting.then((late) => late?.close()).catch(() => undefined);
      await Promise.all([close(), anonymous?.close()]);
      return 0;
    }
    const anonymousTransport = anonymous?.transport;
    await runControllerManager(
      { ...context, build, options, transport, anonymousTransport, loggerFor, operations },
      signal,
    );
    await Promise.all([serving?.close(), close(), anonymous?.close()]);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    logger.error({ err: errorMessage(error) }, "command failed");
    // Do not wait: a process that lost the Lease must end before another one starts to lead.
    void serving?.close();
    return 1;
  }
}

function versionText({ build, nodeVersion }: ProcessContext, raw: boolean): string {
  if (!raw) return `${PROGRAM} v${build.version} (Kubernetes ${KUBERNETES_VERSION})\n`;
  const parts = {
    program: PROGRAM,
    version: `v${build.version}`,
    kubernetes: KUBERNETES_VERSION,
    node: nodeVersion,
    platform: goPlatform(build),
  };
  return `${JSON.stringify(parts)}\n`;
}

/** Removes a user and password from the URL, for the log. */
function withoutCredentials(server: string): string {
  const url = new URL(server);
  url.username = "";
  url.password = "";
  return url.href.replace(/\/$/, "");
}

import { hostname } from "node:os";

import { Client, errorMessage } from "@kubewright/client";
import { type Logger, realClock, realRandom, uuid } from "@kubewright/clock";
import { HealthChecks, type Runnable, runInStages } from "@kubewright/controller";
import { createHttpTransport } from "@kubewright/transport-http";
import { Registry, collectDefaultMetrics } from "prom-client";

import type { LeaderElectionOptions } from "../operator-options.js";
import type { RunnableOperator } from "../operator-run.js";
import type { Tracer } from "../tracing.js";
import type { Webhook } from "../webhooks/webhook.js";
import { findConnection } from "./connection.js";
import { type HttpServer, healthEndpoint, metricsEndpoint, serveEndpoints } from "./http-endpoints.js";
import { openTelemetryTracer } from "./open-telemetry.js";
import { type ProcessFlags, UsageError, checkAddress, parseFlags, usage } from "./process-flags.js";
import { processLogger } from "./process-logger.js";
import { processWebhooks } from "./process-webhooks.js";
import { profilingEndpoint } from "./profiling.js";

export interface RunOperatorOptions {
  /** Command line arguments; `--help` lists the flags. Default: those of this process. */
  readonly args?: readonly string[];
  /** Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Webhooks that every replica serves over HTTPS and publishes to the API server. Default: the operator's. */
  readonly webhooks?: readonly Webhook[];
  /** Default: JSON lines on standard error. */
  readonly logger?: Logger;
  /** Default: the tracer of `@opentelemetry/api`, if installed. */
  readonly tracer?: Tracer;
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * Runs an operator as this process. Connects by kubeconfig or in-cluster configuration, and serves health and metrics.
 * SIGTERM or SIGINT stops it gracefully, a second signal immediately.
 *
 * The process ends with status 0 after a shutdown, 2 for invalid flags, 1 for all other failures, which are logged in
 * one line.
 */
export async function runOperator(operator: RunnableOperator, options: RunOperatorOptions = {}): Promise<never> {
  const { args = process.argv.slice(2), env = process.env } = options;
  const stop = new AbortController();
  for (const name of SIGNALS) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(1);
      stop.abort(new Error(`stopped by ${name}`));
    });
  }
  let flags: ProcessFlags;
  try {
    flags = parseFlags(args, env);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${operator.name}: ${error.message}\n`);
    process.exit(2);
  }
  if (flags.help) {
    process.stdout.write(usage(operator.name));
    process.exit(0);
  }
  const logger = options.logger ?? processLogger(operator.name, flags.logLevel);
  try {
    const { tracer, webhooks = operator.options.webhooks ?? [] } = options;
    await run(operator, { flags, env, logger, tracer, webhooks, signal: stop.signal });
  } catch (error) {
    logger.error({ err: errorMessage(error) }, "Operator failed");
    process.exit(1);
  }
  // Exit explicitly: background work may still be in flight.
  process.exit(0);
}

interface ProcessContext {
  readonly flags: ProcessFlags;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly tracer: Tracer | undefined;
  readonly webhooks: readonly Webhook[];
  readonly signal: AbortSignal;
}

async function run(operator: RunnableOperator, { flags, env, logger, ...context }: ProcessContext): Promise<void> {
  const warn = (message: string): void => logger.warn({}, message);
  const { connection, namespace } = await findConnection(flags.kubeconfig, env, warn);
  const health = { healthz: new HealthChecks({ logger }), readyz: new HealthChecks({ logger }) };
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const servers = await serve(flags, { health, registry, logger });
  const { transport, close } = createHttpTransport({ ...connection, clock: realClock, warn });
  const tracer = context.tracer ?? (await openTelemetryTracer("@kubewright/operator"));
  const main: Runnable = {
    name: operator.name,
    run: (signal) =>
      operator.run({
        transport,
        clock: realClock,
        random: realRandom,
        signal,
        logger,
        host: hostname(),
        identity: `${hostname()}_${uuid(realRandom)}`,
        namespace,
        namespaces: flags.namespaces,
        leaderElection: leaderElectionOf(operator, flags),
        registry,
        health,
        tracer,
        server: new URL(connection.server).host,
      }),
  };
  const address = checkAddress("--webhook-bind-address", flags.webhookBindAddress);
  const webhooks: Runnable[] = [];
  const canBeFound = flags.webhookUrl !== undefined || env.KUBERNETES_SERVICE_HOST !== undefined;
  if (context.webhooks.length > 0 && address !== undefined && !canBeFound)
    warn("Not serving webhooks: outside of a cluster the API server finds them by --webhook-url only");
  else if (context.webhooks.length > 0 && address !== undefined) {
    let isServing = false;
    health.readyz.add("webhooks", () => (isServing ? undefined : new Error("webhooks are not served yet")));
    webhooks.push(
      processWebhooks({
        name: operator.name,
        namespace: namespace ?? "default",
        webhooks: context.webhooks,
        client: new Client({ transport, clock: realClock, userAgent: operator.name }),
        clock: realClock,
        logger,
        address,
        certDir: flags.webhookCertDir,
        url: flags.webhookUrl,
        onServing: () => (isServing = true),
      }),
    );
  }
  try {
    // The operator's last writes may need its webhooks.
    await runInStages([[main], webhooks], context.signal);
  } finally {
    for (const server of servers) server.close();
    // Do not wait: a process that lost the Lease must end before another one starts to lead.
    void close();
  }
}

function leaderElectionOf(
  { options: { leaderElection } }: RunnableOperator,
  { leaderElect, leaderElectionNamespace: namespace }: ProcessFlags,
): LeaderElectionOptions | false {
  const isOn = leaderElect ?? leaderElection !== false;
  if (!isOn) return false;
  return {
    ...(leaderElection === false ? undefined : leaderElection),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

interface Served {
  readonly health: { readonly healthz: HealthChecks; readonly readyz: HealthChecks };
  readonly registry: Registry;
  readonly logger: Logger;
}

/** Serves health and metrics, on one port when both have the same address. */
async function serve(
  { healthProbeBindAddress, metricsBindAddress, profilingBindAddress }: ProcessFlags,
  { health, registry, logger }: Served,
): Promise<HttpServer[]> {
  const isShared = healthProbeBindAddress === metricsBindAddress && !metricsBindAddress.endsWith(":0");
  const probes = [healthEndpoint("healthz", health.healthz), healthEndpoint("readyz", health.readyz)];
  const metrics = [metricsEndpoint(registry)];
  const listeners = [
    {
      flag: "--health-probe-bind-address",
      text: healthProbeBindAddress,
      serves: isShared ? "health, metrics" : "health",
      endpoints: isShared ? [...probes, ...metrics] : probes,
    },
    ...(isShared
      ? []
      : [{ flag: "--metrics-bind-address", text: metricsBindAddress, serves: "metrics", endpoints: metrics }]),
    {
      flag: "--profiling-bind-address",
      // Profiles show what is in memory, so that they are served to other machines only on request.
      text: profilingBindAddress.startsWith(":") ? `127.0.0.1${profilingBindAddress}` : profilingBindAddress,
      serves: "profiling",
      endpoints: [profilingEndpoint(realClock)],
    },
  ];
  const servers: HttpServer[] = [];
  for (const { flag, text, serves, endpoints } of listeners) {
    const address = checkAddress(flag, text);
    if (address === undefined) continue;
    const server = await serveEndpoints(address, endpoints).catch((error: unknown) => {
      throw new Error(`${flag}: ${errorMessage(error)}; 0 serves nowhere`, { cause: error });
    });
    servers.push(server);
    logger.info({ address: server.address, serves }, "Listening");
  }
  return servers;
}

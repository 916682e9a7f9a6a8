import { Client } from "@kubewright/client";
import { type Clock, realClock } from "@kubewright/clock";
import type { Transport } from "@kubewright/transport";
import {
  type Environment,
  createHttpTransport,
  loadKubeConfig,
  proxyFromEnvironment,
} from "@kubewright/transport-http";

import { UserError } from "@kubewright/analysis/errors";
import type { ConnectOptions, ClusterConnection } from "@kubewright/analysis/ports";

/**
 * Connects to the cluster of a kubeconfig, like the controller manager.
 *
 * @throws UserError for a missing or incomplete kubeconfig.
 */
export async function connect(
  { kubeconfig, context, userAgent }: ConnectOptions,
  env: Environment,
  clock: Clock = realClock,
): Promise<ClusterConnection> {
  try {
    const found = await loadKubeConfig({ path: kubeconfig, context, env });
    const proxyUrl = found.proxyUrl ?? proxyFromEnvironment(new URL(found.server), env);
    const { transport, close } = createHttpTransport({ ...found, proxyUrl, clock });
    const timed = withServerTime(transport);
    const client = new Client({ transport: timed.transport, clock, userAgent, timeoutMs: TIMEOUT_MS });
    return { client, namespace: found.namespace ?? "default", serverTimeMs: timed.serverTimeMs, close };
  } catch (error) {
    const { message } = error as Error;
    throw new UserError(message.includes("no configuration has been provided") ? NO_KUBECONFIG : message, {
      cause: error,
    });
  }
}

const TIMEOUT_MS = 30_000;
const NO_KUBECONFIG = "no kubeconfig: give --kubeconfig FILE, set KUBECONFIG, or write ~/.kube/config";

/** Stores the `Date` header of the latest response. */
function withServerTime(inner: Transport): { transport: Transport; serverTimeMs: () => number | undefined } {
  let latestMs: number | undefined;
  return {
    transport: async (request) => {
      const response = await inner(request);
      const dateMs = Date.parse(String(response.headers["date"] ?? ""));
      if (!Number.isNaN(dateMs)) latestMs = dateMs;
      return response;
    },
    serverTimeMs: () => latestMs,
  };
}

import { readFile } from "node:fs/promises";

import {
  type ConnectionOptions,
  type Environment,
  inClusterConfig,
  loadKubeConfig,
  proxyFromEnvironment,
} from "@kubewright/transport-http";

export interface Connection {
  readonly connection: ConnectionOptions;
  /** The namespace of this process, if known. */
  readonly namespace: string | undefined;
}

const NAMESPACE_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/**
 * Finds the API server: the given kubeconfig, else those of `KUBECONFIG`, else the in-cluster configuration, else the
 * kubeconfig in the home directory.
 *
 * @throws Error with the reason why the configuration cannot be used.
 * @see controller-runtime pkg/client/config GetConfig
 */
export async function findConnection(
  kubeconfig: string | undefined,
  env: Environment,
  warn: (message: string) => void,
): Promise<Connection> {
  if (kubeconfig === undefined && !env.KUBECONFIG && env.KUBERNETES_SERVICE_HOST) {
    const connection = await inClusterConfig({ env, warn });
    return { connection: withProxy(connection, env), namespace: env.POD_NAMESPACE || (await ownNamespace()) };
  }
  const { namespace, context: _context, ...connection } = await loadKubeConfig({ path: kubeconfig, env });
  return { connection: withProxy(connection, env), namespace: env.POD_NAMESPACE || namespace };
}

async function ownNamespace(): Promise<string | undefined> {
  const text = await readFile(NAMESPACE_FILE, "utf8").catch(() => "");
  return text.trim() || undefined;
}

function withProxy(connection: ConnectionOptions, env: Environment): ConnectionOptions {
  const server = connection.server.includes("://") ? connection.server : `https://${connection.server}`;
  return { ...connection, proxyUrl: connection.proxyUrl ?? proxyFromEnvironment(new URL(server), env) };
}

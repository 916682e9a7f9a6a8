import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";

import type { ConnectionOptions } from "./connection-options.js";
import type { Environment } from "./environment.js";

const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

export interface InClusterOptions {
  readonly env: Environment;
  /** Folder with the ServiceAccount's files. */
  readonly serviceAccountPath?: string;
  /** Called if the CA cannot be read. The connection then uses the authorities that Node trusts. */
  readonly warn?: (message: string) => void;
}

/**
 * Returns the connection of a pod to its own cluster (client-go `rest.InClusterConfig`).
 *
 * @throws Error if the environment has no API server, or the ServiceAccount has no token.
 */
export async function inClusterConfig({
  env,
  serviceAccountPath = SERVICE_ACCOUNT,
  warn,
}: InClusterOptions): Promise<ConnectionOptions> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port) {
    throw new Error(
      "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined",
    );
  }
  const tokenFile = `${serviceAccountPath}/token`;
  const token = (await readFile(tokenFile, "utf8")).trim();
  const caFile = `${serviceAccountPath}/ca.crt`;
  const ca = await readFile(caFile, "utf8").catch((error: Error) => {
    warn?.(`Expected to load root CA config from ${caFile}, but got err: ${error.message}`);
    return undefined;
  });
  return { server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`, token, tokenFile, ca };
}

import type { ConnectionOptions } from "./connection-options.js";
import { proxyFromEnvironment } from "./environment-proxy.js";
import { type InClusterOptions, inClusterConfig } from "./in-cluster-config.js";
import { loadKubeConfig } from "./kubeconfig.js";
import { serverUrl } from "./server-url.js";

export interface ClientConfigOptions extends InClusterOptions {
  /** Value of `--kubeconfig`; `""` if not given. */
  readonly kubeconfig: string;
  /** Value of `--master`; `""` if not given. */
  readonly master: string;
}

/**
 * Returns the connection of a Kubernetes component (client-go `clientcmd.BuildConfigFromFlags`). This is the
 * kubeconfig, with `master` in place of its server; or `master` alone, without credentials. If neither is given, it is
 * the cluster that this process runs in.
 *
 * If the kubeconfig names no proxy, the proxy comes from the environment ({@link proxyFromEnvironment}).
 *
 * @throws Error with the reason if there is no usable configuration.
 */
export async function loadClientConfig(options: ClientConfigOptions): Promise<ConnectionOptions> {
  const config = await chooseConfig(options);
  const url = serverUrl(config);
  const server = config.server.includes("://") ? config.server : `${url.protocol}//${config.server}`;
  return { ...config, server, proxyUrl: config.proxyUrl ?? proxyFromEnvironment(url, options.env) };
}

async function chooseConfig(options: ClientConfigOptions): Promise<ConnectionOptions> {
  const { kubeconfig, master, warn } = options;
  if (kubeconfig) return loadKubeConfig({ path: kubeconfig, server: master });
  if (master) return { server: master };
  warn?.("Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  This might not work.");
  try {
    return await inClusterConfig(options);
  } catch (error) {
    warn?.(`error creating inClusterConfig, falling back to default config: ${(error as Error).message}`);
    return loadKubeConfig();
  }
}

export { loadClientConfig } from "./client-config.js";
export { ConnectionError } from "./connection-error.js";
export { createHttpTransport } from "./http-transport.js";
export { inClusterConfig } from "./in-cluster-config.js";
export { proxyFromEnvironment } from "./environment-proxy.js";
export { loadKubeConfig } from "./kubeconfig.js";

export type { ClientConfigOptions } from "./client-config.js";
export type { ConnectionOptions, ExecPlugin, Impersonation } from "./connection-options.js";
export type { Environment } from "./environment.js";
export type { HttpTransport, HttpTransportOptions } from "./http-transport.js";
export type { InClusterOptions } from "./in-cluster-config.js";
export type { KubeConfigConnection, KubeConfigOptions } from "./kubeconfig.js";

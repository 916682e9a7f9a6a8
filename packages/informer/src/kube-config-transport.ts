import type { RequestOptions } from "node:https";

import type { KubeConfig } from "@kubernetes/client-node";
import type { Clock } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, HeaderFields } from "@kubewright/transport";
import { type ExecPlugin, type HttpTransport, createHttpTransport } from "@kubewright/transport-http";

/**
 * A transport that authenticates like @kubernetes/client-node's `KubeConfig`. Before each request it gets certificates
 * and headers from the `KubeConfig`, so that all of its authentication methods work, including added authenticators.
 * Credential plugins are run by kubewright's transport: client-node waits for ever for a plugin that hangs, and leaves
 * it running.
 */
export class KubeConfigTransport {
  readonly #kubeConfig: KubeConfig;
  readonly #clock: Clock;
  #current: { readonly key: string; readonly http: HttpTransport } | undefined;

  constructor(kubeConfig: KubeConfig, clock: Clock) {
    this.#kubeConfig = kubeConfig;
    this.#clock = clock;
  }

  /** @throws Error when the kubeconfig has no current cluster; and the errors of the kubeconfig. */
  async send(request: ApiRequest): Promise<ApiResponse> {
    const cluster = this.#kubeConfig.getCurrentCluster();
    if (cluster === null) throw new Error("No currently active cluster");
    const options: RequestOptions = {};
    await withoutPlugin(this.#kubeConfig).applyToHTTPSOptions(options);
    const headers = authenticationHeaders(options);
    const { transport } = this.#connect({
      server: cluster.server,
      proxyUrl: cluster.proxyUrl,
      ca: pem(options.ca),
      cert: pem(options.cert),
      key: pem(options.key),
      serverName: options.servername,
      insecureSkipTlsVerify: options.rejectUnauthorized === false,
      exec: headers["authorization"] === undefined ? pluginOf(this.#kubeConfig) : undefined,
    });
    return transport({ ...request, headers: { ...request.headers, ...headers } });
  }

  async close(): Promise<void> {
    await this.#current?.http.close();
    this.#current = undefined;
  }

  /** Reuses the connections as long as their options are equal. */
  #connect(connection: Omit<Parameters<typeof createHttpTransport>[0], "clock">): HttpTransport {
    const key = JSON.stringify(connection);
    if (this.#current?.key !== key) {
      void this.#current?.http.close();
      this.#current = { key, http: createHttpTransport({ ...connection, clock: this.#clock }) };
    }
    return this.#current.http;
  }
}

/** Returns the kubeconfig with the current user's plugin removed. */
function withoutPlugin(kubeConfig: KubeConfig): KubeConfig {
  const user = kubeConfig.getCurrentUser();
  if (user?.exec == null) return kubeConfig;
  const others = { ...user, exec: undefined };
  return Object.create(kubeConfig, { getCurrentUser: { value: () => others } }) as KubeConfig;
}

function pluginOf(kubeConfig: KubeConfig): ExecPlugin | undefined {
  return (kubeConfig.getCurrentUser()?.exec ?? undefined) as ExecPlugin | undefined;
}

function authenticationHeaders({ headers = {}, auth }: RequestOptions): HeaderFields {
  const fields: Record<string, string> = {};
  if (auth) fields["authorization"] = `Basic ${Buffer.from(auth).toString("base64")}`;
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && value !== null) fields[name.toLowerCase()] = String(value);
  }
  return fields;
}

function pem(value: RequestOptions["ca"] | RequestOptions["key"]): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  return typeof value === "string" ? value : Buffer.isBuffer(value) ? value.toString("utf8") : undefined;
}

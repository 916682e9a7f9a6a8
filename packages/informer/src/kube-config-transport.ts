import type { RequestOptions } from "node:https";

import type { KubeConfig } from "@kubernetes/client-node";
import type { Clock } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, HeaderFields } from "@kubewright/transport";
import { type ExecPlugin, type HttpTransport, createHttpTransport } from "@kubewright/transport-http";

/**
 * Requests as @kubernetes/client-node's `KubeConfig` would make them: before each it is asked for certificates and
 * headers, so that every way it knows to authenticate works here, added authenticators included. Credential plugins are run
 * by our transport: client-node waits for one that hangs for ever, and leaves it behind.
 */
export class KubeConfigTransport {
  readonly #kubeConfig: KubeConfig;
  readonly #clock: Clock;
  #current: { readonly key: string; readonly http: HttpTransport } | undefined;

  constructor(kubeConfig: KubeConfig, clock: Clock) {
    this.#kubeConfig = kubeConfig;
    this.#clock = clock;
  }

  /** @throws Error when the kubeconfig has no current cluster, or what it throws. */
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

  /** Connections are kept for as long as they would be made in the same way. */
  #connect(connection: Omit<Parameters<typeof createHttpTransport>[0], "clock">): HttpTransport {
    const key = JSON.stringify(connection);
    if (this.#current?.key !== key) {
      void this.#current?.http.close();
      this.#current = { key, http: createHttpTransport({ ...connection, clock: this.#clock }) };
    }
    return this.#current.http;
  }
}

/** The same, for a user who has no plugin. */
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

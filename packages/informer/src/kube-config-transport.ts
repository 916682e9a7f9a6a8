import type { RequestOptions } from "node:https";

import type { KubeConfig } from "@kubernetes/client-node";
import type { Clock } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, HeaderFields } from "@kubewright/transport";
import { type HttpTransport, createHttpTransport } from "@kubewright/transport-http";

/**
 * Requests as @kubernetes/client-node's `KubeConfig` would make them: before each it is asked for certificates and
 * headers, so that every way it knows to authenticate works here, added authenticators and credential plugins included.
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
    await this.#kubeConfig.applyToHTTPSOptions(options);
    const { transport } = this.#connect({
      server: cluster.server,
      proxyUrl: cluster.proxyUrl,
      ca: pem(options.ca),
      cert: pem(options.cert),
      key: pem(options.key),
      serverName: options.servername,
      insecureSkipTlsVerify: options.rejectUnauthorized === false,
    });
    return transport({ ...request, headers: { ...request.headers, ...authentication(options) } });
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

function authentication({ headers = {}, auth }: RequestOptions): HeaderFields {
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

import { type Clock, realClock } from "@kubewright/clock";
import {
  type ApiRequest,
  type ApiResponse,
  type HeaderFields,
  type RequestBody,
  type Transport,
  jsonData,
} from "@kubewright/transport";
import { Agent, type Dispatcher, ProxyAgent } from "undici";

import { ConnectionError } from "./connection-error.js";
import type { ConnectionOptions } from "./connection-options.js";
import { Exchange } from "./exchange.js";
import type { Identity, IdentitySource } from "./identity-source.js";
import { identitySource } from "./identity.js";
import { impersonationHeaders } from "./impersonation.js";
import { serverUrl } from "./server-url.js";
import { type TlsOptions, checkKeyPair, tlsOptions } from "./tls-options.js";

export interface HttpTransportOptions extends ConnectionOptions {
  /** Measures the age of credentials. Default: the machine's clock. */
  readonly clock?: Clock;
  /**
   * Time-out for the response headers, in milliseconds; the connection then counts as dead. 0: none. Default: 40 s, and
   * none for followed logs. API servers respond much sooner, unless slow admission webhooks delay them.
   */
  readonly responseTimeoutMs?: number;
  /** Time-out for a credential plugin, in milliseconds. The plugin is then killed with its children. Default 60 s. */
  readonly pluginTimeoutMs?: number;
  /**
   * Called with the lines that a credential plugin writes to standard error, and when it takes long. Default: writes to
   * standard error.
   */
  readonly warn?: (message: string) => void;
}

export interface HttpTransport {
  readonly transport: Transport;
  /** Closes all connections and kills a running credential plugin. Pending requests reject. */
  readonly close: () => Promise<void>;
}

/**
 * Creates a transport over HTTP/1.1, with or without TLS.
 *
 * Each watch has its own connection, so watches cannot delay other requests, and an idle watch stays open. A dead
 * connection is detected within 45 seconds. While the client waits for data, TCP keep-alive detects it. After the
 * client has sent data, `responseTimeoutMs` detects it, because the kernel sends no probes while it retransmits
 * unacknowledged data. (client-go: HTTP/2 pings, 30 s + 15 s.)
 *
 * The transport rejects with the signal's reason after an abort, with `JsonDataError` for a body that JSON cannot hold,
 * and with {@link ConnectionError} if there is no response. Any HTTP status is a response. After an abort, the stream of a watch ends; any other body fails.
 *
 * @throws Error for options that cannot be met as given, and would otherwise weaken verification or change the
 * identity: a server that is not a URL; authorities that are not PEM, or that are combined with
 * `insecureSkipTlsVerify`; a certificate without its key; two ways to authenticate; a plugin with an unknown version;
 * an impersonation without a user.
 */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const {
    clock = realClock,
    responseTimeoutMs = RESPONSE_TIMEOUT_MS,
    pluginTimeoutMs = PLUGIN_TIMEOUT_MS,
    warn = writeToStandardError,
  } = options;
  const identities = identitySource(options, { clock, pluginTimeoutMs, warn });
  const connection = new HttpConnection(options, identities, responseTimeoutMs);
  return { transport: (request) => connection.send(request), close: () => connection.close() };
}

const CONNECT_TIMEOUT_MS = 30_000;
/** Delay of the first probe. Node then allows ten failed probes, one second apart. */
const KEEP_ALIVE_MS = 30_000;
const RESPONSE_TIMEOUT_MS = 40_000;
const PLUGIN_TIMEOUT_MS = 60_000;
/** Maximum number of connections for all requests except watches. Further requests wait. */
const MAX_CONNECTIONS = 64;

interface Dispatchers {
  readonly ordinary: Dispatcher;
  readonly streams: Dispatcher;
  readonly cert: string | undefined;
}

class HttpConnection {
  readonly #options: ConnectionOptions;
  readonly #identities: IdentitySource;
  readonly #origin: string;
  readonly #prefix: string;
  readonly #tls: TlsOptions;
  readonly #impersonation: HeaderFields;
  readonly #responseTimeoutMs: number;
  #dispatchers: Dispatchers;

  constructor(options: ConnectionOptions, identities: IdentitySource, responseTimeoutMs: number) {
    const url = serverUrl(options);
    checkKeyPair(options.cert, options.key);
    this.#tls = tlsOptions(options);
    this.#options = options;
    this.#identities = identities;
    this.#responseTimeoutMs = responseTimeoutMs;
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, "");
    this.#impersonation = options.impersonate === undefined ? {} : impersonationHeaders(options.impersonate);
    this.#dispatchers = this.#createDispatchers({});
  }

  async send({ method, path, headers, body, signal, beforeSend }: ApiRequest): Promise<ApiResponse> {
    signal?.throwIfAborted();
    const stream = isStream(path);
    let withheld: { readonly error: unknown } | undefined;
    const checkedBeforeSend = (): void => {
      try {
        beforeSend?.();
      } catch (error) {
        withheld = { error: error };
        throw error;
      }
    };
    const mapError = (error: unknown): unknown => {
      if (withheld !== undefined) return withheld.error;
      if (signal?.aborted) return signal.reason;
      return new ConnectionError(`${method} ${this.#origin}${this.#prefix}${path.split("?", 1)[0]}`, error);
    };
    const encoded = encode(body, { method, path });
    const pending = this.#identities.current();
    const identity = pending instanceof Promise ? await unlessAborted(pending, signal) : pending;
    try {
      signal?.throwIfAborted();
      const dispatcher = this.#dispatcher(identity, stream);
      const request = {
        origin: this.#origin,
        method,
        path: this.#prefix + path,
        headers: this.#headers(headers, body, identity),
        body: encoded,
        headersTimeout: isLogFollow(path) ? 0 : this.#responseTimeoutMs,
      };
      const exchange = new Exchange({
        signal,
        beforeSend: beforeSend && checkedBeforeSend,
        mapError: mapError,
        endsWhenAborted: stream,
      });
      dispatcher.dispatch(request, exchange);
      const { status, headers: fields, chunks } = await exchange.response;
      const encoding = fields["content-encoding"] ?? "identity";
      if (encoding !== "identity") {
        // Compression was not requested. Nothing is decompressed, so a small response cannot become a large one.
        void chunks.return();
        throw new Error(`the answer is encoded as ${JSON.stringify(encoding)}, which was not asked for`);
      }
      if (status === 401) this.#identities.rejected?.(identity);
      return {
        status,
        ...(encoded === null ? {} : { sentBytes: encoded.byteLength }),
        headers: fields,
        body: { type: "bytes", chunks },
      };
    } catch (error) {
      throw mapError(error);
    }
  }

  async close(): Promise<void> {
    this.#identities.close?.();
    await destroyDispatchers(this.#dispatchers);
  }

  /**
   * A new client certificate applies only to new connections. Watches are closed, and requests on old connections may
   * complete (client-go closes all).
   */
  #dispatcher(identity: Identity, stream: boolean): Dispatcher {
    if (identity.cert !== this.#dispatchers.cert) {
      const { ordinary, streams } = this.#dispatchers;
      void Promise.all([ordinary.close(), streams.destroy()]);
      this.#dispatchers = this.#createDispatchers(identity);
    }
    return stream ? this.#dispatchers.streams : this.#dispatchers.ordinary;
  }

  #createDispatchers(identity: Identity): Dispatchers {
    const { proxyUrl } = this.#options;
    const cert = identity.cert ?? this.#options.cert;
    const key = identity.key ?? this.#options.key;
    const { ca, ...tls } = { ...this.#tls, ...(cert && key ? { cert, key } : {}) };
    const tcp = { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS, timeout: CONNECT_TIMEOUT_MS };
    const connect = { ...tls, ...tcp, ...(ca === undefined ? {} : { ca: [...ca] }) };
    const shared = { allowH2: false, keepAliveTimeout: KEEP_ALIVE_MS, connect };
    const agent = (own: Agent.Options): Dispatcher =>
      proxyUrl
        ? new ProxyAgent({ ...shared, ...own, uri: proxyUrl, requestTls: connect, proxyTls: tcp })
        : new Agent({ ...shared, ...own });
    return {
      ordinary: agent({ connections: MAX_CONNECTIONS }),
      streams: agent({ bodyTimeout: 0 }),
      cert: identity.cert,
    };
  }

  #headers(
    given: HeaderFields,
    body: RequestBody | undefined,
    { authorization }: Identity,
  ): Record<string, string | string[]> {
    const headers = { ...given, ...this.#impersonation } as Record<string, string | string[]>;
    if (authorization !== undefined) headers.authorization ??= authorization;
    if (body?.type === "decoded") headers["content-type"] ??= "application/json";
    return headers;
  }
}

function isStream(path: string): boolean {
  return /[?&](?:watch|follow)=(?:true|1)(?:&|$)/.test(path);
}

/** A followed log can have nothing to send for a long time. The response to a watch begins immediately. */
function isLogFollow(path: string): boolean {
  return /[?&]follow=(?:true|1)(?:&|$)/.test(path);
}

function encode(body: RequestBody | undefined, request: Pick<ApiRequest, "method" | "path">): Uint8Array | null {
  if (body === undefined) return null;
  return body.type === "bytes" ? body.bytes : Buffer.from(JSON.stringify(jsonData(body.value, request)));
}

async function destroyDispatchers({ ordinary, streams }: Dispatchers): Promise<void> {
  await Promise.all([ordinary.destroy(), streams.destroy()]);
}

/** An aborted request does not wait for the credentials; other requests may still need them. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function writeToStandardError(message: string): void {
  process.stderr.write(`${message}\n`);
}

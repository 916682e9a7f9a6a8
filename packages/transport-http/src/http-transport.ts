import { type Clock, realClock } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, HeaderFields, RequestBody, Transport } from "@kubewright/transport";
import { Agent, type Dispatcher, ProxyAgent } from "undici";

import { ConnectionError } from "./connection-error.js";
import type { ConnectionOptions } from "./connection-options.js";
import { Exchange } from "./exchange.js";
import { type Identity, type IdentitySource, identitySource } from "./identity.js";
import { impersonationHeaders } from "./impersonation.js";
import { serverUrl } from "./server-url.js";
import { type TlsOptions, checkKeyPair, tlsOptions } from "./tls-options.js";

export interface HttpTransportOptions extends ConnectionOptions {
  /** Ages credentials. Default: the machine's. */
  readonly clock?: Clock;
  /**
   * Longest wait for an answer to begin; then its connection counts as dead. 0: none. Default 40 s, and none for logs that
   * are followed. API servers begin to answer much sooner, unless slow admission webhooks keep them from it.
   */
  readonly responseTimeoutMs?: number;
  /** How long a credential plugin may run; then it is killed with its children. Default 60 s. */
  readonly pluginTimeoutMs?: number;
  /** Told what a credential plugin writes to standard error, and when it takes long. Default: standard error. */
  readonly warn?: (message: string) => void;
}

export interface HttpTransport {
  readonly transport: Transport;
  /** Cuts all connections and ends a credential plugin that is running; what is still under way rejects. */
  readonly close: () => Promise<void>;
}

/**
 * Requests over HTTP/1.1, with or without TLS.
 *
 * Watches have connections of their own, as many as there are watches: they cannot hold up other requests, and a quiet
 * one stays open. A connection that died without a word is noticed within 45 seconds: by TCP keep-alive when we wait for
 * something, and, since the kernel does not probe while it repeats what was not acknowledged, by `answerTimeoutMs` when we
 * sent something. (client-go: HTTP/2 pings, 30 s + 15 s.)
 *
 * The transport rejects with the signal's reason after an abort, and with {@link ConnectionError} when there is no answer;
 * any HTTP status is an answer. The stream of a watch ends when it is aborted, any other body then fails.
 *
 * @throws Error for options that cannot be followed, and would leave us with less verification or another identity than
 *   they ask for: a server that is not a URL, authorities that are not PEM or not to be asked (`insecureSkipTlsVerify`), a
 *   certificate without its key, two ways to authenticate, a plugin of an unknown version, nobody to impersonate.
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
/** The first probe goes out after this long; then Node lets ten fail, a second apart. */
const KEEP_ALIVE_MS = 30_000;
const RESPONSE_TIMEOUT_MS = 40_000;
const PLUGIN_TIMEOUT_MS = 60_000;
/** Connections for everything but watches; more requests than that wait for one another. */
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
    const encoded = encode(body);
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
        // It was not asked for. Nothing is unpacked, so a small answer cannot become a large one.
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
   * A new client certificate shows only on new connections. Watches are cut, and requests on old ones may end (client-go
   * cuts all).
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

/** A log that may have nothing to say for long. A watch is answered at once. */
function isLogFollow(path: string): boolean {
  return /[?&]follow=(?:true|1)(?:&|$)/.test(path);
}

function encode(body: RequestBody | undefined): Uint8Array | null {
  if (body === undefined) return null;
  return body.type === "bytes" ? body.bytes : Buffer.from(JSON.stringify(body.value));
}

async function destroyDispatchers({ ordinary, streams }: Dispatchers): Promise<void> {
  await Promise.all([ordinary.destroy(), streams.destroy()]);
}

/** Whoever gives up does not wait for the credentials, which others may still want. */
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

import { type Clock, realClock } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, HeaderFields, RequestBody, Transport } from "@kubewright/transport";
import { Agent, type Dispatcher, ProxyAgent } from "undici";

import { ConnectionError } from "./connection-error.js";
import type { ConnectionOptions, Impersonation } from "./connection-options.js";
import { type Identity, type IdentitySource, identitySource } from "./identity.js";

export interface HttpTransportOptions extends ConnectionOptions {
  /** Ages the token file. Default: the machine's. */
  readonly clock?: Clock;
}

export interface HttpTransport {
  readonly transport: Transport;
  /** Cuts all connections; what is still under way rejects. */
  readonly close: () => Promise<void>;
}

/**
 * Requests over HTTP/1.1, with or without TLS.
 *
 * Watches have connections of their own, as many as there are watches, without time-outs: they cannot hold up other
 * requests, and a quiet one stays open. A dead peer is found by TCP keep-alive within about 40 seconds. The transport
 * rejects with the signal's reason after an abort, and with {@link ConnectionError} when there is no answer; any HTTP
 * status is an answer. The stream of a watch ends when it is aborted, any other body then fails.
 *
 * @throws Error when the server is not a URL, or the options ask for two ways to authenticate.
 */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const connection = new HttpConnection(options, identitySource(options, options.clock ?? realClock));
  return { transport: (request) => connection.send(request), close: () => connection.close() };
}

const LONGEST_DIAL_MS = 30_000;
const KEEP_ALIVE_MS = 30_000;
/** Connections for everything but watches; more requests than that wait for one another. */
const MOST_CONNECTIONS = 64;

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
  readonly #impersonation: HeaderFields;
  #dispatchers: Dispatchers;

  constructor(options: ConnectionOptions, identities: IdentitySource) {
    const url = serverUrl(options);
    this.#options = options;
    this.#identities = identities;
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, "");
    this.#impersonation = options.impersonate === undefined ? {} : impersonationHeaders(options.impersonate);
    this.#dispatchers = this.#dial({});
  }

  async send({ method, path, headers, body, signal }: ApiRequest): Promise<ApiResponse> {
    signal?.throwIfAborted();
    const stream = isStream(path);
    const fail = (error: unknown): unknown => {
      if (signal?.aborted) return signal.reason;
      return new ConnectionError(`${method} ${this.#origin}${this.#prefix}${path.split("?", 1)[0]}`, error);
    };
    const encoded = encode(body);
    const pending = this.#identities.current();
    const identity = pending instanceof Promise ? await pending : pending;
    try {
      const {
        statusCode,
        headers: fields,
        body: chunks,
      } = await this.#dispatcher(identity, stream).request({
        origin: this.#origin,
        method,
        path: this.#prefix + path,
        headers: this.#headers(headers, body, identity),
        body: encoded,
        signal: signal ?? null,
      });
      if (statusCode === 401) this.#identities.rejected?.(identity);
      return {
        status: statusCode,
        ...(encoded === null ? {} : { sentBytes: encoded.byteLength }),
        headers: fields as HeaderFields,
        body: {
          type: "bytes",
          chunks: readChunks(chunks, { fail, endsQuietly: () => stream && signal?.aborted === true }),
        },
      };
    } catch (error) {
      throw fail(error);
    }
  }

  async close(): Promise<void> {
    await hangUp(this.#dispatchers);
  }

  /** A new client certificate shows only on new connections, so the old ones are cut (client-go does the same). */
  #dispatcher(identity: Identity, stream: boolean): Dispatcher {
    if (identity.cert !== this.#dispatchers.cert) {
      void hangUp(this.#dispatchers);
      this.#dispatchers = this.#dial(identity);
    }
    return stream ? this.#dispatchers.streams : this.#dispatchers.ordinary;
  }

  #dial(identity: Identity): Dispatchers {
    const { ca, serverName, insecureSkipTlsVerify = false, proxyUrl } = this.#options;
    const cert = identity.cert ?? this.#options.cert;
    const key = identity.key ?? this.#options.key;
    const tls = {
      rejectUnauthorized: !insecureSkipTlsVerify,
      ...(ca ? { ca } : {}),
      ...(cert && key ? { cert, key } : {}),
      ...(serverName ? { servername: serverName } : {}),
    };
    const connect = { ...tls, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS, timeout: LONGEST_DIAL_MS };
    const shared = { allowH2: false, keepAliveTimeout: KEEP_ALIVE_MS, connect };
    const agent = (own: Agent.Options): Dispatcher =>
      proxyUrl
        ? new ProxyAgent({ ...shared, ...own, uri: proxyUrl, requestTls: tls })
        : new Agent({ ...shared, ...own });
    return {
      ordinary: agent({ connections: MOST_CONNECTIONS }),
      streams: agent({ headersTimeout: 0, bodyTimeout: 0 }),
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

function serverUrl({ server, ca, cert, insecureSkipTlsVerify }: ConnectionOptions): URL {
  const scheme = ca || cert || insecureSkipTlsVerify ? "https" : "http";
  const text = server.includes("://") ? server : `${scheme}://${server}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:") || url.host === "") {
    throw new Error(`server ${JSON.stringify(server)} is not an http or https URL`);
  }
  return url;
}

function isStream(path: string): boolean {
  return /[?&](?:watch|follow)=(?:true|1)(?:&|$)/.test(path);
}

function encode(body: RequestBody | undefined): Uint8Array | null {
  if (body === undefined) return null;
  return body.type === "bytes" ? body.bytes : Buffer.from(JSON.stringify(body.value));
}

/** Ends the request when the reader stops early. */
async function* readChunks(
  chunks: AsyncIterable<Uint8Array>,
  { fail, endsQuietly }: { fail: (error: unknown) => unknown; endsQuietly: () => boolean },
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    if (!endsQuietly()) throw fail(error);
  }
}

async function hangUp({ ordinary, streams }: Dispatchers): Promise<void> {
  await Promise.all([ordinary.destroy(), streams.destroy()]);
}

function impersonationHeaders({ user, uid, groups = [], extra = {} }: Impersonation): HeaderFields {
  return {
    "impersonate-user": user,
    ...(uid === undefined ? {} : { "impersonate-uid": uid }),
    ...(groups.length === 0 ? {} : { "impersonate-group": groups }),
    ...Object.fromEntries(
      Object.entries(extra).map(([name, values]) => [
        `impersonate-extra-${encodeURIComponent(name).toLowerCase()}`,
        values,
      ]),
    ),
  };
}

import { X509Certificate, constants } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Server, createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type SecureContext, createSecureContext } from "node:tls";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

import { parseQuery, parseRequestUrl } from "@kubewright/transport";

import {
  type ClientCertificate,
  ClientCertificates,
  ConnectionLimiter,
  DEFAULT_CIPHERS,
  parseCertificates,
} from "@kubewright/serving";

import { BodyTooLongError, type HttpHandler, type HttpReply, type HttpRequest } from "./http-message.js";
import type { ListenOptions, NamedIdentity, SecureListener, ServingIdentity } from "./secure-listener.js";

/** The longest body that an endpoint reads is a number. */
const MAX_BODY_BYTES = 64 * 1024;
/** Beyond this number, the connections that have been idle longest are closed. */
const MAX_CONNECTIONS = 1_000;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/**
 * How often Node checks the two timeouts above. Node's default of half a minute would let slow clients keep connections
 * longer.
 */
const CHECKING_INTERVAL_MS = 5_000;
const KEEP_ALIVE_MS = 90_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** A connection without traffic for this time is closed. */
const IDLE_TIMEOUT_MS = 120_000;
const GZIP_FROM_BYTES = 1_024;

const compress = promisify(gzip);

/**
 * Opens a port that serves HTTP/1.1 over TLS. Sessions are not resumed: every connection presents its certificate
 * again, so that removed authorities take effect.
 */
export async function listenSecurely(options: ListenOptions): Promise<SecureListener> {
  const listener = new NodeSecureListener(options);
  await listener.open(options);
  return listener;
}

class NodeSecureListener implements SecureListener {
  readonly #server: Server;
  readonly #handler = Promise.withResolvers<HttpHandler>();
  readonly #context: Omit<ListenOptions, "address" | "port" | "identity">;
  readonly #clients: ClientCertificates;
  readonly #connections: ConnectionLimiter;
  #identity: ServingIdentity;
  #authorities: readonly string[] = [];
  #named: readonly NamedIdentity[] = [];
  #namedContexts: readonly { readonly names: readonly string[]; readonly context: SecureContext }[] = [];

  constructor({ identity, ...context }: ListenOptions) {
    this.#identity = identity;
    this.#context = context;
    this.#server = createServer(
      {
        ...this.#secureContext(identity),
        SNICallback: (name, answer) => answer(null, this.#contextFor(name.toLowerCase())),
        requestCert: context.requestClientCertificates,
        // The authenticator checks the certificate: a client with an invalid one may still request /healthz.
        rejectUnauthorized: false,
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        connectionsCheckingInterval: CHECKING_INTERVAL_MS,
        keepAliveTimeout: KEEP_ALIVE_MS,
      },
      (request, response) => void this.#answer(request, response),
    );
    this.#server.timeout = IDLE_TIMEOUT_MS;
    this.#connections = new ConnectionLimiter(this.#server, MAX_CONNECTIONS);
    this.#clients = new ClientCertificates(this.#server);
  }

  get address(): string {
    const { address, family, port } = this.#server.address() as AddressInfo;
    return `${family === "IPv6" ? `[${address}]` : address}:${port}`;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async open({ address, port }: ListenOptions): Promise<void> {
    const unspecified = address === "0.0.0.0" || address === "::" || address === "";
    try {
      await this.#listen(unspecified ? "::" : address, port);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!unspecified || (code !== "EAFNOSUPPORT" && code !== "EADDRNOTAVAIL"))
        throw listenError(error, address, port);
      await this.#listen("0.0.0.0", port).catch((second: unknown) => {
        throw listenError(second, address, port);
      });
    }
  }

  serve(handler: HttpHandler): void {
    this.#handler.resolve(handler);
  }

  setIdentity(identity: ServingIdentity): void {
    this.#server.setSecureContext(this.#secureContext(identity));
    this.#identity = identity;
  }

  setNamedIdentities(identities: readonly NamedIdentity[]): void {
    this.#namedContexts = identities.map(({ names, identity }) => ({
      names: names.length > 0 ? names : namesIn(identity),
      context: createSecureContext(this.#secureContext(identity)),
    }));
    this.#named = identities;
  }

  setClientAuthorities(authorities: readonly string[]): void {
    // OpenSSL ignores what it cannot parse, and would then trust no authority.
    for (const pem of authorities) parseCertificates(pem);
    this.#authorities = authorities;
    this.#server.setSecureContext(this.#secureContext(this.#identity));
    this.setNamedIdentities(this.#named);
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      // Not `closeAllConnections`, which ignores connections in the TLS handshake.
      this.#connections.closeAll();
    });
  }

  /** `undefined`: the default context. */
  #contextFor(name: string): SecureContext | undefined {
    const wildcard = name.replace(/^[^.]+/, "*");
    return this.#namedContexts.find(({ names }) => names.includes(name) || names.includes(wildcard))?.context;
  }

  #secureContext({ cert, key }: ServingIdentity) {
    const { minVersion = "TLSv1.2", ciphers = DEFAULT_CIPHERS } = this.#context;
    return {
      cert,
      key,
      // An empty list trusts no authority; `undefined` would trust Node's default authorities.
      ca: [...this.#authorities],
      minVersion,
      ciphers,
      secureOptions: constants.SSL_OP_NO_TICKET,
    };
  }

  #listen(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    outgoing.on("error", () => undefined);
    incoming.on("error", () => undefined);
    try {
      const handler = await this.#handler.promise;
      const peer = this.#clients.of(incoming.socket);
      const request = requestOf(incoming, peer);
      const reply = request === undefined ? BAD_REQUEST : await handler(request);
      // The certificate may have become valid since: authorities change.
      if (peer?.isRefused) outgoing.setHeader("connection", "close");
      await send(incoming, outgoing, reply);
    } catch {
      // Only errors that the handler did not answer, such as a broken connection.
      outgoing.destroy();
    }
  }
}

const BAD_REQUEST: HttpReply = {
  status: 400,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body: "400 Bad Request",
};

/** `undefined`: the request target is malformed. */
function requestOf(incoming: IncomingMessage, peer: ClientCertificate | undefined): HttpRequest | undefined {
  const target = incoming.url ?? "/";
  const url = parseRequestUrl(target);
  if (url === undefined) return undefined;
  return {
    method: incoming.method ?? "GET",
    target,
    path: url.path,
    query: parseQuery(url.query),
    headers: incoming.headersDistinct,
    remoteAddress: incoming.socket.remoteAddress ?? "",
    peer,
    body: () => readBody(incoming),
  };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.byteLength;
    if (length > MAX_BODY_BYTES) throw new BodyTooLongError(`the body is longer than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function send(incoming: IncomingMessage, outgoing: ServerResponse, reply: HttpReply): Promise<void> {
  let body: string | Buffer = reply.body;
  outgoing.statusCode = reply.status;
  for (const [name, value] of Object.entries(reply.headers)) outgoing.setHeader(name, value);
  if (body.length >= GZIP_FROM_BYTES) {
    outgoing.setHeader("vary", "Accept-Encoding");
    if (acceptsGzip(incoming.headers["accept-encoding"])) {
      body = await compress(body);
      outgoing.setHeader("content-encoding", "gzip");
    }
  }
  outgoing.setHeader("content-length", Buffer.byteLength(body));
  // An unread rest of the body would be parsed as the next request.
  if (!incoming.complete) outgoing.setHeader("connection", "close");
  outgoing.end(incoming.method === "HEAD" ? undefined : body);
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  return String(header ?? "")
    .split(",")
    .some((part) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(part));
}

/** DNS names of a certificate; its common name only if there are none. */
function namesIn({ cert }: ServingIdentity): string[] {
  const { subjectAltName = "", subject } = new X509Certificate(cert);
  const names = [...subjectAltName.matchAll(/DNS:([^,\s]+)/g)].map(([, name]) => name!.toLowerCase());
  if (names.length > 0) return names;
  const commonName = /^CN=(.+)$/m.exec(subject)?.[1];
  return commonName === undefined ? [] : [commonName.toLowerCase()];
}

/** @see net.Listen in Go */
function listenError(error: unknown, address: string, port: number): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason =
    {
      EADDRINUSE: "address already in use",
      EACCES: "permission denied",
      EADDRNOTAVAIL: "cannot assign requested address",
    }[code ?? ""] ?? message;
  const at = `${address.includes(":") ? `[${address}]` : address}:${port}`;
  // Without a cause, which would repeat the message.
  return new Error(`failed to create listener: failed to listen on ${at}: listen tcp ${at}: bind: ${reason}`);
}

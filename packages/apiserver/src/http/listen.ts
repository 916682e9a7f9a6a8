import { constants } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { type Server as TlsServer, createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import process from "node:process";

import { type Clock, realClock } from "@kubewright/clock";
import { ClientCertificates, DEFAULT_CIPHERS, parseCertificates } from "@kubewright/serving";
import type { ApiRequest, HeaderFields } from "@kubewright/transport";

import type { ApiServer } from "../api-server.js";
import type { ClientCertificate } from "../authentication/authenticator.js";
import { CONNECTION_CLOSED } from "../connection-closed.js";
import type { Connection, Listener } from "../connection.js";
import { RequestBodies } from "./body.js";
import { CrossOriginGuard } from "./cross-origin-guard.js";
import { PROTOCOLS, serveHttp2 } from "./http2-connections.js";
import { sendReply } from "./response.js";

export interface ListenOptions {
  /** Default `127.0.0.1`: reachable only from this machine. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /**
   * Additional host names and addresses, without ports, that requests without credentials may use. Loopback names and
   * the listening address are always allowed. Default: none.
   */
  readonly allowedHosts?: readonly string[];
  /** Default: plain HTTP. */
  readonly tls?: TlsOptions;
  /**
   * Milliseconds after which a client is cut off that reads nothing of a long response, or of a watch that has ended.
   * Default 60,000, upstream's limit for a whole request.
   */
  readonly stalledMs?: number;
  /**
   * Milliseconds that a client has to send a request with its body; its headers must arrive within 32 s. Checked every
   * second. Default 60,000.
   */
  readonly requestTimeoutMs?: number;
}

/** TLS settings, all in PEM. */
export interface TlsOptions {
  /** The server's certificate, followed by its intermediate certificates. */
  readonly cert: string | Uint8Array;
  readonly key: string | Uint8Array;
  /** Authority of client certificates: the common name is the user, the organizations are the groups. */
  readonly clientCA?: string | Uint8Array;
  /**
   * Clock for the validity of client certificates, checked for each request. Default: the machine's clock, as usual in
   * TLS. The cluster's clock may be years ahead.
   */
  readonly clock?: Pick<Clock, "now">;
}

/** A listening server. */
export interface HttpListener {
  readonly url: string;
  readonly port: number;
  /** Closes every connection. Resolves when the port is free again. */
  close(): Promise<void>;
}

/** Limit of method, path and headers together. This and the next two are upstream's values in `secure_serving.go`. */
const MAX_HEADER_BYTES = 1 << 20;
const HEADERS_TIMEOUT_MS = 32_000;
const IDLE_TIMEOUT_MS = 90_000;
/** Upstream's limit for requests that are not long-running. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Interval for checking these timeouts. */
const CHECKING_INTERVAL_MS = 1_000;
const SERVER_OPTIONS = {
  maxHeaderSize: MAX_HEADER_BYTES,
  keepAliveTimeout: IDLE_TIMEOUT_MS,
  connectionsCheckingInterval: CHECKING_INTERVAL_MS,
};

/**
 * Serves an API server over HTTP/1.1, or over HTTPS with HTTP/1.1 and HTTP/2, until the listener or the server closes.
 *
 * Unauthenticated clients cost few resources. A request may have 1 MiB of headers, which must arrive within 32 s. The
 * body is not read until the handler needs it. Idle connections are closed after 90 s. As upstream, only the process's
 * file limit restricts the number of connections.
 *
 * The server's clock sets the `Date` header, so that clients can read the cluster's time.
 *
 * @throws Error when the port is not available, certificate and key cannot be used, or an allowed host is invalid.
 */
export async function listen(
  server: Pick<ApiServer, "open">,
  {
    host = "127.0.0.1",
    port = 0,
    allowedHosts = [],
    tls,
    stalledMs = 60_000,
    requestTimeoutMs = REQUEST_TIMEOUT_MS,
  }: ListenOptions = {},
): Promise<HttpListener> {
  const guard = new CrossOriginGuard(host, allowedHosts);
  const bodies = new RequestBodies();
  const answers = new WeakMap<Socket, ServerResponse>();
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    answers.set(request.socket, response);
    void serve(request, response, { listener, guard, bodies, certificateOf, stalledMs });
  };
  const http = tls === undefined ? plainServer(answer) : tlsServer(tls, answer);
  if (tls !== undefined) {
    const limits = { idleTimeoutMs: IDLE_TIMEOUT_MS, requestTimeoutMs };
    serveHttp2(http as TlsServer, limits, answer, (request) => bodies.timeOut(request));
  }
  const certificateOf = certificateReader(http, tls);
  // Limits the request, not the response: watches stay open.
  http.requestTimeout = requestTimeoutMs;
  http.headersTimeout = Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs);
  // Node silently drops headers beyond a number; their size is limited instead.
  http.maxHeadersCount = 0;
  http.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    http.emit("request", request, response);
  });
  http.on("clientError", ({ code }: NodeJS.ErrnoException, socket: Socket) => {
    const last = answers.get(socket);
    if (code === "ERR_HTTP_REQUEST_TIMEOUT" && last !== undefined && bodies.timeOut(last.req)) return;
    rejectConnection(socket, code, last);
  });
  const sockets = new Set<Socket>();
  http.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await listening(http, host, port);
  const actual = (http.address() as AddressInfo).port;
  const httpListener: HttpListener = {
    url: `${tls === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${actual}`,
    port: actual,
    close: () =>
      new Promise<void>((resolve) => {
        http.close(() => resolve());
        // `closeAllConnections` skips connections during the TLS handshake, which would stay open.
        for (const socket of sockets) socket.destroy();
      }),
  };
  const listener = server.open(() => httpListener.close());
  return httpListener;
}

function plainServer(answer: (request: IncomingMessage, response: ServerResponse) => void): Server {
  // An `import` reads all members of the module, and some load Node's HTTP client: a tenth of the start time.
  return process.getBuiltinModule("node:http").createServer(SERVER_OPTIONS, answer);
}

/** Limit of the TLS handshake: the time that Go's clients wait for it. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

function tlsServer(
  { cert, key, clientCA }: TlsOptions,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): TlsServer {
  // The handshake accepts every client: a client without a valid certificate may have a token.
  const clients = clientCA === undefined ? {} : { ca: pemOf(clientCA), requestCert: true, rejectUnauthorized: false };
  const settings = {
    cert: pemOf(cert),
    key: pemOf(key),
    minVersion: "TLSv1.2",
    ALPNProtocols: PROTOCOLS,
    ciphers: DEFAULT_CIPHERS,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    // A client that resumes a session does not send all certificates again.
    secureOptions: constants.SSL_OP_NO_TICKET,
  } as const;
  try {
    return createTlsServer({ ...settings, ...clients, ...SERVER_OPTIONS }, answer);
  } catch (error) {
    throw new Error(`the TLS certificate and key cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

function pemOf(text: string | Uint8Array): string {
  return typeof text === "string" ? text : Buffer.from(text).toString("utf8");
}

/** Returns the client's certificate; `undefined` without TLS, without a certificate, or when none was requested. */
type CertificateOf = (socket: Socket) => ClientCertificate | undefined;

/** Reads and verifies client certificates at the current time of the clock. */
function certificateReader(server: Server | TlsServer, tls: TlsOptions | undefined): CertificateOf {
  if (tls?.clientCA === undefined) return () => undefined;
  const { clock = realClock } = tls;
  const clientCA = pemOf(tls.clientCA);
  try {
    parseCertificates(clientCA);
  } catch (error) {
    throw new Error(`the client CA cannot be used: ${(error as Error).message}`, { cause: error });
  }
  const certificates = new ClientCertificates(server as TlsServer);
  return (socket) => {
    const shown = certificates.of(socket);
    if (shown === undefined) return undefined;
    const { commonName, organizations, fingerprint } = shown;
    return { trusted: shown.problem(clientCA, clock.now()) === undefined, commonName, organizations, fingerprint };
  };
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why =
        error.code === "EADDRINUSE"
          ? "the port is in use"
          : error.code === "EACCES"
            ? "permission denied"
            : error.message;
      reject(new Error(`cannot listen on ${host}:${port}: ${why}`, { cause: error }));
    });
    server.listen(port, host, () => resolve());
  });
}

/** Context of a listener's requests. */
interface ListenerContext {
  readonly listener: Listener;
  readonly guard: CrossOriginGuard;
  readonly bodies: RequestBodies;
  readonly certificateOf: CertificateOf;
  readonly stalledMs: number;
}

/** Closes a connection that cannot send more requests, with Go's response (`net/http` conn.serve). */
function rejectConnection(socket: Socket, code: string | undefined, last: ServerResponse | undefined): void {
  if (last !== undefined && !last.headersSent && last.req.complete) {
    // The invalid data follows a request that still needs its response.
    last.shouldKeepAlive = false;
    return;
  }
  const text = code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request";
  const isBetweenAnswers = last?.headersSent !== true || (last.writableFinished && last.shouldKeepAlive);
  if (socket.writable && isBetweenAnswers && code !== "ERR_HTTP_REQUEST_TIMEOUT")
    socket.write(`HTTP/1.1 ${text}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${text}`);
  socket.destroySoon();
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { listener, guard, bodies, certificateOf, stalledMs }: ListenerContext,
): Promise<void> {
  const closed = new AbortController();
  outgoing.on("close", () => closed.abort(CONNECTION_CLOSED));
  outgoing.on("error", () => closed.abort(CONNECTION_CLOSED));
  incoming.on("error", () => closed.abort(CONNECTION_CLOSED));
  const requestBody = bodies.of(incoming, outgoing);
  try {
    const request: ApiRequest = {
      method: (incoming.method ?? "GET") as ApiRequest["method"],
      path: incoming.url ?? "/",
      headers: incoming.headers as HeaderFields,
      signal: closed.signal,
    };
    const connection: Connection = {
      host: incoming.headers.host ?? "",
      certificate: certificateOf(incoming.socket),
      refusal: () => guard.refusal(incoming),
      readBody: () => requestBody.read(),
    };
    const reply = await listener.answer(request, connection);
    date(outgoing, listener);
    await sendReply({ request, requestBody, outgoing, closed: closed.signal, stalledMs }, reply);
  } catch (error) {
    if (!outgoing.headersSent) {
      date(outgoing, listener);
      requestBody.decideConnection();
      outgoing.writeHead(500, { "content-type": "text/plain; charset=utf-8" });
      requestBody.finish(`Internal Server Error: ${(error as Error).message}\n`);
    } else outgoing.destroy();
  }
}

function date(outgoing: ServerResponse, clock: Pick<Listener, "now">): void {
  outgoing.setHeader("date", new Date(clock.now()).toUTCString());
}

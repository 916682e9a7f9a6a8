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
  /** Default `127.0.0.1`: nobody else's business. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /**
   * Names and addresses, without ports, by which requests without credentials may ask for the server, besides those of this
   * machine's loopback and the address it listens on. Default: none.
   */
  readonly allowedHosts?: readonly string[];
  /** Default: plain HTTP. */
  readonly tls?: TlsOptions;
  /**
   * Milliseconds after which a client is cut off that takes nothing of a long answer, or of a watch that has ended. Default 60,000,
   * upstream's for a whole request.
   */
  readonly stalledMs?: number;
  /**
   * How long a client may take to send a request with all of its body, in milliseconds; its headers may take 32 s of it.
   * Checked every second. Default 60,000.
   */
  readonly requestTimeoutMs?: number;
}

/** All in PEM. */
export interface TlsOptions {
  /** The server's certificate, followed by those that lead to its authority. */
  readonly cert: string | Uint8Array;
  readonly key: string | Uint8Array;
  /** Clients may show certificates that this authority signed: their common name is the user, their organizations the groups. */
  readonly clientCA?: string | Uint8Array;
  /**
   * Says whether clients' certificates are valid, for each request. Default: the machine's, as everywhere in TLS. The
   * cluster's may be years ahead.
   */
  readonly clock?: Pick<Clock, "now">;
}

/** An open port. */
export interface HttpListener {
  readonly url: string;
  readonly port: number;
  /** Ends every connection; resolves when the port is free again. */
  close(): Promise<void>;
}

/** Method, path and headers together. This and the next two as upstream's `secure_serving.go` sets them. */
const MAX_HEADER_BYTES = 1 << 20;
const HEADERS_TIMEOUT_MS = 32_000;
const IDLE_TIMEOUT_MS = 90_000;
/** As all requests that are not long-running. */
const REQUEST_TIMEOUT_MS = 60_000;
/** How often these are looked after. */
const CHECKING_INTERVAL_MS = 1_000;
const SERVER_OPTIONS = {
  maxHeaderSize: MAX_HEADER_BYTES,
  keepAliveTimeout: IDLE_TIMEOUT_MS,
  connectionsCheckingInterval: CHECKING_INTERVAL_MS,
};

/**
 * Serves an API server over HTTP/1.1, or HTTPS, where clients may ask for HTTP/2, until the listener or the server is closed.
 *
 * Clients that are not known yet cost next to nothing: a request may have 1 MiB of headers, which have to come within 32 s,
 * and its body stays where it is until the handler asks for it. An idle connection is ended after 90 s. The number of
 * connections is limited, as upstream, only by the files the process may have open.
 *
 * The server's clock dates the answers: whoever asks can tell what time it is in a cluster whose time is not the machine's.
 *
 * @throws Error when the port is not to be had, certificate and key cannot be used, or one of the allowed hosts is none.
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
  // Of a request, not of its answer: watches stay open for as long as they like.
  http.requestTimeout = requestTimeoutMs;
  http.headersTimeout = Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs);
  // Node drops headers silently beyond a number; their size is what counts.
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
        // Not `closeAllConnections`: it does not know those whose TLS handshake is under way, which would then go on.
        for (const socket of sockets) socket.destroy();
      }),
  };
  const listener = server.open(() => httpListener.close());
  return httpListener;
}

function plainServer(answer: (request: IncomingMessage, response: ServerResponse) => void): Server {
  // An `import` reads all members of the module, of which some load Node's own HTTP client: a tenth of the time to start.
  return process.getBuiltinModule("node:http").createServer(SERVER_OPTIONS, answer);
}

/** How long a client may take for the TLS handshake: as long as Go's clients wait for it. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

function tlsServer(
  { cert, key, clientCA }: TlsOptions,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): TlsServer {
  // Whether a certificate is good is told with the answer: a client without one may have a token.
  const clients = clientCA === undefined ? {} : { ca: pemOf(clientCA), requestCert: true, rejectUnauthorized: false };
  const settings = {
    cert: pemOf(cert),
    key: pemOf(key),
    minVersion: "TLSv1.2",
    ALPNProtocols: PROTOCOLS,
    ciphers: DEFAULT_CIPHERS,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    // Who resumes a session does not show all certificates again.
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

/** `undefined` of it: without TLS, without a certificate, or when none was asked for. */
type CertificateOf = (socket: Socket) => ClientCertificate | undefined;

/** What clients show of themselves, as far as it is good at the time of asking. */
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

/** What a listener answers its requests with. */
interface ListenerContext {
  readonly listener: Listener;
  readonly guard: CrossOriginGuard;
  readonly bodies: RequestBodies;
  readonly certificateOf: CertificateOf;
  readonly stalledMs: number;
}

/** Ends a connection that no more requests can come from, in Go's words (`net/http` conn.serve). */
function rejectConnection(socket: Socket, code: string | undefined, last: ServerResponse | undefined): void {
  if (last !== undefined && !last.headersSent && last.req.complete) {
    // What cannot be read came behind a request that is still to be answered.
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

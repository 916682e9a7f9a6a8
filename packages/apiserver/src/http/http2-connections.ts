import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type Http2ServerRequest,
  type Http2ServerResponse,
  type Http2Session,
  type ServerHttp2Session,
  constants,
  createServer,
} from "node:http2";
import type { Server as TlsServer } from "node:https";
import type { TLSSocket } from "node:tls";

import { MAX_DISCARDED_BYTES } from "./body.js";

/** ALPN protocols that the server offers, best first. */
export const PROTOCOLS = ["h2", "http/1.1"];

/** Upstream's limit since the rapid reset attacks: apiserver `pkg/server/secure_serving.go`. */
const MAX_STREAMS = 100;
/** nghttp2's limit for the headers of one request; upstream allows 1 MiB, as this server does for HTTP/1.1. */
const MAX_HEADER_BYTES = 65_536;
/** High, because their size is limited instead. */
const MAX_HEADERS = 2_000;

export interface Http2Limits {
  /** Time after which a connection without requests is closed. */
  readonly idleTimeoutMs: number;
  /** Time that a client has to send a request with its body. */
  readonly requestTimeoutMs: number;
}

/**
 * Serves HTTP/2 to the clients of an HTTPS server that request it in the TLS handshake (ALPN); other clients use
 * HTTP/1.1. Node's HTTP/2 requests and responses are compatible with those of HTTP/1.1; this module adapts the
 * remaining differences.
 *
 * @param onBodyTimeout - Called for a request whose body did not arrive in time.
 */
export function serveHttp2(
  server: TlsServer,
  { idleTimeoutMs, requestTimeoutMs }: Http2Limits,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  onBodyTimeout: (request: IncomingMessage) => void,
): void {
  const sockets = new WeakMap<Http2Session, TLSSocket>();
  const serve = (request: Http2ServerRequest, response: Http2ServerResponse): void => {
    const { stream } = request;
    const socket = stream.session === undefined ? undefined : sockets.get(stream.session);
    if (socket === undefined) return;
    const [incoming, outgoing] = adaptToHttp1(request, response, socket);
    if (!stream.endAfterHeaders) {
      const timer = setTimeout(() => {
        if (request.complete) return;
        if (stream.writableFinished) stream.close(constants.NGHTTP2_NO_ERROR);
        else onBodyTimeout(incoming);
      }, requestTimeoutMs).unref();
      stream.once("close", () => clearTimeout(timer));
      stream.once("finish", () => discardRest(request));
    }
    answer(incoming, outgoing);
  };
  const http2 = createServer(
    {
      settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: MAX_HEADER_BYTES },
      maxHeaderListPairs: MAX_HEADERS,
    },
    serve,
  );
  http2.on("checkContinue", serve);
  // Node closes the session itself.
  http2.on("sessionError", () => {});
  const [serveHttp1] = server.listeners("secureConnection") as ((socket: TLSSocket) => void)[];
  server.removeAllListeners("secureConnection");
  server.on("secureConnection", (socket: TLSSocket) => {
    if (socket.alpnProtocol !== "h2") {
      serveHttp1!.call(server, socket);
      return;
    }
    http2.once("session", (session) => {
      sockets.set(session, socket);
      endWhenIdle(session, idleTimeoutMs);
    });
    http2.emit("connection", socket);
  });
}

/**
 * Discards the unread rest of a body, so that it does not block the connection. Resets the stream only when the client
 * sends too much: Go's clients lose a response whose stream is reset before they have read its end.
 */
function discardRest(request: Http2ServerRequest): void {
  if (request.complete) return;
  let left = MAX_DISCARDED_BYTES;
  request.on("data", (chunk: Buffer) => {
    left -= chunk.byteLength;
    if (left < 0) request.stream.close(constants.NGHTTP2_NO_ERROR);
  });
}

function endWhenIdle(session: ServerHttp2Session, idleTimeoutMs: number): void {
  let open = 0;
  session.on("stream", (stream) => {
    open++;
    stream.once("close", () => open--);
  });
  session.setTimeout(idleTimeoutMs, () => {
    if (open === 0) session.close();
    else session.setTimeout(idleTimeoutMs);
  });
}

/** Adapts request and response to HTTP/1.1: adds a `host` header, removes pseudo-headers, and sets the TLS socket. */
function adaptToHttp1(
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  socket: TLSSocket,
): [IncomingMessage, ServerResponse] {
  const { authority, stream } = request;
  const named = Object.entries(request.headers).filter(([name]) => !name.startsWith(":"));
  const headers = Object.fromEntries(named);
  const hosts = [authority, headers["host"]].filter((host) => typeof host === "string" && host !== "");
  if (hosts[0] !== undefined) headers["host"] = hosts[0];
  const setHeader = response.setHeader.bind(response);
  Object.defineProperties(request, {
    headers: { value: headers },
    headersDistinct: { value: { ...distinct(named), host: [...new Set(hosts)] } },
    socket: { value: socket },
  });
  Object.defineProperties(response, {
    destroyed: { get: () => stream.destroyed },
    shouldKeepAlive: { value: true, writable: true },
    // One request does not control the connection: ignores the `connection` header.
    setHeader: { value: (name: string, value: string) => (name === "connection" ? response : setHeader(name, value)) },
  });
  return [request as unknown as IncomingMessage, response as unknown as ServerResponse];
}

function distinct(headers: readonly [string, string | string[] | undefined][]): Record<string, string[]> {
  return Object.fromEntries(headers.map(([name, value]) => [name, [value ?? []].flat()]));
}

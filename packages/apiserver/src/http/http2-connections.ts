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

/** What clients and this server may agree on in the TLS handshake, best first. */
export const PROTOCOLS = ["h2", "http/1.1"];

/** Upstream's, since rapid resets: apiserver `pkg/server/secure_serving.go`. */
const MAX_STREAMS = 100;
/** What nghttp2 takes of one request's headers; upstream takes a mebibyte, as we do of HTTP/1.1. */
const MAX_HEADER_BYTES = 65_536;
/** Their size is what counts. */
const MAX_HEADERS = 2_000;

export interface Http2Limits {
  /** A connection without requests is ended after so long. */
  readonly idleTimeoutMs: number;
  /** A client may take so long to send a request with all of its body. */
  readonly requestTimeoutMs: number;
}

/**
 * Serves HTTP/2 to those clients of an HTTPS server that ask for it in the handshake (ALPN); the others stay with HTTP/1.1.
 * Requests and answers are Node's, which are made to be used like those of HTTP/1.1; what still differs is evened out here.
 *
 * @onBodyTimeout onBodyTimeout - Told of a request whose body has not come in time.
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
  // The connection ends by itself.
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
 * Throws away what nobody read of a body, so that it does not fill the connection. Go's clients lose an answer whose stream is
 * reset before they have seen its end, so that this is only for those who send too much.
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

/** The two as HTTP/1.1 has them: with a `host`, nothing but headers among the headers, and the socket that they came over. */
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
    // Of one request nothing is to be said of the whole connection.
    setHeader: { value: (name: string, value: string) => (name === "connection" ? response : setHeader(name, value)) },
  });
  return [request as unknown as IncomingMessage, response as unknown as ServerResponse];
}

function distinct(headers: readonly [string, string | string[] | undefined][]): Record<string, string[]> {
  return Object.fromEntries(headers.map(([name, value]) => [name, [value ?? []].flat()]));
}

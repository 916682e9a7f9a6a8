import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import type { HealthChecks } from "@kubewright/controller";
import { ConnectionLimiter } from "@kubewright/serving";
import { parseQuery, parseRequestUrl } from "@kubewright/transport";
import type { Registry } from "prom-client";

import type { Address } from "./process-flags.js";

export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Readable;
}

/** Answers a request; `undefined`: the path belongs to another endpoint. */
export type Endpoint = (path: string, query: URLSearchParams) => Promise<Reply | undefined>;

/** Beyond this number, the connections that have been idle longest are closed. */
const MAX_CONNECTIONS = 100;
const HEADERS_TIMEOUT_MS = 10_000;
const TEXT = "text/plain; charset=utf-8";
const NOT_FOUND: Reply = { status: 404, contentType: TEXT, body: "404 page not found\n" };

/** `/NAME`, and one path below it for each check. */
export function healthEndpoint(name: string, checks: HealthChecks): Endpoint {
  return async (path, query) => {
    const [, endpoint, check, ...more] = path.split("/");
    if (endpoint !== name || more.length > 0) return undefined;
    const report = check ? await checks.reportOne(name, check) : await checks.report(name, query);
    return report && { contentType: TEXT, ...report };
  };
}

/** `/metrics`. */
export function metricsEndpoint(registry: Registry): Endpoint {
  return async (path) =>
    path === "/metrics"
      ? { status: 200, contentType: registry.contentType, body: await registry.metrics() }
      : undefined;
}

export interface HttpServer {
  /** Listen address: `host:port`. */
  readonly address: string;
  /** Closes all connections. */
  readonly close: () => void;
}

/**
 * Serves endpoints without TLS.
 *
 * @throws Error with the reason why the port cannot be opened.
 */
export async function serveEndpoints({ host, port }: Address, endpoints: readonly Endpoint[]): Promise<HttpServer> {
  const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: HEADERS_TIMEOUT_MS });
  const connections = new ConnectionLimiter(server, MAX_CONNECTIONS);
  server.on("request", (request, response) => void answer(request, response, endpoints));
  await listening(server, { host, port });
  const { address, family, port: actual } = server.address() as AddressInfo;
  return {
    address: `${family === "IPv6" ? `[${address}]` : address}:${actual}`,
    close: () => {
      server.close();
      connections.closeAll();
    },
  };
}

function listening(server: Server, { host, port }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new Error(`cannot listen at ${host ?? ""}:${port}: ${REASONS[error.code ?? ""] ?? error.message}`)),
    );
    server.listen({ port, ...(host === undefined ? {} : { host }) }, resolve);
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the address is in use by another process",
  EACCES: "this process may not",
  EADDRNOTAVAIL: "this machine has no such address",
};

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  endpoints: readonly Endpoint[],
): Promise<void> {
  const { status, contentType, body } = await replyTo(request, endpoints);
  const headers = { "content-type": contentType, "x-content-type-options": "nosniff" };
  if (typeof body !== "string") {
    response.writeHead(status, headers);
    // A client that disconnects early is not an error of the server.
    await pipeline(body, response).catch(() => undefined);
    return;
  }
  response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) });
  response.end(request.method === "HEAD" ? undefined : body);
}

async function replyTo({ method, url = "/" }: IncomingMessage, endpoints: readonly Endpoint[]): Promise<Reply> {
  const parsed = parseRequestUrl(url);
  if (parsed === undefined) return { status: 400, contentType: TEXT, body: "400 Bad Request\n" };
  if (method !== "GET" && method !== "HEAD")
    return { status: 405, contentType: TEXT, body: "405 method not allowed\n" };
  const query = parseQuery(parsed.query);
  try {
    for (const endpoint of endpoints) {
      const reply = await endpoint(parsed.path, query);
      if (reply !== undefined) return reply;
    }
    return NOT_FOUND;
  } catch {
    return { status: 500, contentType: TEXT, body: "500 internal server error\n" };
  }
}

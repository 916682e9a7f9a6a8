import { constants } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Server, createServer } from "node:https";
import type { AddressInfo } from "node:net";

import type { Client } from "@kubewright/client";
import { type Clock, type Logger, standardErrorLogger } from "@kubewright/clock";
import { ConnectionLimiter, DEFAULT_CIPHERS } from "@kubewright/serving";

import { type CallAnswer, answerCall, checkWebhooks } from "../answer-call.js";
import type { WebhookPlace } from "../configurations.js";
import { publishWebhooks } from "../publish-webhooks.js";
import type { Webhook } from "../webhook.js";
import type { WebhookCertificate } from "./certificate.js";
import type { CertificateSource } from "./certificate-source.js";

export interface ServeWebhooksOptions {
  readonly webhooks: readonly Webhook[];
  readonly clock: Clock;
  /** `certificateFiles`, `sharedCertificate` or `ownCertificate`. */
  readonly certificate: CertificateSource;
  /** Default 9443; 0: any free port. */
  readonly port?: number | undefined;
  /** Listen address. Default: all addresses. */
  readonly host?: string | undefined;
  /**
   * Publishes the webhooks and the certificate's authorities to the API server, at the start and when the authorities
   * change. Default: not published.
   */
  readonly publish?:
    | {
        readonly client: Pick<Client, "resource">;
        /** Name of the configurations: the operator's name. */
        readonly name: string;
        readonly place: WebhookPlace;
      }
    | undefined;
  /** Interval for reading the certificate again, in milliseconds. Default 60,000. */
  readonly refreshMs?: number | undefined;
  readonly logger?: Logger | undefined;
}

/** Webhooks that are being served. */
export interface ServedWebhooks {
  readonly port: number;
  /** Stops accepting requests, then waits for those in flight, for at most 5 seconds. */
  close(): Promise<void>;
}

const DEFAULT_PORT = 9443;
const REFRESH_MS = 60_000;
/** Longest AdmissionReview in bytes, as in controller-runtime: it contains an object and the one it replaces. */
const MAX_ADMISSION_BYTES = 7 * 1024 * 1024;
/** Longest ConversionReview in bytes: it may contain a page of a list. */
const MAX_CONVERSION_BYTES = 32 * 1024 * 1024;
const MAX_CONNECTIONS = 1_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** The API server waits for at most 30 s. */
const REQUEST_TIMEOUT_MS = 30_000;
const CLOSE_TIMEOUT_MS = 5_000;

/**
 * Serves webhooks over HTTPS (TLS 1.2 and 1.3), and publishes them to the API server.
 *
 * @throws Error when the port is in use, there is no certificate, or the API server refuses the publication.
 */
export async function serveWebhooks(options: ServeWebhooksOptions): Promise<ServedWebhooks> {
  checkWebhooks(options.webhooks);
  const server = new WebhookServer(options);
  await server.open();
  return server;
}

class WebhookServer implements ServedWebhooks {
  readonly #options: ServeWebhooksOptions;
  readonly #logger: Logger;
  #server: Server | undefined;
  #connections: ConnectionLimiter | undefined;
  #shown: WebhookCertificate | undefined;
  #published: string | undefined;
  #port = 0;
  readonly #ended = new AbortController();

  constructor(options: ServeWebhooksOptions) {
    this.#options = options;
    this.#logger = options.logger ?? standardErrorLogger(options.clock, "webhooks");
  }

  get port(): number {
    return this.#port;
  }

  async open(): Promise<void> {
    const { port = DEFAULT_PORT, host, certificate } = this.#options;
    const shown = await certificate();
    const server = createServer(
      { ...secureOptions(shown), headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
      (request, response) => void this.#answer(request, response),
    );
    this.#server = server;
    this.#shown = shown;
    this.#connections = new ConnectionLimiter(server, MAX_CONNECTIONS);
    await new Promise<void>((resolve, reject) => {
      server.once("error", (error: NodeJS.ErrnoException) =>
        reject(
          error.code === "EADDRINUSE"
            ? new Error(`port ${port} is taken: give webhooks another one`, { cause: error })
            : error,
        ),
      );
      server.listen(port, host, resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    try {
      await this.#publish(shown);
    } catch (error) {
      await this.close();
      throw error;
    }
    void this.#refresh();
  }

  async close(): Promise<void> {
    this.#ended.abort();
    const server = this.#server;
    if (server === undefined) return;
    const timer = this.#options.clock.setTimer(CLOSE_TIMEOUT_MS, () => this.#connections?.closeAll(), {
      background: true,
    });
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeIdleConnections();
    });
    timer.cancel();
  }

  async #refresh(): Promise<void> {
    const { clock, certificate, refreshMs = REFRESH_MS } = this.#options;
    const { signal } = this.#ended;
    while (!signal.aborted) {
      try {
        await clock.sleep(refreshMs, signal, { background: true });
      } catch {
        return;
      }
      try {
        const next = await certificate();
        if (signal.aborted) return;
        if (next.cert !== this.#shown?.cert || next.key !== this.#shown.key) {
          this.#server?.setSecureContext(secureOptions(next));
          this.#shown = next;
          this.#logger.info({}, "Serving webhooks with a new certificate");
        }
        await this.#publish(next);
      } catch (error) {
        // The old certificate may still be valid for a while.
        this.#logger.error({ err: error }, "No new certificate for webhooks, keeping the old one");
      }
    }
  }

  async #publish({ ca }: WebhookCertificate): Promise<void> {
    const { publish, webhooks } = this.#options;
    if (publish === undefined || ca === undefined || ca === this.#published) return;
    await publishWebhooks({ ...publish, webhooks, ca });
    this.#published = ca;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => undefined);
    request.on("error", () => undefined);
    let answer: CallAnswer;
    try {
      answer = await this.#answerTo(request);
    } catch {
      // The connection broke.
      response.destroy();
      return;
    }
    if (answer.status === 500) this.#logger.error({ err: answer.text }, "Webhook failed");
    const type = answer.status === 200 ? "application/json" : "text/plain; charset=utf-8";
    response.writeHead(answer.status, {
      "content-type": type,
      "content-length": Buffer.byteLength(answer.text),
      // An unread rest of the body would be parsed as the next request.
      ...(request.complete ? {} : { connection: "close" }),
    });
    response.end(answer.text);
  }

  async #answerTo(request: IncomingMessage): Promise<CallAnswer> {
    const { webhooks } = this.#options;
    const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
    const webhook = webhooks.find((each) => each.path === path);
    if (webhook === undefined) return { status: 404, text: `no webhook is served at ${path}` };
    if (request.method !== "POST") return { status: 405, text: `webhooks are asked by POST, not ${request.method}` };
    const type = request.headers["content-type"] ?? "";
    if (type.split(";", 1)[0]?.trim() !== "application/json")
      return { status: 415, text: `reviews are application/json, not ${JSON.stringify(type)}` };
    const max = webhook.type === "conversion" ? MAX_CONVERSION_BYTES : MAX_ADMISSION_BYTES;
    const text = await readBody(request, max);
    if (text === undefined) return { status: 413, text: `the review is longer than ${max} bytes` };
    let review: unknown;
    try {
      review = JSON.parse(text);
    } catch (error) {
      return { status: 400, text: `the review is no JSON: ${(error as Error).message}` };
    }
    return answerCall(webhooks, path, review);
  }
}

function secureOptions({ cert, key }: WebhookCertificate) {
  return {
    cert,
    key,
    minVersion: "TLSv1.2",
    ciphers: DEFAULT_CIPHERS,
    secureOptions: constants.SSL_OP_NO_TICKET,
  } as const;
}

/** `undefined`: the body is longer than `max`. */
async function readBody(request: IncomingMessage, max: number): Promise<string | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > max) return undefined;
  const pieces: Buffer[] = [];
  let bytes = 0;
  // The connection stays open for the 413 response.
  for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += piece.byteLength;
    if (bytes > max) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

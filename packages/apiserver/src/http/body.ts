import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest } from "node:http2";

import { statusError } from "../api-error.js";
import { CONNECTION_CLOSED } from "../connection-closed.js";
import { MAX_BODY_BYTES } from "../request-body.js";
import { RequestTimeout } from "../request-timeout.js";

/** Memory limit of all bodies that are being received. A byte beyond it is refused with 429. */
const MAX_BUFFERED_BYTES = 128 * 1024 * 1024;
/**
 * Bytes of an unread body that are discarded to keep the connection open (Go `net/http` maxPostHandlerReadBytes).
 * Unlike in Go, the response does not wait for them.
 */
export const MAX_DISCARDED_BYTES = 256 * 1024;
/**
 * Time that a connection closed in the middle of a body stays open, unread, so that its response arrives (Go `net/http`
 * rstAvoidanceDelay).
 */
const LINGER_MS = 500;

/** The request bodies of one server. */
export class RequestBodies {
  readonly #reading = new Map<IncomingMessage, (error: Error) => void>();
  #bufferedBytes = 0;

  of(incoming: IncomingMessage, outgoing: ServerResponse): RequestBodyReader {
    return new RequestBodyReader(incoming, outgoing, {
      begin: (fail) => {
        this.#reading.set(incoming, fail);
        return () => void this.#reading.delete(incoming);
      },
      reserve: (bytes) => {
        if (bytes > 0 && this.#bufferedBytes + bytes > MAX_BUFFERED_BYTES) return false;
        this.#bufferedBytes += bytes;
        return true;
      },
    });
  }

  /**
   * Handles a client that takes too long. Returns whether a handler was reading its body: that request then fails and
   * gets a response.
   */
  timeOut(incoming: IncomingMessage): boolean {
    const fail = this.#reading.get(incoming);
    fail?.(new RequestTimeout());
    return fail !== undefined;
  }
}

interface BufferBudget {
  /** Registers a function that makes the read fail. Returns a function that unregisters it. */
  begin(fail: (error: Error) => void): () => void;
  /** Reserves memory, or releases it for a negative number. Returns whether enough was left. */
  reserve(bytes: number): boolean;
}

/** The body of one request. Read on demand, and discarded if no handler reads it. */
export class RequestBodyReader {
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #budget: BufferBudget;
  /** Length on the wire; infinite for chunked bodies. */
  readonly #declaredBytes: number;
  #receivedBytes = 0;
  /** Whether the client waits for `100 Continue` before it sends the body. */
  #awaitsContinue: boolean;
  /** Whether the rest of the body is not read any more. */
  #isAbandoned = false;
  #endsConnection = false;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, budget: BufferBudget) {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.#budget = budget;
    const { headers, httpVersion } = incoming;
    const length = headers["content-length"];
    const isEndless = headers["transfer-encoding"] !== undefined || (length === undefined && isOpenEnded(incoming));
    this.#declaredBytes = isEndless ? Number.POSITIVE_INFINITY : Number(length ?? 0);
    this.#awaitsContinue = headers.expect !== undefined && httpVersion !== "1.0";
  }

  /**
   * Reads the whole body. A body over the limit is read only one byte beyond the limit. Returns `undefined` when there
   * is no body.
   *
   * @throws ApiError 429 when all bodies together exceed the memory limit, RequestTimeout, or Error when the connection
   * breaks.
   */
  async read(): Promise<Uint8Array | undefined> {
    if (this.#declaredBytes === 0) return undefined;
    if (this.#awaitsContinue) this.#outgoing.writeContinue();
    this.#awaitsContinue = false;
    const buffer = new BodyBuffer(this.#budget);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onData = (chunk: Buffer): void => {
      this.#receivedBytes += chunk.byteLength;
      if (!buffer.add(chunk)) reject(tooManyRequests());
      else if (buffer.length > MAX_BODY_BYTES) resolve();
    };
    const onClose = (): void => reject(CONNECTION_CLOSED);
    if (this.#incoming.destroyed) onClose();
    const end = this.#budget.begin(reject);
    this.#incoming.on("data", onData).once("end", resolve).once("close", onClose);
    try {
      await promise;
      return buffer.length === 0 ? undefined : buffer.bytes;
    } catch (error) {
      this.#isAbandoned = true;
      throw error;
    } finally {
      this.#incoming.off("data", onData).off("end", resolve).off("close", onClose).pause();
      end();
      buffer.release();
    }
  }

  /** Decides whether the connection closes after the response. Call it before the response's head is sent. */
  decideConnection(): void {
    if (this.#incoming.complete) return;
    const left = this.#declaredBytes - this.#receivedBytes;
    if (left > MAX_DISCARDED_BYTES || this.#isAbandoned) this.#outgoing.setHeader("connection", "close");
    this.#endsConnection = this.#outgoing.getHeader("connection") === "close";
  }

  /** Sends the last part of the response and ends it. */
  finish(last?: string | Uint8Array): void {
    const outgoing = this.#outgoing;
    if (!this.#endsConnection) {
      outgoing.end(last);
      return;
    }
    // The client could lose the response if the connection were closed while it still sends.
    if (last === undefined) outgoing.flushHeaders();
    else outgoing.write(last);
    this.#incoming.pause();
    setTimeout(() => outgoing.end(), LINGER_MS).unref();
  }
}

/** In HTTP/2 a body needs no declared length: it ends with the stream. */
function isOpenEnded(incoming: IncomingMessage | Http2ServerRequest): boolean {
  return "stream" in incoming && !incoming.stream.endAfterHeaders;
}

/** A buffer that grows with the received bytes, so that many small chunks take no more memory than their content. */
class BodyBuffer {
  readonly #budget: BufferBudget;
  #buffer: Buffer | undefined;
  length = 0;

  constructor(budget: BufferBudget) {
    this.#budget = budget;
  }

  get bytes(): Uint8Array | undefined {
    return this.#buffer?.subarray(0, this.length);
  }

  /** Adds a chunk, up to one byte more than the body limit. Returns whether enough memory was left. */
  add(chunk: Buffer): boolean {
    const length = Math.min(this.length + chunk.byteLength, MAX_BODY_BYTES + 1);
    if (this.#buffer === undefined) {
      if (!this.#budget.reserve(chunk.byteLength)) return false;
      // Usually the only chunk.
      this.#buffer = chunk;
    } else {
      if (length > this.#buffer.byteLength && !this.#grow(length)) return false;
      chunk.copy(this.#buffer, this.length, 0, length - this.length);
    }
    this.length = length;
    return true;
  }

  release(): void {
    this.#budget.reserve(-(this.#buffer?.byteLength ?? 0));
  }

  #grow(length: number): boolean {
    const buffer = this.#buffer!;
    const size = Math.min(Math.max(length, 2 * buffer.byteLength), MAX_BODY_BYTES + 1);
    if (!this.#budget.reserve(size - buffer.byteLength)) return false;
    this.#buffer = Buffer.allocUnsafeSlow(size);
    buffer.copy(this.#buffer, 0, 0, this.length);
    return true;
  }
}

/** Upstream refuses by the number of requests in flight instead. */
function tooManyRequests(): Error {
  return statusError(429, "TooManyRequests", "Too many requests, please try again later.", { retryAfterSeconds: 1 });
}

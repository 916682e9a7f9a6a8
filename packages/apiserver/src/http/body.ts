import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest } from "node:http2";

import { statusError } from "../api-error.js";
import { CONNECTION_CLOSED } from "../connection-closed.js";
import { MAX_BODY_BYTES } from "../request-body.js";
import { RequestTimeout } from "../request-timeout.js";

/** All bodies that are being received take so much memory together. The next byte is refused with 429. */
const MAX_BUFFERED_BYTES = 128 * 1024 * 1024;
/**
 * So much that nobody wanted is thrown away for the connection's sake (Go `net/http` maxPostHandlerReadBytes). Unlike Go's,
 * the answer does not wait for it.
 */
export const MAX_DISCARDED_BYTES = 256 * 1024;
/** How long a connection that ends in the middle of a body stays open, unread, for its answer to arrive (Go `net/http` rstAvoidanceDelay). */
const LINGER_MS = 500;

/** The bodies of the requests to one server. */
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

  /** A client takes too long. Answers whether its body was waited for: then the request has failed, and is answered. */
  timeOut(incoming: IncomingMessage): boolean {
    const fail = this.#reading.get(incoming);
    fail?.(new RequestTimeout());
    return fail !== undefined;
  }
}

interface BufferBudget {
  /** Tells how the reading is made to fail. Answers how to say that it is over. */
  begin(fail: (error: Error) => void): () => void;
  /** Takes memory, or with less than nothing gives it back. Answers whether there was so much left. */
  reserve(bytes: number): boolean;
}

/** The body of one request, which is read when somebody wants it, and got rid of when nobody did. */
export class RequestBodyReader {
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #budget: BufferBudget;
  /** Of the wire; unknown, for chunks, is endless. */
  readonly #declaredBytes: number;
  #receivedBytes = 0;
  /** Whether the client sends its body only when it is told to, and has not been. */
  #awaitsContinue: boolean;
  /** Whether what has not come is not worth waiting for. */
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
   * The whole body; of one that is too long only as much as shows that it is. `undefined`: there is none.
   *
   * @throws ApiError 429 when all bodies together are too much, RequestTimeout, or Error when the connection breaks.
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

  /** To be called before the head of the answer is sent: says in it whether the connection ends. */
  decideConnection(): void {
    if (this.#incoming.complete) return;
    const left = this.#declaredBytes - this.#receivedBytes;
    if (left > MAX_DISCARDED_BYTES || this.#isAbandoned) this.#outgoing.setHeader("connection", "close");
    this.#endsConnection = this.#outgoing.getHeader("connection") === "close";
  }

  /** Sends the last of the answer, and ends it. */
  finish(last?: string | Uint8Array): void {
    const outgoing = this.#outgoing;
    if (!this.#endsConnection) {
      outgoing.end(last);
      return;
    }
    // The answer would be lost if the connection broke while the client is still sending.
    if (last === undefined) outgoing.flushHeaders();
    else outgoing.write(last);
    this.#incoming.pause();
    setTimeout(() => outgoing.end(), LINGER_MS).unref();
  }
}

/** In HTTP/2 a body needs no length: it goes on until the stream ends. */
function isOpenEnded(incoming: IncomingMessage | Http2ServerRequest): boolean {
  return "stream" in incoming && !incoming.stream.endAfterHeaders;
}

/** Grows as bytes come in, so that many small pieces take no more than what is in them. */
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

  /** At most one byte more than a body may have. Answers whether there was memory for it. */
  add(chunk: Buffer): boolean {
    const length = Math.min(this.length + chunk.byteLength, MAX_BODY_BYTES + 1);
    if (this.#buffer === undefined) {
      if (!this.#budget.reserve(chunk.byteLength)) return false;
      // Nearly always this is all.
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

/** Upstream refuses by the number of requests in flight. */
function tooManyRequests(): Error {
  return statusError(429, "TooManyRequests", "Too many requests, please try again later.", { retryAfterSeconds: 1 });
}

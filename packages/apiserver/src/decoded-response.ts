import type { ApiResponse } from "@kubewright/transport";

import { type EventStream, type Reply, replyValue } from "./reply.js";

/** Converts a reply for an in-process client, without serializing it. */
export function decodedResponse(reply: Reply, signal: AbortSignal | undefined): ApiResponse {
  const { body, status, headers } = reply;
  switch (body.type) {
    case "stream":
      return { status, headers, body: { type: "events", events: new DecodedEvents(body.stream, signal) } };
    case "text":
    case "binary":
    case "chunks":
      return { status, headers: { ...headers, "content-type": body.contentType }, body: contentOf(body) };
    default:
      return { status, headers, body: { type: "decoded", value: replyValue(body) } };
  }
}

function contentOf(body: Extract<Reply["body"], { readonly contentType: string }>): ApiResponse["body"] {
  if (body.type === "text") return { type: "decoded", value: body.text };
  return { type: "bytes", chunks: body.type === "chunks" ? body.chunks : chunksOf(body.bytes) };
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** A watch as decoded events. Can be iterated once. */
class DecodedEvents implements AsyncIterable<unknown>, AsyncIterator<unknown, undefined> {
  readonly #stream: EventStream;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => this.#stream.abandon();

  constructor(stream: EventStream, signal: AbortSignal | undefined) {
    this.#stream = stream;
    this.#signal = signal;
    if (signal?.aborted === true) stream.abandon();
    else signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<unknown, undefined>> {
    const result = this.#poll();
    return result === undefined ? this.#stream.ready().then(this.#readOn) : Promise.resolve(result);
  }

  readonly #readOn = (): IteratorResult<unknown, undefined> | Promise<IteratorResult<unknown, undefined>> =>
    this.#poll() ?? this.next();

  /** Returns the next result; `undefined` when none is available yet. */
  #poll(): IteratorResult<unknown, undefined> | undefined {
    const frame = this.#stream.poll();
    if (frame !== undefined) return { done: false, value: this.#stream.toEvent(frame) };
    return this.#stream.closed ? this.#finish() : undefined;
  }

  return(): Promise<IteratorResult<unknown, undefined>> {
    this.#stream.abandon();
    return Promise.resolve(this.#finish());
  }

  #finish(): IteratorResult<unknown, undefined> {
    this.#signal?.removeEventListener("abort", this.#onAbort);
    return { done: true, value: undefined };
  }
}

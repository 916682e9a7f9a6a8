/** The source of a body: its connection. */
export interface ChunkSource {
  pause(): void;
  resume(): void;
  /** Called when the reader stops early. */
  cancel(): void;
}

type Result = IteratorResult<Uint8Array, undefined>;

/**
 * Maximum number of unread bytes. At this number the source pauses, until there are fewer. Upstream: Node's byte
 * streams.
 */
const MAX_UNREAD_BYTES = 65_536;

/**
 * The chunks of a body, between the connection that pushes them and the single reader, which requests one at a time.
 * Chunks received before an end or a failure are read before it. A reader that stops early cancels the source.
 */
export class ReceivedChunks implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #source: ChunkSource;
  readonly #unread: Uint8Array[] = [];
  #unreadBytes = 0;
  #reader: PromiseWithResolvers<Result> | undefined;
  #end: { readonly error?: unknown } | undefined;

  constructor(source: ChunkSource) {
    this.#source = source;
  }

  push(chunk: Uint8Array): void {
    const reader = this.#reader;
    if (reader !== undefined) {
      this.#reader = undefined;
      return reader.resolve({ done: false, value: chunk });
    }
    this.#unread.push(chunk);
    this.#unreadBytes += chunk.length;
    if (this.#unreadBytes >= MAX_UNREAD_BYTES) this.#source.pause();
  }

  end(): void {
    this.#finish({});
  }

  fail(error: unknown): void {
    this.#finish({ error });
  }

  /** Drops all unread chunks. */
  clear(): void {
    this.#unread.length = 0;
    this.#unreadBytes = 0;
  }

  next(): Promise<Result> {
    const chunk = this.#unread.shift();
    if (chunk !== undefined) {
      const wasFull = this.#unreadBytes >= MAX_UNREAD_BYTES;
      this.#unreadBytes -= chunk.length;
      if (wasFull && this.#unreadBytes < MAX_UNREAD_BYTES && this.#end === undefined) this.#source.resume();
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#end !== undefined) return this.#endResult(this.#end);
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  return(): Promise<Result> {
    this.clear();
    if (this.#end === undefined) {
      this.end();
      this.#source.cancel();
    }
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #finish(end: { readonly error?: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#reader?.resolve(this.#endResult(end));
    this.#reader = undefined;
  }

  /** Reports a failure only once. */
  #endResult(end: { readonly error?: unknown }): Promise<Result> {
    this.#end = {};
    return "error" in end ? Promise.reject(end.error) : Promise.resolve(DONE);
  }
}

const DONE: Result = { done: true, value: undefined };

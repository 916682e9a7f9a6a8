import type { ContainerLogOptions } from "@kubewright/cluster";
import type { Clock } from "@kubewright/clock";

import type { OutputStream, ProcessFolder } from "./process-host.js";

/**
 * Maximum size of a log file, in bytes. Each run of a container has two files; when the newer one is full, it replaces
 * the older one.
 */
const MAX_FILE_BYTES = 10 * 1024 * 1024;
const MAX_LINE_BYTES = 16 * 1024;
const READ_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;
const TIME_CHARACTERS = "2026-01-01T00:00:00.000Z".length;

/**
 * The log of one run of a container, in lines of the CRI format: time, stream, tag, text. The tag is `F` for a full
 * line and `P` for a partial one. One writer, any number of readers.
 */
export class LogFile {
  readonly #folder: ProcessFolder;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #unfinished = new Map<OutputStream, Uint8Array>();
  /** Bytes written before the start of the present file, and before the start of the previous one. */
  #startOffset = 0;
  #oldStartOffset = 0;
  #size = 0;
  #ended = false;
  #last: Promise<void> = Promise.resolve();
  #grown = Promise.withResolvers<void>();

  constructor(folder: ProcessFolder, path: string, clock: Clock) {
    this.#folder = folder;
    this.#path = path;
    this.#clock = clock;
  }

  /** Resolves when the bytes are written. */
  write(stream: OutputStream, bytes: Uint8Array): Promise<void> {
    const time = new Date(this.#clock.now()).toISOString();
    const parts: Uint8Array[] = [];
    let rest = joined(this.#unfinished.get(stream) ?? new Uint8Array(), bytes);
    for (;;) {
      const end = rest.indexOf(LINE_FEED);
      if (end >= 0 && end <= MAX_LINE_BYTES) {
        parts.push(line(time, stream, "F", rest.subarray(0, end)));
        rest = rest.subarray(end + 1);
      } else if (rest.length > MAX_LINE_BYTES) {
        parts.push(line(time, stream, "P", rest.subarray(0, MAX_LINE_BYTES)));
        rest = rest.subarray(MAX_LINE_BYTES);
      } else break;
    }
    this.#unfinished.set(stream, rest.slice());
    return this.#append(parts);
  }

  /** Ends the log: no more output follows. */
  async end(): Promise<void> {
    const time = new Date(this.#clock.now()).toISOString();
    const parts = [...this.#unfinished].flatMap(([stream, rest]) =>
      rest.length === 0 ? [] : [line(time, stream, "P", rest)],
    );
    this.#unfinished.clear();
    await this.#append(parts);
    this.#ended = true;
    this.#wakeReaders();
  }

  /** Returns the last lines of the log, at most that number of lines and of bytes. */
  async tail(lines: number, bytes: number): Promise<string> {
    const chunks: Uint8Array[] = [];
    const options = { follow: false, previous: false, timestamps: false, sinceMs: undefined, limitBytes: undefined };
    for await (const chunk of this.read({ ...options, tailLines: lines }, new AbortController().signal))
      chunks.push(chunk);
    const all = concatenated(chunks);
    return new TextDecoder().decode(all.subarray(Math.max(0, all.length - bytes)));
  }

  /** Yields the requested part of the log. */
  async *read(options: ContainerLogOptions, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { follow, timestamps, sinceMs, tailLines, limitBytes = Infinity } = options;
    const since = sinceMs === undefined ? "" : new Date(sinceMs).toISOString();
    const isWanted = (text: Uint8Array): boolean => since === "" || timeOf(text) >= since;
    let skip = 0;
    if (tailLines !== undefined) {
      const total = new LineCount();
      for await (const lines of this.#lines(false, signal))
        for (const text of lines) if (isWanted(text)) total.add(text);
      skip = Math.max(0, total.lines - tailLines);
    }
    let remainingBytes = limitBytes;
    const count = new LineCount();
    for await (const lines of this.#lines(follow, signal)) {
      const output: Uint8Array[] = [];
      for (const text of lines) {
        if (!isWanted(text)) continue;
        const begins = count.add(text);
        if (count.lines <= skip) continue;
        if (timestamps && begins) output.push(text.subarray(0, TIME_CHARACTERS + 1));
        output.push(text.subarray(contentOf(text), isFull(text) ? text.length : text.length - 1));
      }
      let chunk = concatenated(output);
      if (chunk.length > remainingBytes) chunk = chunk.subarray(0, remainingBytes);
      remainingBytes -= chunk.length;
      if (chunk.length > 0) yield chunk;
      if (remainingBytes === 0) return;
    }
  }

  /** Yields the lines of the log in batches, as they are written. */
  async *#lines(follow: boolean, signal: AbortSignal): AsyncGenerator<readonly Uint8Array[]> {
    let at = this.#oldStartOffset;
    let rest: Uint8Array = new Uint8Array();
    while (!signal.aborted) {
      const grown = this.#grown.promise;
      const isLast = this.#ended;
      const all = this.#startOffset + this.#size;
      if (at >= all) {
        if (!follow || isLast) return;
        await untilAborted(grown, signal);
        continue;
      }
      if (at < this.#oldStartOffset) [at, rest] = [this.#oldStartOffset, new Uint8Array()];
      const from = at;
      const bytes = await this.#enqueue(() =>
        from < this.#startOffset
          ? this.#folder.read(
              `${this.#path}.old`,
              from - this.#oldStartOffset,
              Math.min(READ_BYTES, this.#startOffset - from),
            )
          : this.#folder.read(this.#path, from - this.#startOffset, READ_BYTES),
      );
      // The file was removed during the read.
      if (bytes.length === 0) return;
      at += bytes.length;
      const lines: Uint8Array[] = [];
      rest = joined(rest, bytes);
      for (let end = rest.indexOf(LINE_FEED); end >= 0; end = rest.indexOf(LINE_FEED)) {
        lines.push(rest.subarray(0, end + 1));
        rest = rest.subarray(end + 1);
      }
      yield lines;
    }
  }

  #append(parts: readonly Uint8Array[]): Promise<void> {
    if (parts.length === 0) return this.#last;
    const bytes = concatenated(parts);
    return this.#enqueue(async () => {
      if (this.#size > 0 && this.#size + bytes.length > MAX_FILE_BYTES) {
        await this.#folder.rename(this.#path, `${this.#path}.old`);
        this.#oldStartOffset = this.#startOffset;
        this.#startOffset += this.#size;
        this.#size = 0;
      }
      if (this.#size === 0) await this.#folder.write(this.#path, bytes);
      else await this.#folder.append(this.#path, bytes);
      this.#size += bytes.length;
      this.#wakeReaders();
    });
  }

  /** Runs file operations one at a time, so that a file is not rotated while it is read. */
  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    // A failed operation, for example on a full disk, does not block the next one.
    this.#last = done.then(
      () => {},
      () => {},
    );
    return done;
  }

  #wakeReaders(): void {
    const { resolve } = this.#grown;
    this.#grown = Promise.withResolvers();
    resolve();
  }
}

/** Counts lines, including lines in several parts. */
class LineCount {
  lines = 0;
  #isLineOpen = false;

  /** Returns whether this part starts a line. */
  add(text: Uint8Array): boolean {
    const begins = !this.#isLineOpen;
    if (begins) this.lines++;
    this.#isLineOpen = !isFull(text);
    return begins;
  }
}

function line(time: string, stream: OutputStream, tag: "F" | "P", text: Uint8Array): Uint8Array {
  return concatenated([new TextEncoder().encode(`${time} ${stream} ${tag} `), text, Uint8Array.of(LINE_FEED)]);
}

const STREAM_CHARACTERS = "stdout".length;

function timeOf(text: Uint8Array): string {
  return new TextDecoder().decode(text.subarray(0, TIME_CHARACTERS));
}

function isFull(text: Uint8Array): boolean {
  return text[TIME_CHARACTERS + STREAM_CHARACTERS + 2] === "F".charCodeAt(0);
}

function contentOf(text: Uint8Array): number {
  return Math.min(text.length, TIME_CHARACTERS + STREAM_CHARACTERS + 4);
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.length === 0 ? b : concatenated([a, b]);
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function untilAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const onAbort = (): void => resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", onAbort));
}

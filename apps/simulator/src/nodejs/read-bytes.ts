import { close, constants, createReadStream, fstat, open, read } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { InterruptedError } from "@kubewright/analysis/errors";

export interface ReadOptions {
  /** Maximum number of bytes. */
  readonly maxBytes: number;
  /** Ends the reading. */
  readonly signal: AbortSignal;
}

/** How long a program may take until it opens a pipe and writes to it. */
const WRITER_MS = 2_000;
const RETRY_MS = 50;

/**
 * Reads a regular file, or a pipe until its writer closes it. Files are opened without waiting, so that a pipe without a
 * writer cannot hold the process.
 *
 * @throws Error for devices, sockets, pipes without data, and input that is too large. InterruptedError when the signal
 *   aborts. Otherwise as node:fs.
 */
export async function readBytes(path: string, options: ReadOptions): Promise<Buffer> {
  const { maxBytes } = options;
  // Windows has neither the flag nor such pipes.
  const fd = await promisify(open)(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  let stream: Readable;
  let begin: Buffer = Buffer.alloc(0);
  try {
    const stats = await promisify(fstat)(fd);
    if (stats.isFIFO()) {
      begin = await beginOfPipe(path, fd, options);
      stream = new Socket({ fd, readable: true, writable: false });
    } else {
      // Reading a folder fails with EISDIR.
      if (!stats.isFile() && !stats.isDirectory()) throw new Error("is neither a regular file nor a folder nor a pipe");
      if (stats.size > maxBytes) throw tooLarge(maxBytes);
      stream = createReadStream(path, { fd });
    }
  } catch (error) {
    await promisify(close)(fd);
    throw error;
  }
  return Buffer.concat([begin, await readStream(path, stream, options)]);
}

/** Reads a stream to its end. @throws as {@link readBytes} does. */
export async function readStream(name: string, stream: Readable, { maxBytes, signal }: ReadOptions): Promise<Buffer> {
  const stop = (): void => void stream.destroy(interrupted(name));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
    }
  } finally {
    signal.removeEventListener("abort", stop);
  }
  return Buffer.concat(chunks);
}

/**
 * Returns the available bytes of a pipe once a program has opened it for writing. A stream would wait for that program
 * without a limit.
 */
async function beginOfPipe(path: string, fd: number, { signal }: ReadOptions): Promise<Buffer> {
  const bytes = Buffer.alloc(65_536);
  for (let waitedMs = 0; waitedMs <= WRITER_MS; waitedMs += RETRY_MS) {
    if (signal.aborted) throw interrupted(path);
    try {
      const { bytesRead } = await promisify(read)(fd, bytes, 0, bytes.length, null);
      if (bytesRead > 0) return bytes.subarray(0, bytesRead);
    } catch (error) {
      // A program has opened the pipe and has not written yet.
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return Buffer.alloc(0);
      throw error;
    }
    await sleep(RETRY_MS);
  }
  throw new Error("is a pipe without data");
}

function interrupted(name: string): InterruptedError {
  return new InterruptedError(`stopped while reading ${name}`);
}

export function tooLarge(maxBytes: number): Error {
  return new Error(`is larger than ${maxBytes / 1_000_000} MB, the limit; split it, or export fewer objects`);
}

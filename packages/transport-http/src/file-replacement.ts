import { randomUUID } from "node:crypto";
import { type Stats, constants, rmSync } from "node:fs";
import { type FileHandle, open, realpath, rename } from "node:fs/promises";
import path from "node:path";
import process from "node:process";

export interface ReplacementOptions {
  /**
   * Mode of the new file, such as 0o600 for a secret. The file then belongs to this process's user, even if the old one
   * belonged to another. Default: the mode and, if possible, the owner of the old file; for a new file the usual mode.
   */
  readonly mode?: number;
}

/** The new content of a file, in progress. */
export interface FileReplacement {
  /** Resolves when more can be written. */
  write(text: string): Promise<void>;
  /** Replaces the old file with the new one. */
  close(): Promise<void>;
  /** Discards the new content. The old file stays unchanged. */
  discard(): Promise<void>;
}

/** Number of characters to buffer before a write. */
const BUFFER_LENGTH = 65_536;

/**
 * Starts to write a new file next to the one it replaces. Closing it replaces the old file atomically. If an operation
 * fails, or the process exits before, the old file stays unchanged and the new one is removed. Only a killed process
 * leaves a `.kubewright-*.tmp` behind.
 *
 * Follows symbolic links. A path that is not a regular file, such as a pipe, is written to directly.
 *
 * @throws Error as node:fs does, for the given path; `write` and `close` do too.
 */
export async function openReplacement(file: string, { mode }: ReplacementOptions = {}): Promise<FileReplacement> {
  // Opening requires write permission, which replacing a file does not. It also lets the operating system check a link
  // before it is followed.
  const old = await open(file, constants.O_WRONLY).catch(undefinedIfMissing);
  const stats = await old?.stat();
  if (old !== undefined && stats?.isFile() !== true) return new OpenFile(old, () => old.close());
  await old?.close();
  const target = old === undefined ? file : await realpath(file);
  const temporaryFile = path.join(path.dirname(target), `.kubewright-${randomUUID()}.tmp`);
  const handle = await open(temporaryFile, "wx", mode).catch((error: Error) => {
    error.message = error.message.replace(temporaryFile, file);
    throw error;
  });
  const remove = (): void => rmSync(temporaryFile, { force: true });
  process.once("exit", remove);
  const replacement = new OpenFile(handle, async (isComplete) => {
    try {
      if (isComplete) await handle.sync();
      await handle.close();
      if (isComplete) await rename(temporaryFile, target);
    } finally {
      remove();
      process.off("exit", remove);
    }
  });
  await replacement.attempt((opened) => setOwnerAndMode(opened, mode, stats));
  return replacement;
}

/** Replaces a file's whole content; see {@link openReplacement}. */
export async function replaceFile(file: string, text: string, options?: ReplacementOptions): Promise<void> {
  const replacement = await openReplacement(file, options);
  await replacement.write(text);
  await replacement.close();
}

class OpenFile implements FileReplacement {
  readonly #handle: FileHandle;
  readonly #finish: (isWhole: boolean) => Promise<void>;
  #text = "";

  /** @param finish - Closes the file. Its argument is whether everything was written. */
  constructor(handle: FileHandle, finish: (isWhole: boolean) => Promise<void>) {
    this.#handle = handle;
    this.#finish = finish;
  }

  /** Performs an action on the file. If the action fails, the new content is discarded. */
  async attempt(action: (handle: FileHandle) => Promise<void>): Promise<void> {
    try {
      await action(this.#handle);
    } catch (error) {
      await this.#finish(false).catch(() => undefined);
      throw error;
    }
  }

  async write(text: string): Promise<void> {
    this.#text += text;
    if (this.#text.length >= BUFFER_LENGTH) await this.#flush();
  }

  async close(): Promise<void> {
    await this.#flush();
    await this.#finish(true);
  }

  discard(): Promise<void> {
    this.#text = "";
    return this.#finish(false);
  }

  #flush(): Promise<void> {
    const text = this.#text;
    this.#text = "";
    return this.attempt((handle) => handle.writeFile(text));
  }
}

async function setOwnerAndMode(handle: FileHandle, mode: number | undefined, old: Stats | undefined): Promise<void> {
  // `chmod` is not limited by the umask of this process.
  if (mode !== undefined) return handle.chmod(mode);
  if (old === undefined) return;
  // Only root can change the owner of a file.
  await handle.chown(old.uid, old.gid).catch(() => undefined);
  await handle.chmod(old.mode & 0o777);
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

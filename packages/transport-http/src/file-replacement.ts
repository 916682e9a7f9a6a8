import { randomUUID } from "node:crypto";
import { type Stats, constants, rmSync } from "node:fs";
import { type FileHandle, open, realpath, rename } from "node:fs/promises";
import path from "node:path";
import process from "node:process";

export interface ReplacementOptions {
  /**
   * Who may read and write the file from now on, such as 0o600 for what holds a secret; it then belongs to this process's
   * user, whosever the old one was. Default: mode and, where possible, owner of the old file; of a new one the usual.
   */
  readonly mode?: number;
}

/** What a file is to hold from now on. */
export interface FileReplacement {
  /** Resolves when more may be written. */
  write(text: string): Promise<void>;
  /** Puts the new file in the place of the old one. */
  close(): Promise<void>;
  /** Leaves the old file as it was. */
  discard(): Promise<void>;
}

/** Characters that are collected before they are written. */
const BUFFER_LENGTH = 65_536;

/**
 * Begins to write a file beside the one it replaces, whose place it takes at once when it is closed. If something fails, or
 * the process exits before, the old file stays as it was, and the new one is removed; only a process that is killed leaves
 * a `.kubewright-*.tmp` behind.
 *
 * A link to a file is followed. What is no file, such as a pipe, is written to as it is.
 *
 * @throws Error as node:fs does, of the given path; so do `write` and `close`.
 */
export async function openReplacement(file: string, { mode }: ReplacementOptions = {}): Promise<FileReplacement> {
  // Only who may write to a file may replace it; and this way the system has looked at a link before it is followed.
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

/** Replaces a file as a whole; see {@link openReplacement}. */
export async function replaceFile(file: string, text: string, options?: ReplacementOptions): Promise<void> {
  const replacement = await openReplacement(file, options);
  await replacement.write(text);
  await replacement.close();
}

class OpenFile implements FileReplacement {
  readonly #handle: FileHandle;
  readonly #finish: (isWhole: boolean) => Promise<void>;
  #text = "";

  /** @finish finish - Closes the file, of which everything was written or not. */
  constructor(handle: FileHandle, finish: (isWhole: boolean) => Promise<void>) {
    this.#handle = handle;
    this.#finish = finish;
  }

  /** Does something to the file, and gives it up if that fails. */
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
  // Whatever this process's umask is.
  if (mode !== undefined) return handle.chmod(mode);
  if (old === undefined) return;
  // Only root may give files away.
  await handle.chown(old.uid, old.gid).catch(() => undefined);
  await handle.chmod(old.mode & 0o777);
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

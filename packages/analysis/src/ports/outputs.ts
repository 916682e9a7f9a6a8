import { UserError } from "../errors/user-error.js";
import type { Files, OutputFile } from "./files.js";
import type { Output } from "./output.js";

/** What `Outputs` needs. */
export type OutputsIo = Pick<Files, "openFile" | "openSpool"> & Pick<Output, "stdout">;

/**
 * The output files of a command, by the flags that name them; `-` is standard output. They are opened before the work
 * and replace existing files together after it.
 */
export class Outputs {
  readonly #io: OutputsIo;
  #paths: readonly (readonly [flag: string, path: string])[] = [];
  readonly #files = new Map<string, OutputFile>();

  constructor(io: OutputsIo) {
    this.#io = io;
  }

  /** Sets the path of each flag. @throws UserError when a path is also an input or the path of another flag. */
  declare(paths: Readonly<Record<string, string | undefined>>, inputs: readonly string[]): void {
    const taken = new Set(inputs);
    this.#paths = Object.entries(paths).flatMap(([flag, path]) => (path === undefined ? [] : [[flag, path] as const]));
    for (const [flag, path] of this.#paths) {
      if (path === "-") continue;
      if (taken.has(path)) throw new UserError(`${flag}: ${path} is already in use by this command; name another file`);
      taken.add(path);
    }
  }

  /** Whether one of them is standard output, which then has nothing else. */
  get usesStandardOutput(): boolean {
    return this.#paths.some(([, path]) => path === "-");
  }

  /**
   * Opens all of them.
   *
   * @param options.spooled - Standard output gets nothing before `close`.
   * @throws UserError when one cannot be opened.
   */
  async open({ spooled = false }: { readonly spooled?: boolean } = {}): Promise<void> {
    for (const [flag, path] of this.#paths)
      this.#files.set(
        flag,
        path === "-" ? await this.#standardOutput(spooled) : await openOutput(flag, path, this.#io),
      );
  }

  /** Returns the file of a flag; `undefined` without the flag. */
  file(flag: string): Pick<OutputFile, "write"> | undefined {
    return this.#files.get(flag);
  }

  /** Writes to the file of a flag. Without the flag, `text` is not called. */
  async write(flag: string, text: () => string | Promise<string>): Promise<void> {
    await this.file(flag)?.write(await text());
  }

  /** Discards what was written for a flag, and keeps its existing file. */
  async keep(flag: string): Promise<void> {
    await this.#files.get(flag)?.discard();
    this.#files.delete(flag);
  }

  /** Completes standard output. Existing files are replaced if `replacesFiles`. */
  async close({ replacesFiles }: { readonly replacesFiles: boolean }): Promise<void> {
    for (const [flag, path] of this.#paths)
      if (replacesFiles || path === "-") await this.#files.get(flag)?.close();
      else await this.keep(flag);
    this.#files.clear();
  }

  /** Discards everything. */
  async discard(): Promise<void> {
    for (const flag of this.#files.keys()) await this.keep(flag);
  }

  async #standardOutput(spooled: boolean): Promise<OutputFile> {
    const { stdout, openSpool } = this.#io;
    const nothing = async (): Promise<void> => {};
    if (!spooled) return { write: async (text) => stdout.write(text), close: nothing, discard: nothing };
    const texts: string[] = [];
    const memory = { write: async (text: string) => void texts.push(text), read: () => texts, close: nothing };
    const spool = (await openSpool?.()) ?? memory;
    return {
      write: (text) => spool.write(text),
      async close() {
        for await (const text of spool.read()) stdout.write(text);
        await spool.close();
      },
      discard: () => spool.close(),
    };
  }
}

/**
 * Opens a file that a flag names.
 *
 * @throws UserError with flag and file when the file cannot be opened. The methods `write` and `close` throw it too,
 * for example when the disk is full.
 */
export async function openOutput(
  flag: string,
  path: string,
  io: Pick<Files, "openFile">,
  options?: { readonly secret?: boolean },
): Promise<OutputFile> {
  const explained = async <T>(action: () => Promise<T>): Promise<T> => {
    try {
      return await action();
    } catch (error) {
      throw new UserError(`${flag}: cannot write ${path}: ${(error as Error).message}`, { cause: error });
    }
  };
  const file = await explained(() => io.openFile(path, options));
  return {
    write: (text) => explained(() => file.write(text)),
    close: () => explained(() => file.close()),
    discard: () => explained(() => file.discard()),
  };
}

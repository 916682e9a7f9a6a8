import type { PageAssets } from "../html-report/page-assets.js";

/** The files that a command reads and writes. */
export interface Files {
  /**
   * Returns the text of a file, unpacked if it is gzip. @throws with a `code` such as `ENOENT`, like node:fs;
   * InterruptedError when the command is stopped.
   *
   * @param options - `maxBytes` is the maximum size, also of the unpacked text. Default 64 MB.
   */
  readFile(path: string, options?: { readonly maxBytes?: number }): Promise<string>;
  /**
   * Opens a file for writing. Its previous content is replaced when it is closed, not before. `secret`: only the owner
   * may read it.
   */
  openFile(path: string, options?: { readonly secret?: boolean }): Promise<OutputFile>;
  /** Replaces the content of a file in place, for files that cannot be renamed over. Default: text is discarded. */
  readonly overwriteFile?: (path: string, text: string) => Promise<void>;
  /**
   * Returns the files and folders of a folder; `undefined` when the path is not a folder. @throws when it does not
   * exist.
   */
  listFolder(path: string): Promise<readonly FolderEntry[] | undefined>;
  /** Returns all of standard input. Default: there is none. */
  readonly readStandardInput?: () => Promise<string>;
  /** Opens storage outside of memory for output that is printed later. Default: memory. */
  readonly openSpool?: () => Promise<Spool>;
  /** Returns the built page of `--html` and `/ui/`. Default: none. */
  readonly pageAssets?: () => Promise<PageAssets>;
}

export interface FolderEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

/** Stored text, which is deleted when the process ends. */
export interface Spool {
  write(text: string): Promise<void>;
  /** Reads all written text from the beginning. */
  read(): AsyncIterable<string>;
  close(): Promise<void>;
}

export interface OutputFile {
  /** Resolves when more may be written. */
  write(text: string): Promise<void>;
  /** Completes the file, which replaces the previous content. */
  close(): Promise<void>;
  /** Keeps the previous content. */
  discard(): Promise<void>;
}

import type { StartSegmentRunners } from "./parallel/segment-runners.js";
import type { FutureWorkers } from "./futures/simulate-futures.js";
import type { FuzzPool } from "./fuzz/fuzz-pool.js";
import type { MutantKit } from "./fuzz/mutant-kit.js";
import type { ProcessHost } from "./process-kubelet/process-host.js";
import type { PageAssets } from "./report/page-assets.js";
import type { ConnectOptions, Connection } from "./why/connection.js";

/** All inputs and outputs of a command. Only the `Io` that main builds accesses the machine. */
export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Returns the text of a file, unpacked if it is gzip. @throws with a `code` such as `ENOENT`, like node:fs. */
  readFile(path: string): Promise<string>;
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
  /** Runs a program to its end; `undefined` when no program has that name. Default: no programs. */
  readonly execute?: (command: string, args: readonly string[]) => Promise<ExecuteResult | undefined>;
  /** Connects to the cluster of a kubeconfig. Default: no network. */
  readonly connect?: (options: ConnectOptions) => Promise<Connection>;
  /** Displays the progress of a long run. Default: no display. */
  readonly progress?: () => Promise<Progress>;
  /**
   * Keeps the memory of the process close to its live data, at the cost of some time. Call it regularly during long
   * work. Default: no effect.
   */
  readonly holdMemory?: () => void;
  /** Starts threads that simulate futures: the given number, or one for each core. Default: this thread. */
  readonly futureWorkers?: (count: number | undefined) => Promise<FutureWorkers>;
  /** Starts threads that simulate the namespaces of one cluster. Default: this thread. */
  readonly segmentRunners?: () => Promise<StartSegmentRunners>;
  /** Opens storage outside of memory for output that is printed later. Default: memory. */
  readonly openSpool?: () => Promise<Spool>;
  /**
   * Starts threads that run fault plans, with the runner at the URL instead of the standard one. Default: this thread.
   */
  readonly fuzzWorkers?: (count: number | undefined, runnerUrl: string | undefined) => Promise<FuzzPool>;
  /** Loads the known bugs; `undefined` outside a checkout of the repository. Default: none. */
  readonly mutants?: () => Promise<MutantKit | undefined>;
  /** Starts processes of pods; `undefined` on platforms without process groups. Default: none. */
  readonly processHost?: () => Promise<ProcessHost | undefined>;
  /** Aborts when the process is asked to stop. */
  readonly stopped: AbortSignal;
  /** Environment variables that name a kubeconfig or a proxy. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Returns the built page of `--html` and `/ui/`. Default: none. */
  readonly pageAssets?: () => Promise<PageAssets>;
  /** Version of the time-zone data in use, e.g. `2026a`. */
  readonly timeZoneData: string;
}

export interface FolderEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

export interface ExecuteResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Output {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** Columns of the terminal; 0 when unknown. */
  readonly columns: number;
  /** Whether to use colours: on a terminal, unless `NO_COLOR` is set. */
  readonly hasColours: boolean;
}

/** One line on a terminal that is redrawn in place. Without a terminal nothing is written. */
export interface Progress {
  /** @param share - 0 to 1. */
  show(share: number, text: string): void;
  /** Erases the line. */
  clear(): void;
}

/** For commands without a progress display. */
export const silentProgress: Progress = { show: () => {}, clear: () => {} };

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

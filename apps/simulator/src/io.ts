import type { StartSegmentRunners } from "./parallel/segment-runners.js";
import type { FutureWorkers } from "./futures/simulate-futures.js";
import type { FuzzPool } from "./fuzz/fuzz-pool.js";
import type { MutantKit } from "./fuzz/mutant-kit.js";
import type { ProcessHost } from "./process-kubelet/process-host.js";
import type { PageAssets } from "./report/page-assets.js";
import type { ConnectOptions, Connection } from "./why/connection.js";

/** Everything a command reads and writes. The only thing that touches the machine is the `Io` that main builds. */
export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  /** The text of a file, unpacked if it is gzip. @throws with a `code` such as `ENOENT`, as node:fs does. */
  readFile(path: string): Promise<string>;
  /**
   * Begins to write a file, which replaces what it held when it is closed, and not before. `secret`: for its owner's eyes only.
   */
  openFile(path: string, options?: { readonly secret?: boolean }): Promise<OutputFile>;
  /** Writes into a file that may be one of which only the content can be replaced. Default: nowhere. */
  readonly overwriteFile?: (path: string, text: string) => Promise<void>;
  /** The files and folders in a folder, or `undefined` when the path is not a folder. @throws when it does not exist. */
  listFolder(path: string): Promise<readonly FolderEntry[] | undefined>;
  /** Everything that comes in through standard input. Default: there is none. */
  readonly readStandardInput?: () => Promise<string>;
  /** Runs a program to its end; `undefined` when there is none of that name. Default: there is none at all. */
  readonly execute?: (command: string, args: readonly string[]) => Promise<ExecuteResult | undefined>;
  /** Connects to the cluster a kubeconfig names. Default: there is no network. */
  readonly connect?: (options: ConnectOptions) => Promise<Connection>;
  /** Shows how far a long run is. Default: nobody is shown anything. */
  readonly progress?: () => Promise<Progress>;
  /**
   * Holds the process's memory near to what is in use, for a little of its time; to be called now and then during long work.
   * Default: nothing does.
   */
  readonly holdMemory?: () => void;
  /** Threads that play futures: as many as are wanted, or as the machine has cores. Default: there is this thread. */
  readonly futureWorkers?: (count: number | undefined) => Promise<FutureWorkers>;
  /** Threads that play the namespaces of one cluster. Default: this one plays them. */
  readonly segmentRunners?: () => Promise<StartSegmentRunners>;
  /** A place outside of memory for text that is not to be shown yet. Default: memory. */
  readonly openSpool?: () => Promise<Spool>;
  /** Threads that play fault plans, with the player of a URL instead of the usual one. Default: there is this thread. */
  readonly fuzzWorkers?: (count: number | undefined, runnerUrl: string | undefined) => Promise<FuzzPool>;
  /** Known bugs to be put back in; `undefined` where this is no checkout of the repository. Default: there are none. */
  readonly mutants?: () => Promise<MutantKit | undefined>;
  /** Where processes of pods are started; `undefined` where there are no process groups. Default: nowhere. */
  readonly processHost?: () => Promise<ProcessHost | undefined>;
  /** Aborts when the process is told to stop. */
  readonly stopped: AbortSignal;
  /** Environment variables, for what names a kubeconfig or a proxy. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The page that `--html` and `/ui/` show, as it was built. Default: there is none. */
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
  /** Whether colours are wanted: a terminal, and not switched off by `NO_COLOR`. */
  readonly hasColours: boolean;
}

/** One line on a terminal, redrawn in place. Silent where there is no terminal. */
export interface Progress {
  /** @param share - 0 to 1. */
  show(share: number, text: string): void;
  /** Leaves no trace of the line. */
  clear(): void;
}

/** For whoever watches nothing. */
export const silentProgress: Progress = { show: () => {}, clear: () => {} };

/** Text that is put aside, and gone with the process. */
export interface Spool {
  write(text: string): Promise<void>;
  /** All that was written, from the first on. */
  read(): AsyncIterable<string>;
  close(): Promise<void>;
}

export interface OutputFile {
  /** Resolves when more may be written. */
  write(text: string): Promise<void>;
  /** Ends the file, which takes the place of what was there before. */
  close(): Promise<void>;
  /** Leaves what was there before. */
  discard(): Promise<void>;
}

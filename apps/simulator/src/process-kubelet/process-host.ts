/** The machine on which processes start. */
export interface ProcessHost {
  readonly cores: number;
  readonly memoryBytes: number;
  /** The environment variables that every process inherits. */
  readonly environment: Readonly<Record<string, string>>;
  /** Starts a program in a new process group, with a mark in its environment by which its child processes are found. A failed start is reported by the program's end. */
  start(program: Program): StartedProgram;
  /** Creates a folder that only this user can read. */
  makeFolder(): Promise<ProcessFolder>;
}

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** The complete environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Default: the working folder of this process. */
  readonly workingFolder: string | undefined;
  /** No more output is read until the promise resolves. */
  readonly onOutput: (stream: OutputStream, bytes: Uint8Array) => Promise<void>;
}

export type OutputStream = "stdout" | "stderr";

export interface StartedProgram {
  /** Resolves when the program has ended, all its output was read, and no process of its group, or with its mark, remains. */
  readonly ended: Promise<ProgramEnd>;
  /** Sends a signal to the process group; SIGKILL also to processes that have left it. Has no effect after the end. */
  signal(name: "SIGTERM" | "SIGKILL"): void;
}

export type ProgramEnd =
  /** The exit code; 128 plus the signal's number when a signal ended the program. */
  { readonly type: "exited"; readonly exitCode: number } | { readonly type: "notStarted"; readonly message: string };

/** A folder for the files of pods. Paths are relative to it. */
export interface ProcessFolder {
  /** Returns the absolute path, for other programs. */
  pathOf(path: string): string;
  makeFolder(path: string): Promise<void>;
  /** Writes a file and creates its parent folders. */
  write(path: string, bytes: Uint8Array | string, mode?: number): Promise<void>;
  append(path: string, bytes: Uint8Array): Promise<void>;
  /** Reads at most `bytes` bytes from an offset; `readEnd` reads the last ones. Returns no bytes for a missing
   * file, and for anything but a regular file. */
  read(path: string, from: number, bytes: number): Promise<Uint8Array>;
  readEnd(path: string, bytes: number): Promise<Uint8Array>;
  rename(path: string, to: string): Promise<void>;
  /** Removes a file, or a folder with its content, if it exists. */
  remove(path: string): Promise<void>;
  /** Removes the folder. */
  close(): Promise<void>;
}

/** The machine that processes are started on. */
export interface ProcessHost {
  readonly cores: number;
  readonly memoryBytes: number;
  /** What of the environment every process begins with. */
  readonly environment: Readonly<Record<string, string>>;
  /** Starts a program, in a process group of its own. What goes wrong with that is how it ends. */
  start(program: Program): StartedProgram;
  /** Makes a folder that nobody else can look into. */
  makeFolder(): Promise<ProcessFolder>;
}

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** All of it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Default: where this process was started. */
  readonly workingFolder: string | undefined;
  /** Nothing more is read before it resolves. */
  readonly onOutput: (stream: OutputStream, bytes: Uint8Array) => Promise<void>;
}

export type OutputStream = "stdout" | "stderr";

export interface StartedProgram {
  /** Resolves when it has ended, all that it said was heard, and nothing of its process group is left. */
  readonly ended: Promise<ProgramEnd>;
  /** Sends a signal to its process group; nothing when it has ended. */
  signal(name: "SIGTERM" | "SIGKILL"): void;
}

export type ProgramEnd =
  /** 128 and the signal's number, if it was a signal. */
  { readonly type: "exited"; readonly exitCode: number } | { readonly type: "notStarted"; readonly message: string };

/** A folder for files of pods. Paths are relative to it. */
export interface ProcessFolder {
  /** The whole path, for others. */
  pathOf(path: string): string;
  makeFolder(path: string): Promise<void>;
  /** Writes a file, and the folders that it is in. */
  write(path: string, bytes: Uint8Array | string, mode?: number): Promise<void>;
  append(path: string, bytes: Uint8Array): Promise<void>;
  /** At most so many bytes from there on, or the last ones; nothing of a file that is not there. */
  read(path: string, from: number, bytes: number): Promise<Uint8Array>;
  readEnd(path: string, bytes: number): Promise<Uint8Array>;
  rename(path: string, to: string): Promise<void>;
  /** Removes a file or a folder with all that is in it, if it is there. */
  remove(path: string): Promise<void>;
  /** Removes all. */
  close(): Promise<void>;
}

import { runCli } from "../src/cli.js";
import type { Io } from "../src/io/io.js";
import type { TextStream } from "@kubewright/analysis/ports";
import { connect } from "../src/nodejs/connect.js";

/** The output and exit code of a command. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Files written, by path. */
  readonly written: Readonly<Record<string, string>>;
}

export interface MemoryIoOptions extends Partial<Omit<Io, "stdout" | "stderr">> {
  /** Files to read, by path. Default: none. */
  readonly files?: Readonly<Record<string, string>>;
  readonly columns?: number;
}

/** Returns an `Io` with only these files, and a terminal that only the test reads. */
export function memoryIo({ files = {}, columns = 0, ...others }: MemoryIoOptions = {}): {
  readonly io: Io;
  readonly said: { stdout: string; stderr: string };
  readonly written: Record<string, string>;
} {
  const said = { stdout: "", stderr: "" };
  const written: Record<string, string> = {};
  const output = (name: keyof typeof said): TextStream => ({
    write: (text) => void (said[name] += text),
    isTerminal: false,
    columns,
    hasColours: false,
  });
  const io: Io = {
    stdout: output("stdout"),
    stderr: output("stderr"),
    readFile: async (path) =>
      files[path] ?? Promise.reject(Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" })),
    listFolder: async () => undefined,
    openFile: async (path) => {
      written[path] = "";
      return {
        write: async (text) => void (written[path] += text),
        close: async () => {},
        discard: async () => void delete written[path],
      };
    },
    overwriteFile: async (path, text) => void (written[path] = text),
    stopped: new AbortController().signal,
    connect: (options) => connect(options, others.env ?? {}),
    timeZoneData: "test",
    // `run` starts at 2026-01-01T00:00:00Z.
    now: () => Date.parse("2025-12-31T23:30:00Z"),
    ...others,
  };
  return { io, said, written };
}

/** Runs the command in this process. */
export async function kubewright(args: readonly string[], options?: MemoryIoOptions): Promise<CommandResult> {
  const { io, said, written } = memoryIo(options);
  const code = await runCli(args, io, "1.2.3");
  return { code, ...said, written };
}

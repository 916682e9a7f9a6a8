import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { constants as fileConstants, existsSync, rmSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, open, rename, rm, writeFile } from "node:fs/promises";
import { availableParallelism, constants, tmpdir, totalmem } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";

import { MARK_VARIABLE, signalMarked } from "./node-marked-processes.js";
import type { OutputStream, ProcessFolder, ProcessHost, Program, ProgramEnd, StartedProgram } from "./process-host.js";

/** Environment variables that processes inherit: paths of programs and of the user's files, but no secrets. */
const INHERITED_VARIABLES = ["PATH", "HOME", "USER", "LANG", "TMPDIR"];

/** How long to wait for the output of an ended program whose child processes still hold the pipe open. */
const OUTPUT_GRACE_MS = 1000;

/** Returns this machine, or `undefined` on a system without process groups. */
export function nodeProcessHost(): ProcessHost | undefined {
  if (process.platform === "win32") return undefined;
  const containers = new Set<ContainerProcesses>();
  const folders = new Set<string>();
  // Runs at any exit of this process, except when it is killed.
  process.once("exit", () => {
    for (const container of containers) signalAll(container, "SIGKILL");
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
  const environment = INHERITED_VARIABLES.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    environment: Object.fromEntries(environment),
    start: (program) => start(program, containers),
    makeFolder: () => makeFolder(folders),
  };
}

/** The processes of one run of a container. */
interface ContainerProcesses {
  readonly group: number;
  /** Value of {@link MARK_VARIABLE} in their environment. */
  readonly mark: string;
}

function start(
  { command, args, environment, workingFolder, onOutput }: Program,
  containers: Set<ContainerProcesses>,
): StartedProgram {
  if (workingFolder !== undefined && !existsSync(workingFolder))
    return notStarted(`chdir to workingDir ${JSON.stringify(workingFolder)} failed: no such file or directory`);
  const mark = randomUUID();
  let child;
  try {
    child = spawn(command, [...args], {
      env: { ...environment, [MARK_VARIABLE]: mark },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      ...(workingFolder === undefined ? {} : { cwd: workingFolder }),
    });
  } catch (error) {
    return notStarted(`exec: ${JSON.stringify(command)}: ${(error as Error).message}`);
  }
  const { pid, stdout, stderr } = child;
  const container = pid === undefined ? undefined : { group: pid, mark };
  if (container !== undefined) containers.add(container);
  const readOutput = async (stream: OutputStream, source: AsyncIterable<Uint8Array>): Promise<void> => {
    try {
      for await (const bytes of source) await onOutput(stream, bytes);
    } catch {
      // The stream was destroyed below, or its output cannot be stored. The program continues.
    }
  };
  const outputRead = Promise.all([readOutput("stdout", stdout), readOutput("stderr", stderr)]);
  const { promise: ended, resolve } = Promise.withResolvers<ProgramEnd>();
  child.once("error", (error: NodeJS.ErrnoException) => {
    if (container === undefined) resolve({ type: "notStarted", message: startErrorText(command, error) });
  });
  child.once("exit", (code, signal) => {
    // As in a container, no child process outlives the first process.
    if (container !== undefined) signalAll(container, "SIGKILL");
    const exitCode = signal === null ? (code ?? 1) : 128 + constants.signals[signal];
    const limit = new AbortController();
    void Promise.race([outputRead, delay(OUTPUT_GRACE_MS, undefined, { signal: limit.signal }).catch(() => {})]).then(
      () => {
        limit.abort();
        stdout.destroy();
        stderr.destroy();
        if (container !== undefined) containers.delete(container);
        resolve({ type: "exited", exitCode });
      },
    );
  });
  const signal = (name: "SIGTERM" | "SIGKILL"): void => {
    if (container !== undefined && containers.has(container)) signalAll(container, name);
  };
  return { ended, signal };
}

function notStarted(message: string): StartedProgram {
  return { ended: Promise.resolve({ type: "notStarted", message }), signal: () => {} };
}

/** Formats the error as runc does. */
function startErrorText(command: string, { code, message }: NodeJS.ErrnoException): string {
  const prefix = `exec: ${JSON.stringify(command)}`;
  if (code === "EACCES") return `${prefix}: permission denied`;
  if (code !== "ENOENT") return `${prefix}: ${message}`;
  return command.includes("/")
    ? `${prefix}: stat ${command}: no such file or directory`
    : `${prefix}: executable file not found in $PATH`;
}

function signalAll({ group, mark }: ContainerProcesses, name: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-group, name);
  } catch {
    // No process of the group remains.
  }
  if (name === "SIGKILL") signalMarked(mark, name);
}

async function makeFolder(folders: Set<string>): Promise<ProcessFolder> {
  const root = await mkdtemp(join(tmpdir(), "kubewright-kubelet-"));
  folders.add(root);
  const pathOf = (path: string): string => join(root, path);
  return {
    pathOf,
    makeFolder: async (path) => void (await mkdir(pathOf(path), { recursive: true })),
    write: async (path, bytes, mode = 0o600) => {
      await mkdir(dirname(pathOf(path)), { recursive: true });
      await writeFile(pathOf(path), bytes, { mode });
    },
    append: (path, bytes) => appendFile(pathOf(path), bytes, { flag: APPEND_FLAGS }),
    read: (path, from, bytes) => readPart(pathOf(path), () => from, bytes),
    readEnd: (path, bytes) => readPart(pathOf(path), (size) => Math.max(0, size - bytes), bytes),
    rename: (path, to) => rename(pathOf(path), pathOf(to)),
    remove: (path) => rm(pathOf(path), { recursive: true, force: true }),
    close: async () => {
      await rm(root, { recursive: true, force: true });
      folders.delete(root);
    },
  };
}

/** A program may replace its files. Neither a pipe nor a link to another file is opened. */
const REPLACED_SAFELY = fileConstants.O_NONBLOCK | fileConstants.O_NOFOLLOW;
const READ_FLAGS = fileConstants.O_RDONLY | REPLACED_SAFELY;
const APPEND_FLAGS = fileConstants.O_WRONLY | fileConstants.O_APPEND | fileConstants.O_CREAT | REPLACED_SAFELY;

/** Reads part of a regular file. Returns no bytes for anything else. */
async function readPart(path: string, begin: (size: number) => number, bytes: number): Promise<Uint8Array> {
  let file;
  try {
    file = await open(path, READ_FLAGS);
  } catch (error) {
    // ELOOP: a symbolic link; ENXIO: a socket.
    if (["ENOENT", "ELOOP", "ENXIO"].includes((error as NodeJS.ErrnoException).code ?? "")) return new Uint8Array();
    throw error;
  }
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return new Uint8Array();
    const { size } = stats;
    const from = begin(size);
    const buffer = new Uint8Array(Math.max(0, Math.min(bytes, size - from)));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

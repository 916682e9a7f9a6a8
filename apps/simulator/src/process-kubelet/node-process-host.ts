import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, open, rename, rm, writeFile } from "node:fs/promises";
import { availableParallelism, constants, tmpdir, totalmem } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";

import type { OutputStream, ProcessFolder, ProcessHost, Program, ProgramEnd, StartedProgram } from "./process-host.js";

/** Environment variables that processes inherit: paths of programs and of the user's files, but no secrets. */
const INHERITED_VARIABLES = ["PATH", "HOME", "USER", "LANG", "TMPDIR"];

/** How long to wait for the output of an ended program whose child processes still hold the pipe open. */
const OUTPUT_GRACE_MS = 1000;

/** Returns this machine, or `undefined` on a system without process groups. */
export function nodeProcessHost(): ProcessHost | undefined {
  if (process.platform === "win32") return undefined;
  const groups = new Set<number>();
  const folders = new Set<string>();
  // Runs at any exit of this process, except when it is killed.
  process.once("exit", () => {
    for (const group of groups) signalGroup(group, "SIGKILL");
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
    start: (program) => start(program, groups),
    makeFolder: () => makeFolder(folders),
  };
}

function start({ command, args, environment, workingFolder, onOutput }: Program, groups: Set<number>): StartedProgram {
  if (workingFolder !== undefined && !existsSync(workingFolder))
    return notStarted(`chdir to workingDir ${JSON.stringify(workingFolder)} failed: no such file or directory`);
  let child;
  try {
    child = spawn(command, [...args], {
      env: { ...environment },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      ...(workingFolder === undefined ? {} : { cwd: workingFolder }),
    });
  } catch (error) {
    return notStarted(`exec: ${JSON.stringify(command)}: ${(error as Error).message}`);
  }
  const { pid, stdout, stderr } = child;
  if (pid !== undefined) groups.add(pid);
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
    if (pid === undefined) resolve({ type: "notStarted", message: startErrorText(command, error) });
  });
  child.once("exit", (code, signal) => {
    // As in a container, no child process outlives the first process.
    if (pid !== undefined) signalGroup(pid, "SIGKILL");
    const exitCode = signal === null ? (code ?? 1) : 128 + constants.signals[signal];
    const limit = new AbortController();
    void Promise.race([outputRead, delay(OUTPUT_GRACE_MS, undefined, { signal: limit.signal }).catch(() => {})]).then(
      () => {
        limit.abort();
        stdout.destroy();
        stderr.destroy();
        if (pid !== undefined) groups.delete(pid);
        resolve({ type: "exited", exitCode });
      },
    );
  });
  return { ended, signal: (name) => (pid === undefined ? undefined : groups.has(pid) && signalGroup(pid, name)) };
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

function signalGroup(group: number, name: "SIGTERM" | "SIGKILL"): boolean {
  try {
    return process.kill(-group, name);
  } catch {
    // No process of the group remains.
    return false;
  }
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
    append: (path, bytes) => appendFile(pathOf(path), bytes),
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

async function readPart(path: string, begin: (size: number) => number, bytes: number): Promise<Uint8Array> {
  let file;
  try {
    file = await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return new Uint8Array();
    throw error;
  }
  try {
    const { size } = await file.stat();
    const from = begin(size);
    const buffer = new Uint8Array(Math.max(0, Math.min(bytes, size - from)));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

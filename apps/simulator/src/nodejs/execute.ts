import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import type { Readable } from "node:stream";

import { InterruptedError } from "@kubewright/analysis/errors";
import type { ExecuteOptions, ExecuteResult } from "@kubewright/analysis/ports";

/** Maximum size of a program's output, in bytes. */
const MAX_OUTPUT_BYTES = 64_000_000;
/** What is kept of a program's error output, in characters. */
const MAX_ERROR_TEXT = 65_536;
/** Process groups, by which the programs that a program has started can be ended. */
const HAS_GROUPS = process.platform !== "win32";

/**
 * Runs a program to its end. Its temporary files are in a folder that is removed after it.
 *
 * @returns `undefined` when no program has that name.
 * @throws InterruptedError when the signal aborts.
 */
export async function execute(
  command: string,
  args: readonly string[],
  options: ExecuteOptions,
  signal: AbortSignal,
): Promise<ExecuteResult | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), "kubewright-"));
  try {
    if (signal.aborted) throw interrupted(command);
    const child = spawn(command, [...args], {
      detached: HAS_GROUPS,
      stdio: ["ignore", "pipe", "pipe"],
      env: environment(folder, options),
    });
    return await endOf(child, command, options, signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function endOf(
  child: ChildProcessByStdio<null, Readable, Readable>,
  command: string,
  { timeoutMs, maxBytes = MAX_OUTPUT_BYTES }: ExecuteOptions,
  signal: AbortSignal,
): Promise<ExecuteResult | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let stderr = "";
    let ended: ExecuteResult["ended"];
    const end = (reason: ExecuteResult["ended"]): void => {
      ended ??= reason;
      killGroup(child.pid);
    };
    const stop = (): void => killGroup(child.pid);
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => end("timeout"), timeoutMs);
    signal.addEventListener("abort", stop, { once: true });
    const release = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    };
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) end("output");
      else chunks.push(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr = `${stderr}${chunk.toString()}`.slice(-MAX_ERROR_TEXT);
    });
    child.once("error", (error: NodeJS.ErrnoException) => {
      release();
      // A file without the permission to run is no program, as for a shell.
      if (error.code === "ENOENT" || error.code === "EACCES") resolve(undefined);
      else reject(error);
    });
    child.once("close", (status) => {
      release();
      if (signal.aborted) reject(interrupted(command));
      else
        resolve({
          status: status ?? 1,
          stdout: ended === undefined ? Buffer.concat(chunks).toString() : "",
          stderr,
          ...(ended === undefined ? {} : { ended }),
        });
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(HAS_GROUPS ? -pid : pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/**
 * Without the network, Go programs find a proxy that refuses connections, Git no protocol, and Helm and kustomize no
 * plugins and no repositories.
 */
function environment(folder: string, { network = false }: ExecuteOptions): NodeJS.ProcessEnv {
  const common = { ...process.env, TMPDIR: folder, TMP: folder, TEMP: folder, GIT_TERMINAL_PROMPT: "0" };
  if (network) return common;
  const proxies = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
  return {
    ...common,
    ...Object.fromEntries(proxies.map((name) => [name, "http://127.0.0.1:0"])),
    NO_PROXY: "",
    no_proxy: "",
    GIT_ALLOW_PROTOCOL: "none",
    KUSTOMIZE_PLUGIN_HOME: folder,
    HELM_PLUGINS: folder,
    HELM_CACHE_HOME: folder,
    HELM_CONFIG_HOME: folder,
    HELM_DATA_HOME: folder,
  };
}

function interrupted(command: string): InterruptedError {
  return new InterruptedError(`stopped while ${command} was running`);
}

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, stat, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import process from "node:process";
import { isSea } from "node:sea";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";

import { realClock } from "@kubewright/clock";
import { openReplacement } from "@kubewright/transport-http/file-replacement";

import type { FolderEntry, Progress, TextStream } from "@kubewright/analysis/ports";
import type { PageAssets } from "@kubewright/analysis/page";
import type { Io } from "../io/io.js";
import { execute } from "./execute.js";
import { ProgressDisplay } from "./progress-display.js";
import { openSpool } from "./spool.js";
import { NodeHeap } from "./heap.js";
import type { MutantKit } from "../fuzz/mutant-kit.js";
import { mutantKitFile, readOwnFile } from "./own-files.js";
import { readBytes, readStream, tooLarge } from "./read-bytes.js";

/** Returns the `Io` of this process and machine. */
export function nodeIo(stopped: AbortSignal): Io {
  const heap = new NodeHeap();
  return {
    stdout: terminal(process.stdout),
    stderr: terminal(process.stderr),
    readFile: async (path, { maxBytes = MAX_INPUT_BYTES } = {}) =>
      decompress(await readBytes(path, { maxBytes, signal: stopped }), maxBytes),
    readStandardInput: async () => {
      const maxBytes = MAX_INPUT_BYTES;
      return decompress(await readStream("standard input", process.stdin, { maxBytes, signal: stopped }), maxBytes);
    },
    execute: (command, args, options = {}) => execute(command, args, options, stopped),
    // Loaded on demand: `run` and `serve` need neither a kubeconfig nor its libraries.
    connect: async (options) => (await import("./connect.js")).connect(options, process.env),
    openFile: (path, { secret = false } = {}) => openReplacement(path, secret ? { mode: 0o600 } : {}),
    progress: () => progressDisplay(process.stderr),
    overwriteFile: (path, text) => writeFile(path, text),
    listFolder,
    holdMemory: () => heap.limitGrowth(),
    futureWorkers: async (count = availableParallelism()) => (await import("./worker-threads.js")).nodeWorkers(count),
    // Worker threads run files, which the single-file executable does not have.
    ...(isSea() ? {} : { segmentRunners: async () => (await import("./segment-threads.js")).nodeSegmentRunners }),
    openSpool,
    fuzzWorkers: async (count = availableParallelism(), runnerUrl) =>
      (await import("./worker-threads.js")).nodeFuzzWorkers(count, runnerUrl),
    mutants: mutantKit,
    processHost: async () => (await import("../process-kubelet/node-process-host.js")).nodeProcessHost(),
    stopped,
    now: () => realClock.now(),
    pageAssets,
    env: process.env,
    timeZoneData: process.versions["tz"] ?? "unknown",
  };
}

/** Maximum size of an input, in bytes. */
const MAX_INPUT_BYTES = 64_000_000;

async function decompress(bytes: Buffer, maxBytes: number): Promise<string> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return decodeText(bytes);
  try {
    return decodeText(await promisify(gunzip)(bytes, { maxOutputLength: maxBytes }));
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE" ? tooLarge(maxBytes) : error;
  }
}

/**
 * Decodes text as kubectl does (go-yaml `readerc.go`): UTF-16 with a byte order mark, as PowerShell's `>` writes,
 * otherwise UTF-8.
 */
function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding).decode(bytes);
}

/**
 * Lists files and folders. Omits pipes and sockets, because their end is unknown, and links to folders, which may form
 * cycles.
 */
async function listFolder(path: string): Promise<readonly FolderEntry[] | undefined> {
  if (!(await stat(path)).isDirectory()) return undefined;
  const entries: FolderEntry[] = [];
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const { name } = entry;
    const isFolder = entry.isDirectory();
    // A broken link is reported when it is read.
    const isFile = entry.isSymbolicLink()
      ? await stat(`${path}/${name}`).then(
          (target) => target.isFile(),
          () => true,
        )
      : entry.isFile();
    if (isFolder || isFile) entries.push({ name, isFolder });
  }
  return entries;
}

/** A bar on a terminal, otherwise lines for a log. */
async function progressDisplay(stream: NodeJS.WriteStream): Promise<Progress> {
  if (!stream.isTTY) {
    const draw = (share: number, text: string): void =>
      void stream.write(`kubewright: ${Math.floor(share * 100)}%: ${text}\n`);
    return new ProgressDisplay({ draw, erase: () => {}, delayMs: 10_000, intervalMs: 10_000 }, realClock);
  }
  const { Presets, SingleBar } = await import("cli-progress");
  // The command handles Ctrl-C itself.
  const options = { stream, clearOnComplete: true, barsize: 20, gracefulExit: false };
  const bar = new SingleBar({ ...options, format: "{bar} {percentage}%  {text}" }, Presets.shades_classic);
  const draw = (share: number, text: string): void => {
    if (!bar.isActive) bar.start(1, share, { text });
    bar.update(share, { text });
  };
  return new ProgressDisplay({ draw, erase: () => bar.stop(), delayMs: 1_000, intervalMs: 200 }, realClock);
}

/** The exports of `packages/simulation/mutants/build.ts`. */
interface MutantBuilder {
  readonly listMutants: () => Awaited<ReturnType<MutantKit["listMutants"]>>;
  readonly mutantPath: (name: string) => Promise<string>;
}

async function mutantKit(): Promise<MutantKit | undefined> {
  const file = mutantKitFile();
  if (file === undefined || !existsSync(file)) return undefined;
  const { listMutants, mutantPath } = (await import(file.href)) as MutantBuilder;
  return {
    listMutants: async () => listMutants(),
    runnerUrl: async (name) => pathToFileURL(await mutantPath(name)).href,
  };
}

async function pageAssets(): Promise<PageAssets> {
  const [script, style] = await Promise.all([readOwnFile("page.js"), readOwnFile("page.css")]);
  return { script, style, scriptHash: sha256(script), styleHash: sha256(style) };
}

function sha256(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

function terminal(stream: NodeJS.WriteStream): TextStream {
  const isTerminal = stream.isTTY ?? false;
  return {
    write: (text) => void stream.write(text),
    isTerminal,
    columns: stream.columns ?? Number(process.env["COLUMNS"] ?? 0),
    hasColours: wantsColours(isTerminal, process.env),
  };
}

/**
 * Follows the usual rules: colours on a terminal, except with `NO_COLOR` or `TERM=dumb`. `FORCE_COLOR` overrides them
 * (https://no-color.org).
 */
function wantsColours(isTerminal: boolean, { FORCE_COLOR, NO_COLOR, TERM }: NodeJS.ProcessEnv): boolean {
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "") return FORCE_COLOR !== "0";
  return isTerminal && !NO_COLOR && TERM !== "dumb";
}

import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { StringDecoder } from "node:string_decoder";

import type { Clock } from "@kubewright/clock";

export interface CommandOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to this process's own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** How long it may take. */
  readonly timeoutMs: number;
  /** Told of each line it writes to standard error, and that it takes long. */
  readonly warn: (message: string) => void;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** How a command failed. */
export class CommandError extends Error {
  override readonly name = "CommandError";

  constructor(
    message: string,
    /** There is no such command, or it may not be run. */
    readonly notFound: boolean,
  ) {
    super(message);
  }
}

/** Somebody waiting should hear what for. */
const WARN_AFTER_MS = 10_000;
const MAX_OUTPUT_BYTES = 1 << 20;
const MAX_REPORTED_LINES = 100;
const MAX_LINE_LENGTH = 1000;
/** Signals that end a process which does not listen for them. */
const TERMINATION_SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/**
 * Runs a command and resolves with what it wrote to standard output, at most 1 MiB.
 *
 * It gets no standard input and a process group of its own. The whole group is killed when its time is over, when
 * the signal aborts, and when this process is told to end or exits: nothing of it stays behind, but what took itself out of the
 * group. (Killed itself by SIGKILL, a process can do nothing more.)
 *
 * @throws CommandError for a command that cannot be started, fails, takes or prints too much; the signal's reason.
 */
export async function runCommand(options: CommandOptions): Promise<string> {
  const { command, args, env, clock, timeoutMs, warn, signal } = options;
  signal.throwIfAborted();
  let child: ChildProcess;
  try {
    child = spawn(command, args, {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: CAN_KILL_GROUPS,
    });
  } catch (error) {
    throw new CommandError((error as Error).message, false);
  }
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const stderrLines = new LineReporter((line) => warn(`${command}: ${line}`));
  const fail = (what: string): void =>
    reject(new CommandError(`${what}${stderrLines.last === "" ? "" : `: ${stderrLines.last}`}`, false));
  const onAbort = (): void => {
    killGroup(child);
    reject(signal.reason);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  const stopKillingOnExit = killOnProcessExit(child);
  const seconds = Math.round(timeoutMs / 1000);
  const timers = [
    // Not with its arguments, which may be secret.
    clock.setTimer(
      WARN_AFTER_MS,
      () => warn(`still waiting for ${command}, which is killed after ${seconds} s`),
      BACKGROUND,
    ),
    clock.setTimer(
      timeoutMs,
      () => {
        killGroup(child);
        fail(`did not end within ${seconds} s, and was killed`);
      },
      BACKGROUND,
    ),
  ];

  const output: Buffer[] = [];
  let bytes = 0;
  child.stdout!.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_OUTPUT_BYTES) {
      output.push(chunk);
    } else {
      killGroup(child);
      fail("printed more than 1 MiB, and was killed");
    }
  });
  child.stderr!.on("data", (chunk: Buffer) => stderrLines.push(chunk));
  child.once("error", (error: NodeJS.ErrnoException) => {
    const notFound = error.code === "ENOENT" || error.code === "EACCES";
    reject(new CommandError(error.message, notFound));
  });
  child.once("close", (code, signalName) => {
    stderrLines.end();
    if (code === 0) return resolve(Buffer.concat(output).toString("utf8"));
    fail(`failed with exit code ${code ?? 128 + (constants.signals[signalName!] ?? 0)}`);
  });
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", onAbort);
    stopKillingOnExit();
    for (const timer of timers) timer.cancel();
    // Something that left the group may hold them open for ever.
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

const BACKGROUND = { background: true };
const CAN_KILL_GROUPS = process.platform !== "win32";

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(CAN_KILL_GROUPS ? -pid : pid, "SIGKILL");
  } catch {
    // Nobody is left.
  }
}

/** @returns what ends the guard. */
function killOnProcessExit(child: ChildProcess): () => void {
  const onExit = (): void => killGroup(child);
  const onSignal = (name: NodeJS.Signals): void => {
    killGroup(child);
    stop();
    // Had nobody listened, it would have ended us.
    if (process.listenerCount(name) === 0) process.kill(process.pid, name);
  };
  const stop = (): void => {
    process.removeListener("exit", onExit);
    for (const name of TERMINATION_SIGNALS) process.removeListener(name, onSignal);
  };
  process.on("exit", onExit);
  for (const name of TERMINATION_SIGNALS) process.on(name, onSignal);
  return stop;
}

/** Takes bytes and tells whole lines, without what could change a terminal; after too many, no more. */
class LineReporter {
  /** The last line that is not empty. */
  last = "";
  readonly #report: (line: string) => void;
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";
  #reportedCount = 0;

  constructor(report: (line: string) => void) {
    this.#report = report;
  }

  push(chunk: Buffer): void {
    const lines = (this.#rest + this.#decoder.write(chunk)).split("\n");
    this.#rest = lines.pop()!.slice(0, MAX_LINE_LENGTH);
    for (const line of lines) this.#reportLine(line);
  }

  end(): void {
    this.#reportLine(this.#rest);
    this.#rest = "";
  }

  #reportLine(line: string): void {
    const text = escapeControlCharacters(line.trim().slice(0, MAX_LINE_LENGTH));
    if (text === "") return;
    this.last = text;
    if (this.#reportedCount++ < MAX_REPORTED_LINES) this.#report(text);
  }
}

/** Control characters as `U+001B`. Upstream: client-go tools/clientcmd `cleanANSIEscapeCodes`. */
export function escapeControlCharacters(text: string): string {
  return text.replaceAll(
    /[\p{C}]/gu,
    (character) => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`,
  );
}

import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { StringDecoder } from "node:string_decoder";

import type { Clock } from "@kubewright/clock";

export interface CommandOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to this process's environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Time-out for the command. */
  readonly timeoutMs: number;
  /** Called with each line that the command writes to standard error, and when it takes long. */
  readonly warn: (message: string) => void;
  /** Kills the command. */
  readonly signal: AbortSignal;
}

/** The failure of a command. */
export class CommandError extends Error {
  override readonly name = "CommandError";

  constructor(
    message: string,
    /** Whether the command does not exist, or may not be executed. */
    readonly notFound: boolean,
  ) {
    super(message);
  }
}

/** Delay before the user is informed what the program is waiting for. */
const WARN_AFTER_MS = 10_000;
const MAX_OUTPUT_BYTES = 1 << 20;
const MAX_REPORTED_LINES = 100;
const MAX_LINE_LENGTH = 1000;
/** Signals that end a process without a listener for them. */
const TERMINATION_SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/**
 * Runs a command, and resolves with its standard output, at most 1 MiB.
 *
 * The command gets no standard input, and its own process group. The whole group is killed when the time-out expires,
 * when the signal aborts, and when this process gets a termination signal or exits. Only processes that left the group
 * stay behind. (After SIGKILL, this process can no longer kill the group.)
 *
 * @throws CommandError for a command that cannot be started, fails, takes too long or prints too much; the signal's
 * reason.
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
    // The message does not contain the arguments, because they may be secret.
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
    // A process that left the group may hold them open for ever.
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
    // The group has ended already.
  }
}

/**
 * Kills the command when this process exits or gets a termination signal.
 *
 * @returns a function that removes the listeners.
 */
function killOnProcessExit(child: ChildProcess): () => void {
  const onExit = (): void => killGroup(child);
  const onSignal = (name: NodeJS.Signals): void => {
    killGroup(child);
    stop();
    // Without listeners, the signal would have ended this process.
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

/**
 * Splits bytes into lines and reports each one, without terminal control characters. Stops reporting after {@link
 * MAX_REPORTED_LINES} lines.
 */
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

/**
 * Replaces control characters with text such as `U+001B`. Upstream: client-go tools/clientcmd `cleanANSIEscapeCodes`.
 */
export function escapeControlCharacters(text: string): string {
  return text.replaceAll(
    /[\p{C}]/gu,
    (character) => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`,
  );
}

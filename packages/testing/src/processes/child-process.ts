import { type ChildProcess, spawn } from "node:child_process";

/** A child process that the tests start and stop. */
export interface Child {
  readonly name: string;
  readonly process: ChildProcess;
  /** Returns how the process ended; `undefined` while it runs. */
  readonly ended: () => string | undefined;
  /** Returns the last 64 KiB of its standard error. */
  readonly output: () => string;
  /**
   * Resolves with the first match in the standard error. Rejects when the process ends, or does not print a match in
   * time.
   */
  readonly waitForOutput: (pattern: RegExp, timeoutMs?: number) => Promise<RegExpExecArray>;
  /** Stops the process by SIGTERM, or by SIGKILL after a timeout. Resolves when it has ended. */
  readonly stop: () => Promise<void>;
}

const MAX_KEPT = 65_536;
const MAX_START_MS = 60_000;
const MAX_STOP_MS = 10_000;

/** Starts a program. The caller must stop it, also after a failure. */
export function startChild(name: string, command: string, args: readonly string[]): Child {
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  let ended: string | undefined;
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output = (output + text).slice(-MAX_KEPT);
    notify();
  });
  child.once("error", (error) => {
    ended = `cannot be started: ${error.message}`;
    notify();
  });
  child.once("close", (code, signal) => {
    ended ??= `ended with ${code ?? signal}`;
    notify();
  });
  return {
    name,
    process: child,
    ended: () => ended,
    output: () => output,
    waitForOutput: (pattern, timeoutMs = MAX_START_MS) =>
      new Promise((resolve, reject) => {
        const finish = (act: () => void): void => {
          clearTimeout(timer);
          listeners.delete(look);
          act();
        };
        const look = (): void => {
          const match = pattern.exec(output);
          if (match !== null) finish(() => resolve(match));
          else if (ended !== undefined) finish(() => reject(new Error(`${name} ${ended}:\n${output}`)));
        };
        const timer = setTimeout(
          () =>
            finish(() =>
              reject(new Error(`${name} did not print ${String(pattern)} within ${timeoutMs} ms:\n${output}`)),
            ),
          timeoutMs,
        );
        listeners.add(look);
        look();
      }),
    stop: async () => {
      if (ended !== undefined) return;
      const over = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), MAX_STOP_MS);
      await over;
      clearTimeout(timer);
    },
  };
}

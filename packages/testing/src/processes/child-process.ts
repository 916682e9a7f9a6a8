import { type ChildProcess, spawn } from "node:child_process";

/** A process that was started to be stopped again. */
export interface Child {
  readonly name: string;
  readonly process: ChildProcess;
  /** How it ended, when it has. */
  readonly ended: () => string | undefined;
  /** What it wrote to standard error, the last 64 KiB of it. */
  readonly said: () => string;
  /** Resolves with the first match in what it says. Rejects when it ends, or says nothing of it in time. */
  readonly says: (pattern: RegExp, timeoutMs?: number) => Promise<RegExpExecArray>;
  /** Resolves when it has ended: by SIGTERM, or by SIGKILL when that does not help. */
  readonly stop: () => Promise<void>;
}

const MOST_KEPT = 65_536;
const LONGEST_START_MS = 60_000;
const LONGEST_STOP_MS = 10_000;

/** Starts a program. Whoever starts one has to stop it, also after a failure. */
export function startChild(name: string, command: string, args: readonly string[]): Child {
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  let ended: string | undefined;
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-MOST_KEPT);
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
    said: () => said,
    says: (pattern, timeoutMs = LONGEST_START_MS) =>
      new Promise((resolve, reject) => {
        const finish = (act: () => void): void => {
          clearTimeout(timer);
          listeners.delete(look);
          act();
        };
        const look = (): void => {
          const match = pattern.exec(said);
          if (match !== null) finish(() => resolve(match));
          else if (ended !== undefined) finish(() => reject(new Error(`${name} ${ended}:\n${said}`)));
        };
        const timer = setTimeout(
          () =>
            finish(() => reject(new Error(`${name} did not say ${String(pattern)} within ${timeoutMs} ms:\n${said}`))),
          timeoutMs,
        );
        listeners.add(look);
        look();
      }),
    stop: async () => {
      if (ended !== undefined) return;
      const over = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), LONGEST_STOP_MS);
      await over;
      clearTimeout(timer);
    },
  };
}

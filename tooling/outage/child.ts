import { spawn } from "node:child_process";

/** A child process. */
export interface Child {
  readonly name: string;
  /** Its output so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Its exit status, or the signal that ended it; `undefined` while it runs. */
  readonly ended: number | NodeJS.Signals | undefined;
  readonly exit: Promise<number | NodeJS.Signals>;
  kill(signal: NodeJS.Signals): void;
  /**
   * Resolves with a match in the output. Rejects when the process ends, or after 90 s; back-offs are up to 60 s long.
   */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
}

const MAX_WAIT_MS = 90_000;

export function startChild(name: string, node: string, args: readonly string[]): Child {
  const child = spawn(node, args, { stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  let ended: number | NodeJS.Signals | undefined;
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      output[stream] += text;
      notify();
    });
  const exit = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once("close", (code, signal) => {
      ended = code ?? signal!;
      resolve(ended);
      notify();
    }),
  );
  return {
    name,
    exit,
    get stdout() {
      return output.stdout;
    },
    get stderr() {
      return output.stderr;
    },
    get ended() {
      return ended;
    },
    kill: (signal) => void child.kill(signal),
    waitForOutput: (pattern) =>
      new Promise((resolve, reject) => {
        const finish = (act: () => void): void => {
          clearTimeout(timer);
          listeners.delete(look);
          act();
        };
        const fail = (what: string): void =>
          finish(() => reject(new Error(`${name} ${what} ${String(pattern)}:\n${output.stdout}${output.stderr}`)));
        const look = (): void => {
          const match = pattern.exec(output.stdout + output.stderr);
          if (match !== null) finish(() => resolve(match));
          else if (ended !== undefined) fail(`ended with ${ended} without saying`);
        };
        const timer = setTimeout(() => fail(`did not print it within ${MAX_WAIT_MS / 1000} s`), MAX_WAIT_MS);
        listeners.add(look);
        look();
      }),
  };
}

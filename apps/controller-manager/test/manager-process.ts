import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import type { Scope } from "./scope.js";

const BINARY = fileURLToPath(new URL("../dist/main.js", import.meta.url));

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The real binary in a separate process; killed at the end of the test. */
export interface ManagerProcess {
  readonly exit: Promise<Exit>;
  readonly stdout: string;
  readonly stderr: string;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when standard error contains the text. Rejects when the process ends first. */
  logged(text: string): Promise<void>;
}

/** @throws Error when the binary was not built. */
export function startManager(
  scope: Scope,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  node: string = process.execPath,
): ManagerProcess {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} does not exist: run "npm run build" first`);
  // Many managers run concurrently, but only one can use the default port.
  const port = args.some((arg) => arg.startsWith("--secure-port")) ? [] : ["--secure-port=0"];
  const child = spawn(node, [BINARY, ...port, ...args], {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  scope.onTestFinished(() => void child.kill("SIGKILL"));
  return observe(child);
}

function observe(child: ChildProcess): ManagerProcess {
  let stdout = "";
  let stderr = "";
  const onText = new Set<() => void>();
  child.stdout!.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr!.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    for (const listener of onText) listener();
  });
  const exit = new Promise<Exit>((resolve) => child.once("close", (code, signal) => resolve({ code, signal })));
  return {
    exit,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    kill: (signal) => void child.kill(signal),
    logged: async (text) => {
      const seen = new Promise<void>((resolve) => {
        const check = (): void => {
          if (!stderr.includes(text)) return;
          onText.delete(check);
          resolve();
        };
        onText.add(check);
        check();
      });
      const ended = exit.then(({ code, signal }) => {
        if (!stderr.includes(text))
          throw new Error(`the manager ended (${code ?? signal}) without logging ${JSON.stringify(text)}:\n${stderr}`);
      });
      await Promise.race([seen, ended]);
    },
  };
}

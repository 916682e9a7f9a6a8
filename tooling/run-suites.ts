import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import path from "node:path";

export interface Suite {
  readonly name: string;
  readonly command: readonly string[];
  /** Selects the relevant output of a failed suite. Default: all. */
  readonly failure?: (output: string) => string;
  /** Extracts the number of tests from the output of a finished suite. Default: the suite counts as one. */
  readonly count?: (output: string) => { passed: number; failed: number };
  /** Whether the suite takes precedence over others for the processor. Default: no. */
  readonly isUrgent?: boolean;
  /** Whether the output of a passed suite is printed. Default: only its lines about skipped tests. */
  readonly isPrinted?: boolean;
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

export const root = path.resolve(import.meta.dirname, "..");

/** Returns the path of a dependency's program. */
export function bin(name: string): string {
  return path.join(root, "node_modules/.bin", name);
}

/**
 * Runs lanes side by side, and the suites of a lane one after another. Prints one line per suite, and the whole output of
 * failed suites.
 */
export async function runLanes(...lanes: readonly (readonly Suite[])[]): Promise<Counts> {
  const counts: Counts[] = [];
  const runLane = async (lane: readonly Suite[]): Promise<void> => {
    for (const suite of lane) counts.push(await run(suite));
  };
  await Promise.all(lanes.map(runLane));
  return sumOf(counts);
}

export function sumOf(counts: readonly Counts[]): Counts {
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return { passed: sum(counts.map(({ passed }) => passed)), failed: sum(counts.map(({ failed }) => failed)) };
}

async function run(suite: Suite): Promise<Counts> {
  const started = performance.now();
  const [command, ...args] = suite.command;
  const child = spawn(command!, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, FORCE_COLOR: "0" },
  });
  // Child processes inherit the priority.
  if (child.pid !== undefined && suite.isUrgent !== true)
    setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  const code = await new Promise<number>((resolve) => {
    child.once("error", () => resolve(127));
    child.once("close", (status) => resolve(status ?? 1));
  });
  const output = Buffer.concat(chunks).toString();
  const ok = code === 0;
  const counted = suite.count?.(output) ?? { passed: ok ? 1 : 0, failed: ok ? 0 : 1 };
  // A suite that crashed without a failed test counts as failed.
  const failed = ok ? counted.failed : Math.max(1, counted.failed);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `${ok ? "ok    " : "FAILED"}  ${suite.name.padEnd(12)} ${seconds.padStart(6)} s  ${counted.passed} passed, ${failed} failed`,
  );
  if (!ok) console.log((suite.failure?.(output) ?? output).replace(/^/gm, "    "));
  else if (suite.isPrinted === true) console.log(output.replace(/^/gm, "    "));
  // Prints which tests were skipped on this machine, and how to enable them.
  else for (const line of new Set(output.match(/^skipped: .*$/gim))) console.log(`        ${line}`);
  return { passed: counted.passed, failed };
}

export function vitestCount(output: string): Counts {
  const line = /^\s*Tests\s+(.*)$/m.exec(output)?.[1] ?? "";
  return { passed: Number(/(\d+) passed/.exec(line)?.[1] ?? 0), failed: Number(/(\d+) failed/.exec(line)?.[1] ?? 0) };
}

/** Removes the passed files from the output. */
export function vitestFailure(output: string): string {
  const start = output.search(/^.*(Failed (Tests|Suites)|Unhandled (Errors|Rejection))/m);
  return start < 0 ? output : output.slice(start);
}

export function closingCount(output: string): Counts {
  const match = /^(\d+) passed, (\d+) failed$/m.exec(output);
  return { passed: Number(match?.[1] ?? 0), failed: Number(match?.[2] ?? 0) };
}

/**
 * `npm test`: runs all suites, concurrently where two cores allow it. Prints one line per suite and the whole output of
 * failed suites. The last line is `N passed, N failed`.
 *
 *     node tooling/test.ts            all suites
 *     node tooling/test.ts lint unit  only these
 */
import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import path from "node:path";

interface Suite {
  readonly name: string;
  readonly command: readonly string[];
  /** Selects the relevant output of a failed suite. Default: all. */
  readonly failure?: (output: string) => string;
  /** Extracts the number of tests from the output of a finished suite. Default: the suite counts as one. */
  readonly count?: (output: string) => { passed: number; failed: number };
  /** Whether the suite takes precedence over others for the processor. Default: no. */
  readonly isUrgent?: boolean;
}

const root = path.resolve(import.meta.dirname, "..");
const bin = (name: string): string => path.join(root, "node_modules/.bin", name);

/** Options of turbo for tasks that must not build: all suites read `dist`. */
const QUIETLY_BUILT = ["--only", "--output-logs=errors-only"];
/** What the other suites need. */
const first: readonly Suite[] = [
  { name: "build", command: ["npm", "run", "--silent", "build:quiet"] },
  { name: "projects", command: [process.execPath, "tooling/install-projects.ts"] },
];
/** The unit tests take longer than all other suites, so they begin at once. Some of them only wait for processes. */
const unit: readonly Suite[] = [
  { name: "unit", command: [bin("vitest"), "run", "--no-color"], count: vitestCount, failure: vitestFailure },
];
/**
 * Suites that run beside those, one after another. The conformance kits mostly wait. Some of their cases act a third of a
 * second after their previous action, and the controllers must be done by then.
 */
const others: readonly Suite[] = [
  { name: "layers", command: [process.execPath, "tooling/check-layers.ts"] },
  { name: "manifests", command: [process.execPath, "tooling/check-manifests.ts"] },
  { name: "language", command: [process.execPath, "tooling/check-language.ts"] },
  { name: "types", command: [bin("tsc"), "--project", "tsconfig.json"] },
  { name: "site types", command: [bin("tsc"), "--project", "apps/site"] },
  { name: "lint", command: [bin("oxlint")] },
  { name: "conformance", command: [process.execPath, "conformance/check.ts"], count: closingCount, isUrgent: true },
  { name: "replay", command: [process.execPath, "tooling/check-replay.ts"] },
  { name: "install", command: [process.execPath, "tooling/check-install.ts"] },
  { name: "create", command: [process.execPath, "tooling/check-create.ts"] },
  { name: "packages", command: [bin("turbo"), "run", "check:package", "check:api", ...QUIETLY_BUILT] },
  { name: "docs", command: [process.execPath, "tooling/check-docs.ts"] },
  { name: "format", command: [bin("prettier"), "--check", "--log-level", "warn", "."] },
];

const wanted = process.argv.slice(2);
let passed = 0;
let failed = 0;
const areReady = await Promise.all(first.map(run));
if (areReady.every(Boolean)) await Promise.all([runLane(unit), runLane(others)]);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

async function runLane(lane: readonly Suite[]): Promise<void> {
  for (const suite of lane) if (wanted.length === 0 || wanted.includes(suite.name)) await run(suite);
}

async function run(suite: Suite): Promise<boolean> {
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
  const failures = ok ? counted.failed : Math.max(1, counted.failed);
  passed += counted.passed;
  failed += failures;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `${ok ? "ok    " : "FAILED"}  ${suite.name.padEnd(12)} ${seconds.padStart(6)} s  ${counted.passed} passed, ${failures} failed`,
  );
  if (!ok) console.log((suite.failure?.(output) ?? output).replace(/^/gm, "    "));
  else if (suite.name === "conformance") console.log(output.replace(/^/gm, "    "));
  // Prints which tests were skipped on this machine, and how to enable them.
  else for (const line of new Set(output.match(/^skipped: .*$/gim))) console.log(`        ${line}`);
  return ok;
}

function vitestCount(output: string): { passed: number; failed: number } {
  const line = /^\s*Tests\s+(.*)$/m.exec(output)?.[1] ?? "";
  return { passed: Number(/(\d+) passed/.exec(line)?.[1] ?? 0), failed: Number(/(\d+) failed/.exec(line)?.[1] ?? 0) };
}

/** Removes the passed files from the output. */
function vitestFailure(output: string): string {
  const start = output.search(/^.*(Failed (Tests|Suites)|Unhandled (Errors|Rejection))/m);
  return start < 0 ? output : output.slice(start);
}

function closingCount(output: string): { passed: number; failed: number } {
  const match = /^(\d+) passed, (\d+) failed$/m.exec(output);
  return { passed: Number(match?.[1] ?? 0), failed: Number(match?.[2] ?? 0) };
}

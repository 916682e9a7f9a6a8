/**
 * Plays the examples twice with one seed and once with another, each in a process of its own: equal seeds must give
 * byte-identical traces and timelines, another seed other pod names. Prints the hashes.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");
const main = path.join(root, "apps/simulator/dist/main.js");

function play(...flags: string[]): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, [main, "run", "examples", ...flags], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 30,
  });
  if (status !== 0) throw new Error(`kubewright run ${flags.join(" ")} exited with ${status}: ${stderr}`);
  return stdout;
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);
const podNames = (trace: string): Set<string> =>
  new Set([...trace.matchAll(/"kind":"Pod","namespace":"[^"]*","name":"([^"]+)"/g)].map(([, name]) => name!));

const first = play("--seed", "1", "--json", "-");
const second = play("--seed", "1", "--json", "-");
const other = play("--seed", "2", "--json", "-");
const timelines = [play("--seed", "1"), play("--seed", "1")];
console.log(
  `trace seed 1: ${hash(first)}, again: ${hash(second)}; seed 2: ${hash(other)}; timeline: ${hash(timelines[0]!)}, again: ${hash(timelines[1]!)}`,
);

const problems: string[] = [];
if (first !== second) problems.push("the same seed gave two different traces");
if (timelines[0] !== timelines[1]) problems.push("the same seed gave two different timelines");
const names = podNames(first);
if (names.size < 20) problems.push(`only ${names.size} pods in the trace of the examples`);
const shared = [...podNames(other)].filter((name) => names.has(name));
if (shared.length > 0) problems.push(`seeds 1 and 2 gave pods of the same names: ${shared.join(", ")}`);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

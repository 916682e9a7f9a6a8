/**
 * Checks determinism, and prints the hashes of the outputs.
 *
 * - Runs the examples twice with one seed and once with another, in separate processes, and with the oldest supported
 *   Node. Equal seeds must give byte-identical traces and timelines; another seed must give other pod names.
 * - Runs a fault plan in the same ways, and after other plans. Its outcome must be the same.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import path from "node:path";

import { findRuntime } from "./find-runtime.ts";

const root = path.resolve(import.meta.dirname, "..");
const main = path.join(root, "apps/simulator/dist/main.js");

function run(...flags: string[]): string {
  return runWith(process.execPath, ...flags);
}

function runWith(node: string, ...flags: string[]): string {
  const { stdout, stderr, status } = spawnSync(
    node,
    [main, "run", "examples", "--start", "2026-01-01T00:00:00Z", ...flags],
    {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 1 << 30,
    },
  );
  if (status !== 0) throw new Error(`kubewright run ${flags.join(" ")} exited with ${status}: ${stderr}`);
  return stdout;
}

const container = { name: "main", image: "busybox" };
const job = {
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "work" },
  spec: { parallelism: 3, completions: 6, template: { spec: { restartPolicy: "Never", containers: [container] } } },
};
/** A plan with random orders and durations, lost requests, and crashed and paused processes. */
const faultPlan = {
  apiVersion: "sim.kubewright.dev/v1",
  kind: "Scenario",
  seed: 7,
  start: "2026-01-01T00:00:00Z",
  for: "20m",
  controllerManagers: 2,
  jitter: { requests: "200ms", events: "2s" },
  workloads: [{ select: {}, duration: "5s..30s", exitCode: { 0: 0.7, 1: 0.3 } }],
  manifests: [job],
  events: [
    {
      at: "+0s",
      for: "3m",
      requestFails: { verbs: ["create", "patch"], resources: ["pods"], effect: "kept", nth: 3, times: 4 },
    },
    { at: "+20s", controllerCrashes: { controller: "job-controller", nth: 5 } },
    { at: "+1m", for: "40s", paused: "controller-manager-1" },
    { at: "+2m", apiServerRestart: true },
  ],
};

/** Runs plans one after the other in one process. Returns the outcome of the last. */
function runPlans(node: string, plans: readonly object[]): string {
  const script = `const { runPlan } = await import(${JSON.stringify(path.join(root, "packages/simulation/dist/index.js"))});
    let outcome;
    for (const plan of ${JSON.stringify(plans)}) outcome = await runPlan(plan);
    console.log(JSON.stringify(outcome));`;
  const { stdout, stderr, status } = spawnSync(node, ["--input-type=module", "--eval", script], { encoding: "utf8" });
  if (status !== 0) throw new Error(`running a plan exited with ${status}: ${stderr}`);
  return stdout;
}

/** Returns the version of the time zone data, and the trace without that version in its header. */
function withoutZoneData(trace: string): { timeZoneData: string; rest: string } {
  const end = trace.indexOf("\n");
  const { timeZoneData, ...header } = JSON.parse(trace.slice(0, end)) as { timeZoneData: string };
  return { timeZoneData, rest: JSON.stringify(header) + trace.slice(end) };
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);
const podNames = (trace: string): Set<string> =>
  new Set([...trace.matchAll(/"kind":"Pod","namespace":"[^"]*","name":"([^"]+)"/g)].map(([, name]) => name!));

const first = run("--seed", "1", "--json", "-");
const second = run("--seed", "1", "--json", "-");
const other = run("--seed", "2", "--json", "-");
const timelines = [run("--seed", "1"), run("--seed", "1")];
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

const outcome = runPlans(process.execPath, [faultPlan]);
const later = runPlans(process.execPath, [{ ...faultPlan, seed: 8 }, faultPlan]);
const outcomeOfOther = runPlans(process.execPath, [{ ...faultPlan, seed: 8 }]);
console.log(`fault plan: ${hash(outcome)}, after another: ${hash(later)}; another: ${hash(outcomeOfOther)}`);
if (outcome !== later) problems.push("a fault plan had another outcome after another plan");
if (outcome === outcomeOfOther) problems.push("two seeds of a fault plan had one outcome");

const node22 = findRuntime("node-22");
if ("missing" in node22) {
  console.warn(`skipped: the same trace with Node 22, which cannot be installed here: ${node22.missing}`);
} else {
  const older = runWith(node22.path, "--seed", "1", "--json", "-");
  const version = spawnSync(node22.path, ["--version"], { encoding: "utf8" }).stdout.trim();
  console.log(`trace seed 1 with ${process.version}: ${hash(first)}, with ${version}: ${hash(older)}`);
  const [ours, theirs] = [withoutZoneData(first), withoutZoneData(older)];
  const sameZones = ours.timeZoneData === theirs.timeZoneData;
  if (!sameZones)
    console.warn(
      `their zone data differ (${ours.timeZoneData} and ${theirs.timeZoneData}): compared without that line of the header`,
    );
  if (sameZones ? first !== older : ours.rest !== theirs.rest)
    problems.push(`${process.version} and ${version} gave two different traces`);
  if (outcome !== runPlans(node22.path, [faultPlan]))
    problems.push(`${process.version} and ${version} gave two outcomes of one fault plan`);
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

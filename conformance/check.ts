/**
 * Runs the conformance kits against `kubewright serve` and holds the project to the list of cases that pass.
 *
 *   node conformance/check.ts            play the listed cases; one that fails is an error
 *   node conformance/check.ts --all      play every case and tell which unlisted ones pass by now
 *   node conformance/check.ts --update   the same, and add them to the list (which only grows)
 *   node conformance/check.ts --kit api  only one kit
 *
 * The last line is `N passed, N failed`. Run `npm run build` first.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

type KitName = "controllers" | "podgc" | "api";

interface Kit {
  readonly name: KitName;
  readonly driver: string;
  /** Flags of the driver. */
  readonly flags?: readonly string[];
  /** Flags of `kubewright serve`. */
  readonly serve: readonly string[];
  readonly concurrency: number;
}

interface Result {
  readonly name: string;
  readonly ok: boolean;
  readonly diffs?: readonly string[];
}

const here = import.meta.dirname;
const listFile = path.join(here, "passing.json");
const kits: readonly Kit[] = [
  { name: "controllers", driver: "run.mjs", serve: ["--kubelet", "none"], concurrency: 30 },
  // The threshold counts the pods of the whole cluster, so this group has one of its own, and plays one case at a time.
  {
    name: "podgc",
    driver: "run.mjs",
    flags: ["--group", "podgc"],
    serve: ["--kubelet", "none", "--terminated-pod-gc-threshold", "3"],
    concurrency: 1,
  },
  { name: "api", driver: "api/run.mjs", serve: ["--controllers", "", "--kubelet", "none"], concurrency: 8 },
];

const { values: flags } = parseArgs({
  options: {
    all: { type: "boolean", default: false },
    update: { type: "boolean", default: false },
    kit: { type: "string" },
  },
});
const everything = flags.all || flags.update;
const listed = JSON.parse(readFileSync(listFile, "utf8")) as Record<KitName, string[]>;
const scratch = mkdtempSync(path.join(tmpdir(), "kubewright-conformance-"));
let passed = 0;
let failed = 0;
try {
  await Promise.all(kits.filter((kit) => flags.kit === undefined || kit.name === flags.kit).map(check));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
if (flags.update) writeFileSync(listFile, `${JSON.stringify(listed, null, 2)}\n`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

async function check(kit: Kit): Promise<void> {
  if (!everything && listed[kit.name].length === 0) return;
  const server = await serve(kit.serve);
  try {
    const results = await play(kit, server.url);
    const mustPass = new Set(listed[kit.name]);
    const missing = [...mustPass].filter((name) => !results.some((result) => result.name === name));
    for (const name of missing) console.log(`${kit.name}: ${name} is listed, but the kit has no such case`);
    const broken = results.filter((result) => !result.ok && mustPass.has(result.name));
    for (const { name, diffs = [] } of broken)
      console.log(`${kit.name}: ${name} no longer passes\n    ${diffs.slice(0, 5).join("\n    ")}`);
    const ok = results.filter((result) => result.ok);
    const gained = ok.filter((result) => !mustPass.has(result.name)).map((result) => result.name);
    if (gained.length > 0) console.log(`${kit.name}: ${gained.length} more pass: ${gained.join(" ")}`);
    if (flags.update) listed[kit.name] = [...mustPass, ...gained].sort();
    passed += mustPass.size - broken.length - missing.length + (flags.update ? gained.length : 0);
    failed += broken.length + missing.length;
    const total = everything ? `, of ${results.length} cases ${ok.length} pass` : "";
    console.log(
      `${kit.name}: ${listed[kit.name].length} cases on the list${total}, ${broken.length + missing.length} broken`,
    );
  } finally {
    server.process.kill();
  }
}

async function play(kit: Kit, url: string): Promise<Result[]> {
  const report = path.join(scratch, `${kit.name}.json`);
  const args = [
    path.join(here, kit.driver),
    "--server",
    url,
    ...(kit.flags ?? []),
    "--concurrency",
    String(kit.concurrency),
    "--json",
    report,
  ];
  if (!everything)
    args.push("--only", `^(${listed[kit.name].map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})$`);
  const driver = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  await new Promise((resolve) => driver.once("exit", resolve));
  const written = JSON.parse(readFileSync(report, "utf8")) as Result[] | { cases: Result[] };
  return Array.isArray(written) ? written : written.cases;
}

/** Starts `kubewright serve` on a free port and waits until it says where. */
async function serve(args: readonly string[]): Promise<{ url: string; process: ChildProcess }> {
  const main = path.join(here, "../apps/simulator/dist/main.js");
  const child = spawn(process.execPath, [main, "serve", "--port", "0", ...args], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const match = /Serving on (\S+)/.exec(said);
      if (match !== null) resolve(match[1]!);
    });
    child.once("exit", (code) => reject(new Error(`kubewright serve exited with ${code}: ${said}`)));
  });
  child.stderr.pipe(process.stderr);
  return { url, process: child };
}

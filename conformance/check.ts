/**
 * Runs the conformance kits against `kubewright serve`, and compares the results with the list of passing cases.
 *
 *     node conformance/check.ts                    runs the listed cases; one that fails is an error
 *     node conformance/check.ts --all              runs every case and prints the unlisted ones that pass
 *     node conformance/check.ts --update           the same, and adds them to the list (which only grows)
 *     node conformance/check.ts --kit api          only one kit: controllers, podgc or api
 *     node conformance/check.ts --manager process  only with kubewright-controller-manager in a separate process, which
 *                                                  uses an API server without controllers over HTTPS; or: in-process
 *     node conformance/check.ts --api-server real  the same against a kube-apiserver and etcd in $KUBEBUILDER_ASSETS
 *
 * With --manager process and $KUBEBUILDER_ASSETS set, the real API server is tested as well.
 *
 * The last line is `N passed, N failed`. Run `npm run build` first.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

import { type ApiServerLauncher, type RunningApiServer, embeddedApiServer } from "./api-server.ts";
import { startControllerManager } from "./controller-manager.ts";
import { kubeApiServer, missingKubeApiServer } from "./kube-apiserver.ts";

const KITS = ["controllers", "podgc", "api"] as const;
type KitName = (typeof KITS)[number];

interface Kit {
  readonly name: KitName;
  readonly driver: string;
  /** Flags of the driver. */
  readonly flags?: readonly string[];
  /** Flags of the program that runs the controllers. */
  readonly controllers: readonly string[];
  readonly concurrency: number;
}

interface Result {
  readonly name: string;
  readonly ok: boolean;
  readonly diffs?: readonly string[];
}

/** The combination of a kit, the process of the controllers, and an API server. */
interface Setup {
  /** Label in the log. */
  readonly label: string;
  readonly kit: Kit;
  readonly apiServer: ApiServerLauncher;
  /** Whether the controllers run in a separate process. */
  readonly manager: boolean;
}

const here = import.meta.dirname;
const listFile = path.join(here, "passing.json");
const kits: readonly Kit[] = [
  { name: "controllers", driver: "run.mjs", controllers: [], concurrency: 30 },
  // The threshold counts the pods of the whole cluster. This group therefore has its own cluster and runs one case at a
  // time.
  {
    name: "podgc",
    driver: "run.mjs",
    flags: ["--group", "podgc"],
    controllers: ["--terminated-pod-gc-threshold", "3"],
    concurrency: 1,
  },
  { name: "api", driver: "api/run.mjs", controllers: ["--controllers", ""], concurrency: 8 },
];

/**
 * Fewer concurrent cases than in one process: each change passes through three processes, and the driver's timeouts
 * stay the same.
 */
const MAX_CONCURRENCY_ACROSS_PROCESSES = 15;

const { values: flags } = parseArgs({
  options: {
    all: { type: "boolean", default: false },
    update: { type: "boolean", default: false },
    kit: { type: "string" },
    manager: { type: "string" },
    "api-server": { type: "string", default: "embedded" },
  },
});
const wrong = wrongUsage();
if (wrong !== undefined) {
  console.error(wrong);
  process.exit(2);
}
const everything = flags.all || flags.update;
const listed = JSON.parse(readFileSync(listFile, "utf8")) as Record<KitName, string[]>;
const scratch = mkdtempSync(path.join(tmpdir(), "kubewright-conformance-"));
let passed = 0;
let failed = 0;
try {
  await Promise.all(lanes(setups()).map(inTurn));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
if (flags.update) writeFileSync(listFile, `${JSON.stringify(listed, null, 2)}\n`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

/**
 * Groups setups into lanes that run concurrently. Some cases act a third of a second after their previous action,
 * whether the controllers had the time or not. Setups with many concurrent cases therefore run one after another;
 * setups with one case at a time mostly wait, and run beside them.
 */
function lanes(all: readonly Setup[]): Setup[][] {
  const isBusy = ({ kit }: Setup): boolean => kit.concurrency > 1;
  return [all.filter(isBusy), ...all.filter((setup) => !isBusy(setup)).map((setup) => [setup])];
}

async function inTurn(lane: readonly Setup[]): Promise<void> {
  for (const setup of lane) await check(setup);
}

function wrongUsage(): string | undefined {
  const oneOf = (flag: "kit" | "manager" | "api-server", allowed: readonly string[]): string | undefined => {
    const given = flags[flag];
    return given === undefined || allowed.includes(given)
      ? undefined
      : `--${flag}: ${JSON.stringify(given)} is not one of ${allowed.join(", ")}`;
  };
  const missing = flags["api-server"] === "real" ? missingKubeApiServer(process.env["KUBEBUILDER_ASSETS"]) : undefined;
  return (
    oneOf("kit", KITS) ??
    oneOf("manager", ["process", "in-process"]) ??
    oneOf("api-server", ["embedded", "real"]) ??
    missing
  );
}

function setups(): Setup[] {
  const wanted = kits.filter((kit) => flags.kit === undefined || kit.name === flags.kit);
  const ofControllers = wanted.filter((kit) => kit.name !== "api");
  const chosen: Setup[] = [];
  if (flags["api-server"] === "embedded") {
    if (flags.manager !== "process") chosen.push(...wanted.map((kit) => inProcess(kit)));
    if (flags.manager !== "in-process") chosen.push(...ofControllers.map((kit) => separate(kit)));
  }
  if (flags.manager !== "in-process" && ofControllers.length > 0) {
    const assets = process.env["KUBEBUILDER_ASSETS"];
    const missing = missingKubeApiServer(assets);
    if (missing === undefined) chosen.push(...ofControllers.map((kit) => againstReal(kit, assets!)));
    else console.log(`kube-apiserver: SKIPPED, only the embedded API server is tested: ${missing}`);
  }
  return chosen;
}

/** API server and controllers in one process. */
function inProcess(kit: Kit): Setup {
  return { label: kit.name, kit, apiServer: embeddedApiServer(kit.controllers), manager: false };
}

function separate(kit: Kit): Setup {
  const apiServer = embeddedApiServer(["--controllers", ""], { secure: true });
  const concurrency = Math.min(kit.concurrency, MAX_CONCURRENCY_ACROSS_PROCESSES);
  return { label: `${kit.name}, separate manager`, kit: { ...kit, concurrency }, apiServer, manager: true };
}

function againstReal(kit: Kit, assets: string): Setup {
  return { label: `${kit.name}, kube-apiserver`, kit, apiServer: kubeApiServer(assets), manager: true };
}

async function check(setup: Setup): Promise<void> {
  const { label, kit } = setup;
  const mustPass = new Set(listed[kit.name]);
  if (!everything && mustPass.size === 0) return;
  // Where the pods of a case remain, the next case would count them. Each case then gets its own cluster.
  const unmatched = kit.name === "podgc" && !setup.apiServer.emptiesNamespaces;
  const groups = unmatched ? listed[kit.name].map((name) => [name]) : [everything ? undefined : listed[kit.name]];
  const results: Result[] = [];
  for (const [index, group] of groups.entries()) results.push(...(await runSetup(setup, `${label} ${index}`, group)));
  const missing = [...mustPass].filter((name) => !results.some((result) => result.name === name));
  for (const name of missing) console.log(`${label}: ${name} is listed, but the kit has no such case`);
  const broken = results.filter((result) => !result.ok && mustPass.has(result.name));
  for (const { name, diffs = [] } of broken)
    console.log(`${label}: ${name} no longer passes\n    ${diffs.slice(0, 5).join("\n    ")}`);
  const ok = results.filter((result) => result.ok);
  const gained = ok.filter((result) => !mustPass.has(result.name)).map((result) => result.name);
  if (gained.length > 0) console.log(`${label}: ${gained.length} more pass: ${gained.join(" ")}`);
  if (flags.update) listed[kit.name] = [...new Set([...listed[kit.name], ...gained])].sort();
  passed += mustPass.size - broken.length - missing.length + (flags.update ? gained.length : 0);
  failed += broken.length + missing.length;
  const total = everything ? `, of ${results.length} cases ${ok.length} pass` : "";
  console.log(`${label}: ${mustPass.size} cases on the list${total}, ${broken.length + missing.length} broken`);
}

/** Runs some or all cases on a new cluster. */
async function runSetup(setup: Setup, name: string, only: readonly string[] | undefined): Promise<Result[]> {
  const folder = path.join(scratch, name.replaceAll(/[^a-z0-9]+/g, "-"));
  mkdirSync(folder);
  const server = await setup.apiServer.start(folder);
  try {
    if (!setup.manager) return await drive(setup.kit, server, folder, only);
    const manager = await startControllerManager(server.kubeconfig, setup.kit.controllers);
    try {
      const results = await drive(setup.kit, server, folder, only);
      if (manager.ended() !== undefined || results.some(({ ok }) => !ok))
        console.log(
          `${setup.label}: the manager ${manager.ended() ?? "runs"}, and said last:\n${lastLines(manager.output())}`,
        );
      return results;
    } finally {
      await manager.stop();
    }
  } finally {
    await server.stop();
  }
}

function lastLines(text: string): string {
  return text.trimEnd().split("\n").slice(-10).join("\n").replace(/^/gm, "    ");
}

async function drive(
  { driver, flags: driverFlags = [], concurrency }: Kit,
  { url, token }: RunningApiServer,
  folder: string,
  only: readonly string[] | undefined,
): Promise<Result[]> {
  const report = path.join(folder, "results.json");
  const args = [path.join(here, driver), "--server", url, ...driverFlags, "--concurrency", String(concurrency)];
  args.push("--json", report);
  if (token !== "") args.push("--token", token);
  if (only !== undefined)
    args.push("--only", `^(${only.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})$`);
  const driving = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  await new Promise((resolve) => driving.once("exit", resolve));
  const written = JSON.parse(readFileSync(report, "utf8")) as Result[] | { cases: Result[] };
  return Array.isArray(written) ? written : written.cases;
}

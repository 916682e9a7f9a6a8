/**
 * Tests `npm create kubewright` from the tarballs alone, on the oldest supported Node and on this one. Needs the output
 * of `npm run build`.
 *
 * 1. Runs create, install and test in an empty folder.
 * 2. Runs two processes of the operator on `kubewright serve`, kills the leader, and checks that the other takes over.
 *
 *     node tooling/check-create.ts
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { parseAllDocuments } from "yaml";

import { freePort } from "../conformance/free-port.ts";
import { findRuntime } from "./find-runtime.ts";
import { packPackages } from "./pack.ts";
import { publicPackages } from "./public-packages.ts";

const NAME = "greeter";
const GREETINGS = "/apis/example.com/v1/namespaces/default/greetings";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
/** A Lease expires after 15 seconds, and the machine may be busy. */
const TIMEOUT_MS = 60_000;

/** Output of the programs, printed after a failure. */
const output: string[] = [];
const started = performance.now();
const scratch = mkdtempSync(path.join(tmpdir(), "check-create-"));
const running = new Set<ChildProcess>();
try {
  const project = create();
  const nodes = [path.dirname(process.execPath)];
  const oldest = findRuntime("node-22");
  if ("path" in oldest) nodes.push(path.dirname(oldest.path));
  else console.log(`skipped: the created operator under Node 22: ${oldest.missing}`);
  for (const node of nodes) run("npm", ["test", "--silent"], project, node);
  await Promise.all(nodes.map((node) => takeOver(project, node)));
  console.log(`create: ${nodes.length} Nodes in ${((performance.now() - started) / 1000).toFixed(0)} s`);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
} finally {
  for (const child of running) child.kill("SIGKILL");
  rmSync(scratch, { recursive: true, force: true });
}

/** @returns The folder of the project with all its dependencies, kubewright's packages from their tarballs. */
function create(): string {
  const creator = path.join(scratch, "creator");
  mkdirSync(creator);
  const packed = packPackages(publicPackages(), scratch);
  const files = packed.map(({ filename }) => path.join(scratch, "tarballs", filename));
  const flags = ["--silent", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  run(
    "npm",
    ["install", "--prefix", creator, ...flags, files.find((file) => file.includes("/create-kubewright-"))!],
    creator,
  );
  const bin = path.join(creator, "node_modules/.bin/create-kubewright");
  run(bin, [NAME], scratch);
  const refused = spawnSync(bin, [NAME], { cwd: scratch, encoding: "utf8" });
  if (refused.status !== 2 || refused.stderr !== `create-kubewright: ${NAME} exists and is not empty\n`)
    throw new Error(`a second project in the same folder: status ${refused.status}, ${refused.stderr}`);

  const project = path.join(scratch, NAME);
  const written = readManifests(project);
  run("npm", ["install", ...flags, ...files.filter((file) => !file.includes("/create-kubewright-"))], project);
  run("npm", ["run", "--silent", "manifests"], project);
  if (readManifests(project) !== written)
    throw new Error("npm run manifests writes others than the template has in config/");
  return project;
}

function readManifests(project: string): string {
  const config = path.join(project, "config");
  return readdirSync(config)
    .sort()
    .map((file) => readFileSync(path.join(config, file), "utf8"))
    .join("---\n");
}

/** Runs two processes of the operator, kills the leader, and waits until the other has reconciled a new object. */
async function takeOver(project: string, node: string): Promise<void> {
  const port = await freePort();
  const kubeconfig = path.join(scratch, `kubeconfig-${port}`);
  const url = `http://127.0.0.1:${port}`;
  const serve = ["serve", "--port", String(port), "--kubeconfig", kubeconfig];
  start("node_modules/.bin/kubewright", serve, project, node);
  await until("the API server", async () => (await fetch(`${url}/readyz`)).ok);
  const crd = parseAllDocuments(readManifests(project))
    .map((document) => document.toJS() as { kind: string; spec: object } | null)
    .find((object) => object?.kind === "CustomResourceDefinition");
  await post(`${url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, crd!);
  await until("the custom resource", async () => (await fetch(`${url}${GREETINGS}`)).ok);

  const flags = [
    "--leader-election-namespace",
    "default",
    "--health-probe-bind-address",
    "0",
    "--metrics-bind-address",
    "0",
  ];
  const main = ["src/main.ts", "--kubeconfig", kubeconfig, ...flags];
  const first = start(path.join(node, "node"), main, project, node);
  const leader = (): Promise<string> => leaderOf(url);
  let firstLeads = "";
  await until("a leader", async () => (firstLeads = await leader()) !== "");
  start(path.join(node, "node"), main, project, node);
  await greet(url, "first");
  first.kill("SIGKILL");
  await greet(url, "second");
  if ((await leader()) === firstLeads) throw new Error(`${firstLeads} leads after it was killed`);
}

async function greet(url: string, name: string): Promise<void> {
  await post(`${url}${GREETINGS}`, {
    apiVersion: "example.com/v1",
    kind: "Greeting",
    metadata: { name },
    spec: { to: name },
  });
  await until(`the ConfigMap of Greeting ${name}`, async () => {
    const answer = await fetch(`${url}${CONFIG_MAPS}/${name}`);
    return answer.ok && ((await answer.json()) as { data: { text: string } }).data.text === `Hello ${name}`;
  });
}

async function leaderOf(url: string): Promise<string> {
  const { items } = (await (await fetch(`${url}${LEASES}`)).json()) as {
    items: { metadata: { name: string }; spec: { holderIdentity?: string } }[];
  };
  return items.find(({ metadata }) => metadata.name.startsWith(NAME))?.spec.holderIdentity ?? "";
}

async function post(url: string, body: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`POST ${url}: ${answer.status} ${await answer.text()}`);
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + TIMEOUT_MS;
  while (performance.now() < end) {
    if (await holds().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`${what} did not come in ${TIMEOUT_MS / 1000} s:\n${output.join("").slice(-4000)}`);
}

function start(command: string, args: readonly string[], cwd: string, node: string): ChildProcess {
  const child = spawn(command, args, {
    cwd,
    env: withNode(node),
    stdio: ["ignore", "ignore", "pipe"],
    timeout: 300_000,
  });
  running.add(child);
  child.stderr.on("data", (chunk: Buffer) => output.push(chunk.toString()));
  return child;
}

function run(command: string, args: readonly string[], cwd: string, node?: string): void {
  const options = { cwd, encoding: "utf8", timeout: 300_000, env: withNode(node) } as const;
  const { status, stdout, stderr, error } = spawnSync(command, args, options);
  if (status !== 0)
    throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? `status ${status}`}\n${stdout}${stderr}`);
}

/** Returns an environment in which `node` is the one of a folder. */
function withNode(folder: string = path.dirname(process.execPath)): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${folder}${path.delimiter}${process.env["PATH"]}` };
}

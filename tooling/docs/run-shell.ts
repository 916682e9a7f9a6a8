/**
 * Runs the shell commands of all documents, line by line, in a folder with the files that they name, beside a cluster.
 *
 * - A line must end with status 0, or 1 where it checks for findings.
 * - The runner waits until servers are ready, and stops them at the end.
 * - `SHORTER` shortens commands that would take more than seconds.
 * - Lines that need something unavailable here are skipped, each with a reason.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";

import { blocksOf, root } from "./documents.ts";
import { BINS, type Script } from "./shell.ts";

export interface ShellRun {
  readonly executed: number;
  readonly skipped: readonly { readonly line: string; readonly reason: string }[];
  readonly problems: readonly string[];
}

/** Lines that are not run. The first matching pattern gives the reason. */
const SKIPPED: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^npm (?:ci|test|start)\b|^npm run /, "it is what runs this, or what that takes"],
  [/^npm install|^npm create|create-kubewright|^cd my-operator/, "check-install.ts and check-create.ts do that"],
  [/^(?:npm audit|gh) /, "it asks for what is published"],
  [/^node packages\/simulation|^npx prettier|--mutant/, "mutants have tests of their own"],
  [/^node examples\//, "it has its own test"],
  [/\bdocker\b/, "it needs docker: release/rehearse.ts takes the Dockerfiles' steps"],
  [/\bhelm\b/, "it needs helm: chart.test.ts renders the chart"],
  [/\bkopf\b/, "it is untried, and the document says so"],
  [/\$PROMETHEUS|REPLICA|:10257|monitoring/, "it asks a server of the reader's"],
  [/ &$/m, "live-manager.test.ts runs managers side by side"],
  [/kubewright-member|kubewright-assignment|kubewright\.dev\/group/, "it asks what replicas have written"],
  [/[/ ]NAME\b/, "it shows how it is said"],
  [
    /custom-columns|fuzz-0123456789|leases\/kubewright-controller-manager$/,
    "it depends on what a reader has done before",
  ],
  [/\bget crd certificates/, "it needs cert-manager in the cluster: write-types.test.ts reads such a definition"],
  [/\bproxy\b/, "it serves until it is stopped"],
  [/^kubewright why .*\n.* {2}as of |-f edited\.yaml/, "why-command.test.ts makes that cluster"],
];

/**
 * Replaces arguments that would take minutes, use a port that may be in use, or need files that the folder does not
 * contain.
 */
const SHORTER: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/--seeds (\d+)-\d+(?!.*--indexed-job)/g, "--seeds $1-$1"],
  [/--seeds \d+-\d+(?=.*--indexed-job)/g, "--seeds 1-1000"],
  [/--for-minutes \d+/g, "--seeds 1-1"],
  [/kubewright fuzz(?!.*--(?:seeds|for-minutes|replay))/g, "kubewright fuzz --seeds 1-1"],
  [/--for 365d/g, "--for 30d"],
  [/--peak 20/g, "--peak 1"],
  [/--port 8001/g, ""],
  [/--restore state/g, ""],
];

/** Timeout of a command. */
const HANGS_MS = 180_000;

const READY = /^kubewright is ready$|"Starting job controller"/m;

export async function runShell(scripts: readonly Script[]): Promise<ShellRun> {
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-docs-"));
  const problems: string[] = [];
  const skipped: { line: string; reason: string }[] = [];
  const done = new Set<string>();
  const shell = new Shell(folder);
  try {
    await shell.lay();
    for (const { name, text, printed } of scripts) {
      for (const line of linesOf(text)) {
        const command = shortened(line);
        const whole = printed === undefined ? line : `${line}\n${printed}`;
        const key = printed === undefined ? command : `${command}\n${printed}`;
        if (done.has(key)) continue;
        done.add(key);
        const reason = SKIPPED.find(([pattern]) => pattern.test(whole))?.[1] ?? shell.missingReason(command);
        if (reason !== undefined) skipped.push({ line: line.split("\n", 1)[0]!, reason });
        else {
          const problem = await shell.run(command, printed);
          if (problem !== undefined) problems.push(`${name}: ${command}: ${problem}`);
        }
      }
      await shell.stopServing();
    }
  } finally {
    await shell.end();
    rmSync(folder, { recursive: true, force: true });
  }
  return { executed: done.size - skipped.length, skipped, problems };
}

/** Splits a script into lines. A loop, and a script with background processes, is one line. */
function linesOf(text: string): string[] {
  const joined = text.replaceAll("\\\n", " ").replaceAll(/[ \t]+# .*$/gm, "");
  if (/^for | &$/m.test(joined)) return [joined.trim()];
  const lines: string[] = [];
  for (const line of joined.split("\n")) {
    const open = lines.at(-1);
    // A quoted text may span lines.
    if (open !== undefined && open.split("'").length % 2 === 0) lines[lines.length - 1] = `${open}\n${line}`;
    else if (line.trim() !== "") lines.push(line);
  }
  return lines.map((line) => line.trim());
}

function shortened(line: string): string {
  return SHORTER.reduce((text, [pattern, instead]) => text.replaceAll(pattern, instead), line)
    .replaceAll(/\bnpx (?:@kubewright\/(?=controller-manager))?/g, (npx) => (npx.length > 4 ? "kubewright-" : ""))
    .trim();
}

/** A folder with the documents' files, and a cluster with a kubeconfig. */
class Shell {
  readonly #folder: string;
  readonly #environment: NodeJS.ProcessEnv;
  /** Servers of the current script, with the URL of each. */
  #serving: { readonly child: ChildProcess; readonly url: string | undefined }[] = [];
  #cluster: ChildProcess | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    const bin = path.join(folder, ".bin");
    this.#environment = {
      PATH: [bin, path.dirname(process.execPath), process.env["PATH"]].join(path.delimiter),
      HOME: folder,
      TOKEN: "0123456789abcdef",
      NO_COLOR: "1",
    };
  }

  async lay(): Promise<void> {
    const at = (name: string): string => path.join(this.#folder, name);
    for (const name of [".bin", ".kube", "manifests", "jobs", "overlays/production"])
      mkdirSync(at(name), { recursive: true });
    for (const [name, file] of Object.entries(BINS))
      writeFileSync(at(`.bin/${name}`), `#!/bin/sh\nexec "${process.execPath}" "${path.join(root, file)}" "$@"\n`, {
        mode: 0o755,
      });
    for (const name of ["examples", "deploy"]) cpSync(path.join(root, name), at(name), { recursive: true });
    symlinkSync(path.join(root, "apps/create-kubewright/template/src"), at("src"));
    cpSync(path.join(root, "apps/create-kubewright/template/config"), at("config"), { recursive: true });
    const cronJob = yamlOf("docs/futures.md", /^kind: CronJob$/m);
    const nightly = cronJob.replace("0 * * * *", "0 3 * * *").replace("name: backup", "name: report");
    for (const name of [
      "cronjob",
      "backup",
      "jobs",
      "old",
      "a",
      "now",
      "changed",
      "report",
      "manifests/report",
      "jobs/report",
    ])
      writeFileSync(at(`${name}.yaml`), nightly);
    const billing = nightly.replace("name: report", "name: report, namespace: billing");
    for (const name of ["manifests/billing", "jobs/billing"]) writeFileSync(at(`${name}.yaml`), billing);
    for (const name of ["new", "next"]) writeFileSync(at(`${name}.yaml`), nightly.replace("0 3", "0 4"));
    for (const name of ["jobs/pi.yaml", "overlays/production/pi.yaml"])
      cpSync(path.join(root, "examples/pi.yaml"), at(name));
    writeFileSync(at("overlays/production/kustomization.yaml"), "resources: [pi.yaml]\n");
    writeFileSync(at("outage.yaml"), yamlOf("docs/scenarios.md", /^kind: Scenario$/m));
    writeFileSync(at("workloads.yaml"), yamlOf("docs/input.md", /^kind: Workloads$/m));
    for (const [name, metric] of Object.entries({
      starts: "start_time",
      completions: "completion_time",
      failed: "failed",
    }))
      writeFileSync(at(`${name}.json`), JSON.stringify(answerOf(`kube_job_status_${metric}`)));
    const config = at(".kube/config");
    const { child, url } = await this.#serve(`kubewright serve --speed 60 --kubeconfig ${config}`);
    this.#cluster = child;
    this.#environment["KUBECONFIG"] = config;
    const pi = readFileSync(path.join(root, "examples/pi.yaml"), "utf8");
    const job = pi.replace("name: pi", "name: report-29540760").replace(/^ {2}ttlSecondsAfterFinished.*\n/m, "");
    await create(`${url}/api/v1/namespaces`, "apiVersion: v1\nkind: Namespace\nmetadata: { name: billing }\n");
    await create(`${url}/apis/batch/v1/namespaces/default/cronjobs`, nightly);
    await create(`${url}/apis/batch/v1/namespaces/billing/cronjobs`, billing);
    await create(`${url}/apis/batch/v1/namespaces/default/jobs`, job);
    while (!(await (await fetch(`${url}/apis/batch/v1/namespaces/default/jobs`)).text()).includes('"completionTime"'))
      await setTimeout(100);
  }

  /** Returns why a command cannot run on this machine, or `undefined`. */
  missingReason(command: string): string | undefined {
    // kubectl builds kustomizations.
    const programs = command.replace("overlays/", "kubectl ").match(/\b(?:kubectl|jq|openssl)\b/g) ?? [];
    const missing = programs.find((name) => spawnSync("bash", ["-c", `command -v ${name}`]).status !== 0);
    return missing === undefined ? undefined : `this machine has no ${missing}`;
  }

  /** Runs a line. Returns its problem, or `undefined`. */
  async run(line: string, printed?: string): Promise<string | undefined> {
    const [first] = this.#serving;
    const command = first?.url === undefined ? line : line.replaceAll("http://127.0.0.1:8001", first.url);
    if (/^kubewright(?: serve|-controller-manager)\b/.test(command)) {
      try {
        this.#serving.push(await this.#serve(command));
        return undefined;
      } catch (error) {
        return (error as Error).message;
      }
    }
    const child = this.#spawn(`set -o pipefail; ${command}`);
    const [status, said] = await endOf(child);
    const asks = /--fail-on|kubewright (?:lint|fuzz|collect)/.test(command);
    if (status !== 0 && !(asks && status === 1)) return `ended with ${status}: ${said.err}`;
    if (/^ {4}at .*:\d+:\d+\)?$/m.test(said.err)) return `shows where it failed in the sources: ${said.err}`;
    return printed === undefined || isPrinted(said.out, printed) ? undefined : `printed ${said.out}`;
  }

  async stopServing(): Promise<void> {
    for (const { child } of this.#serving.splice(0)) await stop(child);
  }

  async end(): Promise<void> {
    await this.stopServing();
    if (this.#cluster !== undefined) await stop(this.#cluster);
  }

  /** Starts a server. Resolves when it is ready. */
  async #serve(command: string): Promise<{ child: ChildProcess; url: string | undefined }> {
    const free = command.includes("controller-manager") ? "--secure-port 0" : "--port 0";
    const child = this.#spawn(`exec ${command} ${free}`);
    let said = "";
    await new Promise<void>((resolve, reject) => {
      child.stderr!.on("data", (chunk: Buffer) => {
        said += String(chunk);
        if (READY.test(said)) resolve();
      });
      child.once("close", (status) => reject(new Error(`ended with ${status} before it was ready: ${said}`)));
      void setTimeout(HANGS_MS, undefined, { ref: false }).then(() => said.match(READY) ?? child.kill("SIGKILL"));
    });
    return { child, url: /https?:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] };
  }

  #spawn(command: string): ChildProcess {
    const timeout = command.startsWith("exec ") ? 0 : HANGS_MS;
    return spawn("bash", ["-c", command], {
      cwd: this.#folder,
      env: this.#environment,
      stdio: ["ignore", "pipe", "pipe"],
      timeout,
    });
  }
}

/** Returns the YAML block of a document that matches the pattern. */
function yamlOf(file: string, pattern: RegExp): string {
  const found = blocksOf(file).find(({ language, text }) => language === "yaml" && pattern.test(text));
  if (found === undefined) throw new Error(`${file}: there is no YAML with ${pattern}`);
  return found.text;
}

async function create(url: string, yaml: string): Promise<void> {
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/yaml" }, body: yaml });
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`);
}

/** Returns Prometheus' response for one Job that took ten minutes, an hour ago. */
function answerOf(metric: string): object {
  const value = metric.endsWith("failed") ? 0 : Date.UTC(2026, 4, 1) / 1000 + (metric.includes("completion") ? 600 : 0);
  const labels = { __name__: metric, namespace: "billing", job_name: "report-29540760" };
  return {
    status: "success",
    data: {
      resultType: "matrix",
      result: [{ metric: labels, values: [[Date.UTC(2026, 4, 1, 1) / 1000, String(value)]] }],
    },
  };
}

async function endOf(child: ChildProcess): Promise<[number | null, { out: string; err: string }]> {
  const said = { out: "", err: "" };
  child.stdout!.on("data", (chunk: Buffer) => (said.out += String(chunk)));
  child.stderr!.on("data", (chunk: Buffer) => (said.err += String(chunk)));
  const status = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return [status, said];
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGTERM");
  await closed;
}

/**
 * Compares the output line by line. The line `…` stands for any number of lines; `…` at the end of a line, for the rest
 * of that line.
 */
function isPrinted(out: string, said: string): boolean {
  const pattern = said
    .split("\n")
    .map((line) => (line.trim() === "…" ? "[\\s\\S]*" : line.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)))
    .join("\n");
  return new RegExp(`^${pattern}$`).test(out.trimEnd());
}

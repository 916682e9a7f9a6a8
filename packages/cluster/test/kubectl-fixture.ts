import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import type { AuditRecord } from "@kubewright/apiserver";
import { listen } from "@kubewright/apiserver/http";
import { realClock, seededRandom } from "@kubewright/clock";
import { type Cluster, createCluster } from "@kubewright/cluster";

/** Oldest supported kubectl of these tests, as a minor version of 1. */
export const OLDEST_KUBECTL = 32;

/** The kubectl program. Set `KUBECTL` to use another one than the first on PATH. */
const PROGRAM = process.env["KUBECTL"] ?? "kubectl";

/** Why the tests cannot run on this machine, which is part of their titles; `undefined` when they can. */
export const whyKubectlIsMissing: string | undefined = whyMissing();

function whyMissing(): string | undefined {
  let answer: string;
  try {
    answer = execFileSync(PROGRAM, ["version", "--client", "-o", "json"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return `there is no ${PROGRAM} on PATH`;
  }
  const { clientVersion } = JSON.parse(answer) as { clientVersion: { minor: string; gitVersion: string } };
  return Number.parseInt(clientVersion.minor, 10) >= OLDEST_KUBECTL
    ? undefined
    : `${PROGRAM} is ${clientVersion.gitVersion}, and 1.${OLDEST_KUBECTL} is the oldest that is supported`;
}

if (whyKubectlIsMissing !== undefined) {
  console.warn(
    `SKIPPED: the kubectl tests: ${whyKubectlIsMissing}. Install kubectl 1.${OLDEST_KUBECTL} or newer (https://kubernetes.io/docs/tasks/tools/), or name one in KUBECTL.`,
  );
}

/** Result of one kubectl command. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** For commands that read `-f -`. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Sends SIGINT as soon as standard output contains this text, which ends a `--watch`. */
  readonly until?: string;
  /** Default 60,000. */
  readonly timeoutMs?: number;
}

/**
 * A cluster in this process in real time, with controllers and simulated kubelet behind an HTTP port, and a kubectl
 * configured for it.
 */
export class KubectlCluster {
  readonly cluster: Cluster;
  readonly folder: string;
  readonly url: string;
  readonly #stop: AbortController;
  readonly #running: Promise<void>;

  private constructor(cluster: Cluster, folder: string, url: string, stop: AbortController, running: Promise<void>) {
    this.cluster = cluster;
    this.folder = folder;
    this.url = url;
    this.#stop = stop;
    this.#running = running;
  }

  static async start(): Promise<KubectlCluster> {
    const cluster = createCluster({ clock: realClock, random: seededRandom(1), freeze: true });
    const { url } = await listen(cluster.apiServer);
    const stop = new AbortController();
    const running = cluster.run(stop.signal);
    await cluster.ready();
    const folder = mkdtempSync(path.join(tmpdir(), "kubewright-kubectl-"));
    const started = new KubectlCluster(cluster, folder, url, stop, running);
    started.file(
      "kubeconfig",
      JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        clusters: [{ name: "kubewright", cluster: { server: url } }],
        contexts: [{ name: "kubewright", context: { cluster: "kubewright", user: "kubewright" } }],
        users: [{ name: "kubewright", user: {} }],
        "current-context": "kubewright",
      }),
    );
    return started;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.cluster.apiServer.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Writes a file for kubectl, and returns its path. */
  file(name: string, text: string): string {
    const file = path.join(this.folder, name);
    writeFileSync(file, text, { mode: 0o755 });
    return file;
  }

  /** Resolves once the server has served `count` matching requests from now on. */
  served(matches: (record: AuditRecord) => boolean, count: number): Promise<void> {
    return new Promise((resolve) => {
      let remaining = count;
      const forget = this.cluster.apiServer.observe((record) => {
        if (!matches(record) || !record.userAgent.startsWith("kubectl") || --remaining > 0) return;
        forget();
        resolve();
      });
    });
  }

  /** Runs a command that must succeed, and returns its standard output. */
  async kubectl(command: string, options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(command, options);
    if (code !== 0) throw new Error(`kubectl ${command}: exit ${code}\n${stderr}${stdout}`);
    return stdout;
  }

  /** @param command - Arguments, split at spaces; `'…'` keeps spaces together. */
  run(command: string, { input, env = {}, until, timeoutMs = 120_000 }: RunOptions = {}): Promise<Outcome> {
    const args = [...command.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([argument]) => argument.replaceAll("'", ""));
    return new Promise((resolve, reject) => {
      const child = spawn(PROGRAM, args, {
        cwd: this.folder,
        env: {
          PATH: process.env["PATH"] ?? "",
          HOME: this.folder,
          TMPDIR: this.folder,
          TZ: "UTC",
          KUBECONFIG: path.join(this.folder, "kubeconfig"),
          ...env,
        },
      });
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
        reject(new Error(`kubectl ${command}: no end after ${timeoutMs} ms\n${stdout}${stderr}`));
      }, timeoutMs);
      let stdout = "";
      let stderr = "";
      child.stdout.on("data", (chunk: Buffer) => {
        stdout += chunk.toString();
        if (until !== undefined && stdout.includes(until)) child.kill("SIGINT");
      });
      child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
      child.once("error", reject);
      child.once("close", (code) => {
        clearTimeout(timer);
        resolve({ code: until === undefined ? (code ?? -1) : 0, stdout, stderr });
      });
      child.stdin.on("error", () => {});
      child.stdin.end(input ?? "");
    });
  }
}

/**
 * Returns kubectl's output without the values that differ between runs: UIDs, generated names, versions, times, ages,
 * addresses, and the width of their columns.
 */
export function normalized(output: string): string {
  return output
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uid>")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>")
    .replace(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, "<time>")
    .replace(/-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, "-<random>")
    .replace(/\b[0-9a-f]{16}\b/g, "<hex>")
    .replace(/\b10(?:\.\d+){3}\b/g, "<address>")
    .replace(/(resource ?version"?: +)"?\d+"?/gi, "$1<version>")
    .replace(/127\.0\.0\.1:\d+/g, "<server>")
    .replace(/(?<![\w.]|duration: )(?:\d+[dhms])+(?![\w.])/g, "<age>")
    .replace(/containerd:\/\/[0-9a-f]+/g, "containerd://<id>")
    .replace(/[ \t]+$/gm, "")
    .replace(/(?<=\S) {2,}/g, "  ");
}

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { expect, onTestFinished, test } from "vitest";

const BINARY = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const run = promisify(execFile);

const CRON_JOB = {
  apiVersion: "batch/v1",
  kind: "CronJob",
  metadata: { name: "report", namespace: "default" },
  spec: {
    schedule: "0 6 * * 0",
    suspend: true,
    jobTemplate: { spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "a" }] } } } },
  },
};

interface Explanation {
  readonly at: string;
  readonly missed: readonly { readonly reason: string; readonly count: number }[];
  readonly notes: readonly string[];
}

/** Runs the built command with a manual clock. @returns its address. */
async function serve(kubeconfig: string): Promise<string> {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} does not exist: run "npm run build" first`);
  const args = [BINARY, "serve", "--port", "0", "--speed", "manual", "--kubeconfig", kubeconfig];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  for await (const text of child.stderr!.setEncoding("utf8") as AsyncIterable<string>) {
    output += text;
    const url = /Serving on (\S+)/.exec(output)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`serve ended: ${output}`);
}

async function post(url: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  expect(answer.ok).toBe(true);
  return answer;
}

test(
  "why explains as of the clock that serve keeps, half a year ahead of the machine's",
  { timeout: 60_000 },
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "kubewright-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const kubeconfig = path.join(folder, "config");
    const url = await serve(kubeconfig);
    await post(`${url}/apis/batch/v1/namespaces/default/cronjobs`, CRON_JOB);
    const advanced = await post(`${url}/_kubewright/clock/advance`, { seconds: 180 * 86_400 });
    const { now } = (await advanced.json()) as { now: string };
    expect(Date.parse(advanced.headers.get("date")!)).toBe(Math.floor(Date.parse(now) / 1000) * 1000);
    const args = [BINARY, "why", "cronjob/report", "--kubeconfig", kubeconfig, "-o", "json"];
    const { explanation } = JSON.parse((await run(process.execPath, args)).stdout) as { explanation: Explanation };
    expect(Date.parse(explanation.at)).toBe(Math.floor(Date.parse(now) / 1000) * 1000);
    expect(explanation.missed).toMatchObject([{ reason: "suspended" }]);
    // 25 or 26 Sundays, the last of which would start after a resume.
    expect([24, 25]).toContain(explanation.missed[0]!.count);
    expect(explanation.notes.filter((note) => note.includes("--at"))).toEqual([]);
  },
);

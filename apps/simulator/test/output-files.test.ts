import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { expect, onTestFinished, test } from "vitest";

const BINARY = fileURLToPath(new URL("../dist/main.js", import.meta.url));

/** Runs the built command in a folder with a manifest and the trace of an earlier run. */
function run(...flags: string[]): { status: number | null; stderr: string; folder: string; trace: string } {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} does not exist: run "npm run build" first`);
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-output-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    path.join(folder, "job.yaml"),
    `{ apiVersion: batch/v1, kind: Job, metadata: { name: j }, spec: { template: { spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] } } } }`,
  );
  writeFileSync(path.join(folder, "trace.jsonl"), "of an earlier run\n");
  const args = [BINARY, "run", "job.yaml", "--for", "5m", ...flags];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  return { status, stderr, folder, trace: readFileSync(path.join(folder, "trace.jsonl"), "utf8") };
}

test("a failed run leaves earlier files unchanged, and writes none", () => {
  const { status, stderr, folder, trace } = run("--json", "trace.jsonl", "--html", "missing/report.html");
  expect([status, stderr]).toEqual([
    2,
    "kubewright: --html: cannot write missing/report.html: ENOENT: no such file or directory, open 'missing/report.html'\n",
  ]);
  expect(trace).toBe("of an earlier run\n");
  expect(readdirSync(folder).sort()).toEqual(["job.yaml", "trace.jsonl"]);
});

test("a run that succeeds replaces them", () => {
  const { status, folder, trace } = run("--json", "trace.jsonl", "--html", "report.html");
  expect(status).toBe(0);
  expect(trace).toMatch(/^\{"type":"header".*"type":"end"[^\n]*\n$/s);
  expect(readdirSync(folder).sort()).toEqual(["job.yaml", "report.html", "trace.jsonl"]);
});

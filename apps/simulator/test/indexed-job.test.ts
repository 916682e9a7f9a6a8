import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";
import type { Job } from "@kubewright/api";
import { parseAllDocuments } from "yaml";

import { runCampaign, runReport } from "./report-campaign.js";
import { ServedProcess } from "./served-process.js";

const BINARY = fileURLToPath(new URL("../bin/kubewright.js", import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), "kubewright-indexed-job-"));
const started: ServedProcess[] = [];
afterAll(async () => {
  for (const served of started) await served.stop();
  rmSync(folder, { recursive: true });
});

const JOBS = "/apis/batch/v1/namespaces/default/jobs";
const HEADERS = { authorization: "Bearer s3cret", "content-type": "application/json" };

async function start(flags: readonly string[]): Promise<ServedProcess> {
  const served = await ServedProcess.start(process.execPath, [
    "--controllers",
    "*",
    "--kubelet",
    "process",
    "--token",
    "s3cret",
    ...flags,
  ]);
  started.push(served);
  await served.ready;
  return served;
}

async function get<T>(served: ServedProcess, where: string): Promise<T> {
  const { status, text: body } = await served.send({ path: where, headers: HEADERS });
  expect(status).toBe(200);
  return JSON.parse(body) as T;
}

test("the failed indexes of a Job are its chunks with findings, also when the server is stopped and restarted", async () => {
  // The command that an image would have on its PATH.
  const bin = path.join(folder, "kubewright");
  writeFileSync(bin, `#!/bin/sh\nexec "${process.execPath}" "${BINARY}" "$@"\n`);
  chmodSync(bin, 0o755);
  const before = process.env["PATH"];
  process.env["PATH"] = `${folder}:${before}`;
  // One of these seeds has a failed report: 49.
  const flags = ["--seeds", "1-60", "--chunks", "3", "--indexed-job", "none"];
  const { stdout } = await runCampaign([...runReport("3%"), ...flags]);
  const objects = parseAllDocuments(stdout).map((document) => document.toJS() as Job);
  const [inputs, job] = objects as [Job, Job];
  // One chunk at a time, so that some chunks remain after the stop.
  job.spec!.parallelism = 1;
  const snapshot = path.join(folder, "snapshot");
  const first = await start(["--snapshot", snapshot]);
  for (const [where, object] of [
    ["/api/v1/namespaces/default/configmaps", inputs],
    [JOBS, job],
  ] as const)
    expect(
      (await first.send({ method: "POST", path: where, headers: HEADERS, body: JSON.stringify(object) })).status,
    ).toBe(201);
  const where = `${JOBS}/${job.metadata.name}`;
  const status = async (served: ServedProcess): Promise<NonNullable<Job["status"]>> =>
    (await get<Job>(served, where)).status ?? {};
  await expect.poll(async () => (await status(first)).completedIndexes, { interval: 200 }).toMatch(/^0/);
  expect((await first.stop()).code).toBe(0);
  const second = await start(["--restore", snapshot]);
  await expect
    .poll(async () => (await status(second)).conditions?.map(({ reason }) => reason), { interval: 200 })
    .toContain("FailedIndexes");
  expect(await status(second)).toMatchObject({ completedIndexes: "0,1", failedIndexes: "2" });
  const pods = await get<object>(second, "/api/v1/namespaces/default/pods");
  const list = { ...pods, kind: "List", apiVersion: "v1", items: [] as object[] };
  for (const pod of (pods as { items: object[] }).items) list.items.push({ apiVersion: "v1", kind: "Pod", ...pod });
  list.items.push(await get<object>(second, where));
  const collected = await runCampaign(["collect", "-"], { input: JSON.stringify(list) });
  expect(collected.code).toBe(1);
  expect(collected.stdout).toContain("in 3 chunks: 2 clean, 1 with findings; 60 played");
  expect(collected.stdout).toContain("failed: default/report  1 time");
  expect(collected.stdout).toContain("--seed 49\n");
  expect((await second.stop()).code).toBe(0);
  process.env["PATH"] = before;
});

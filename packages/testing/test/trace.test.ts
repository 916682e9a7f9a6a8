import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { jobs, pods } from "@kubewright/api";
import { expect, test } from "vitest";

import "../src/vitest.js";
import { backupController, backups, clusterWithBackups, createBackup } from "./backups.js";

async function play(seed: number): Promise<{ text: string; names: (string | undefined)[] }> {
  await using cluster = await clusterWithBackups({ seed });
  const trace = await cluster.trace({ objects: [backups, jobs, pods] });
  await cluster.run(backupController);
  cluster.faults.refuse({ by: "backupController", verb: "create", times: 1, status: 500 });
  const nightly = await createBackup(cluster, "nightly");
  await cluster.eventually(() => expect(nightly).toHaveEvent({ reason: "Complete" }));
  const { items } = await cluster.client.resource(pods).list();
  return { text: trace.text(), names: items.map(({ metadata }) => metadata.name) };
}

test("equal seeds give equal traces, and the different names of other seeds are aliased", async () => {
  const [first, again, other] = [await play(1), await play(1), await play(2)];
  expect(again).toEqual(first);
  expect(other.names).not.toEqual(first.names);
  for (const name of first.names) expect(first.text).not.toContain(name);
  expect(first.text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-|\d{4}-\d\d-\d\dT/);
});

test("a trace lists the controller's requests and the changes of objects", async () => {
  await using cluster = await clusterWithBackups({ kubelet: "none" });
  const trace = await cluster.trace();
  await cluster.run(backupController);
  const nightly = await createBackup(cluster, "nightly");
  await cluster.eventually(() => expect(nightly).toOwn(jobs));
  await nightly.delete();
  await cluster.advance("90s");
  await expect(trace).toMatchTrace("golden/backup.trace");
});

test("a trace that differs from its file fails", async () => {
  const file = path.join(await mkdtemp(path.join(tmpdir(), "trace-")), "backup.trace");
  await writeFile(file, "+0s       Backup default/nightly exists\n");
  await using cluster = await clusterWithBackups({ kubelet: "none" });
  const trace = await cluster.trace();
  await createBackup(cluster, "weekly");
  await cluster.advance("1s");
  await expect(expect(trace).toMatchTrace(file)).rejects.toThrow("mismatched");
});

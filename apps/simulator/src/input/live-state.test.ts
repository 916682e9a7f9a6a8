import { type Job, cronJobs, jobs, pods } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { createCluster } from "@kubewright/cluster";
import { expect, test } from "vitest";

import { kubewright } from "../../test/memory-io.js";
import type { TraceRecord } from "../trace.js";

const cronJob = (name: string, schedule: string, policy: string, duration: string): object => ({
  apiVersion: "batch/v1",
  kind: "CronJob",
  metadata: { name, namespace: "default" },
  spec: {
    schedule,
    concurrencyPolicy: policy,
    jobTemplate: {
      spec: {
        template: {
          metadata: { annotations: { "sim.kubewright.dev/duration": duration } },
          spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] },
        },
      },
    },
  },
});

/** A cluster that has run for a while: what `kubectl get cronjobs,jobs,pods -o json` says of it, and what it does next. */
async function runningCluster(): Promise<{
  exported: () => Promise<object>;
  playOn: (ms: number) => Promise<void>;
  nowMs: () => number;
  jobsNow: () => Promise<readonly Job[]>;
  stop: () => Promise<void>;
}> {
  const clock = new SimulatedClock(Date.UTC(2026, 5, 1));
  const cluster = createCluster({ clock, random: seededRandom(7) });
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  const ready = cluster.ready();
  await clock.advance(1_000);
  await ready;
  const client = cluster.client("test");
  for (const object of [
    cronJob("slow", "*/5 * * * *", "Forbid", "7m"),
    cronJob("replaced", "*/10 * * * *", "Replace", "25m"),
    cronJob("quick", "7 * * * *", "Allow", "90s"),
  ])
    await client.resource(cronJobs).create(object as never, { namespace: "default" });
  const list = async (definition: typeof cronJobs | typeof jobs | typeof pods): Promise<readonly object[]> =>
    (await client.resource(definition as typeof jobs).list({ namespace: "default" })).items.map((item) => ({
      ...item,
      apiVersion: definition === pods ? "v1" : "batch/v1",
      kind: definition.kind,
    }));
  return {
    exported: async () => ({
      apiVersion: "v1",
      kind: "List",
      items: [...(await list(cronJobs)), ...(await list(jobs)), ...(await list(pods))],
    }),
    playOn: (ms) => clock.advance(ms),
    nowMs: () => clock.now(),
    jobsNow: async () => (await client.resource(jobs).list({ namespace: "default" })).items as readonly Job[],
    stop: async () => {
      stop.abort();
      await running;
    },
  };
}

test("what is played from an export is what the cluster then does", async () => {
  const cluster = await runningCluster();
  await cluster.playOn(2 * 3_600_000 + 400_000);
  const files = { "export.json": JSON.stringify(await cluster.exported()) };
  const start = new Date(cluster.nowMs()).toISOString();
  const { code, stderr, stdout } = await kubewright(
    ["run", "export.json", "--start", start, "--for", "6h", "--json", "-"],
    { files },
  );
  expect([code, stderr]).toEqual([0, ""]);
  await cluster.playOn(6 * 3_600_000);
  const records = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as TraceRecord);
  const alive = new Map<string, string | undefined>();
  for (const record of records)
    if (record.type === "object" && record.kind === "Job") {
      if (record.change === "DELETED") alive.delete(record.name);
      else alive.set(record.name, record.state.outcome?.at);
    }
  const really = (await cluster.jobsNow()).map(
    ({ metadata, status }) => [metadata.name, status?.completionTime] as const,
  );
  expect(alive).toEqual(new Map(really));
  await cluster.stop();
});

test("an export begins at its newest time, its history is not counted, and what it leaves out is said", async () => {
  const cluster = await runningCluster();
  await cluster.playOn(3_600_000);
  const exported = (await cluster.exported()) as { items: { kind: string }[] };
  const withoutOwners = { ...exported, items: exported.items.filter(({ kind }) => kind !== "CronJob") };
  await cluster.stop();
  const files = { "export.json": JSON.stringify(exported), "jobs.json": JSON.stringify(withoutOwners) };
  const { stdout } = await kubewright(["run", "export.json", "--for", "1m"], { files });
  expect(stdout).toMatch(/^kubewright {2}2026-06-01T01:0\d:\d\dZ → /);
  expect(stdout).toContain("Jobs  3 run, 1 complete, 0 failed, 1 skipped");
  const orphans = await kubewright(["run", "jobs.json", "--for", "1h"], { files });
  expect(orphans.code).toBe(0);
  expect(orphans.stderr).toMatch(
    /^kubewright: \d+ objects have owners outside of the export; they are played without\n$/,
  );
  expect(orphans.stdout).toMatch(/Job default\/slow-\d+/);
});

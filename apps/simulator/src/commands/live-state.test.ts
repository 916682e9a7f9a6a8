import { type Job, cronJobs, jobs, pods } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { createCluster } from "@kubewright/cluster";
import { expect, test } from "vitest";

import { kubewright } from "../../test/memory-io.js";
import { RunRecords } from "@kubewright/analysis/compare";
import { ReportBuilder } from "@kubewright/analysis/reports";
import type { TraceRecord } from "@kubewright/analysis/trace";

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

/**
 * A cluster with history: `exported` returns its objects as `kubectl get cronjobs,jobs,pods -o json` prints them, and
 * `simulateOn` continues it.
 */
async function runningCluster(): Promise<{
  exported: () => Promise<object>;
  simulateOn: (ms: number) => Promise<void>;
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
    simulateOn: (ms) => clock.advance(ms),
    nowMs: () => clock.now(),
    jobsNow: async () => (await client.resource(jobs).list({ namespace: "default" })).items as readonly Job[],
    stop: async () => {
      stop.abort();
      await running;
    },
  };
}

test("the simulation of an export predicts what the cluster then does", async () => {
  const cluster = await runningCluster();
  await cluster.simulateOn(2 * 3_600_000 + 400_000);
  const files = { "export.json": JSON.stringify(await cluster.exported()) };
  const start = new Date(cluster.nowMs()).toISOString();
  const { code, stderr, stdout } = await kubewright(
    ["run", "export.json", "--start", start, "--for", "6h", "--json", "-"],
    { files },
  );
  expect([code, stderr]).toEqual([0, ""]);
  await cluster.simulateOn(6 * 3_600_000);
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
  await cluster.simulateOn(3_600_000);
  const exported = (await cluster.exported()) as { items: { kind: string }[] };
  const withoutOwners = { ...exported, items: exported.items.filter(({ kind }) => kind !== "CronJob") };
  await cluster.stop();
  const files = { "export.json": JSON.stringify(exported), "jobs.json": JSON.stringify(withoutOwners) };
  const { stdout } = await kubewright(["run", "export.json", "--for", "1m"], { files });
  expect(stdout).toMatch(/^kubewright {2}2026-06-01T01:0\d:\d\dZ → /);
  expect(stdout).toContain("Jobs  3 run, 1 complete, 0 failed, 0 skipped");
  const orphans = await kubewright(["run", "jobs.json", "--for", "1h"], { files });
  expect(orphans.code).toBe(0);
  expect(orphans.stderr).toMatch(
    /^kubewright: \d+ objects have owners outside of the export; they are simulated without them\n$/,
  );
  expect(orphans.stdout).toMatch(/Job default\/slow-\d+/);
});

test("decisions before the window are history: no output reports them again", async () => {
  const cluster = await runningCluster();
  // One run is active, and the two slots that it blocked are before the window.
  await cluster.simulateOn(3_600_000);
  const exported = (await cluster.exported()) as { items: { kind: string; metadata: { name: string } }[] };
  const startMs = cluster.nowMs();
  await cluster.stop();
  const heldBack = exported.items.find(({ kind, metadata }) => kind === "CronJob" && metadata.name === "slow") as {
    spec?: object;
    status?: { lastScheduleTime?: string };
  };
  heldBack.spec = { ...heldBack.spec, suspend: false };
  heldBack.status = { ...heldBack.status, lastScheduleTime: "2026-06-01T00:45:00Z" };
  const files = { "export.json": JSON.stringify(exported) };
  const start = new Date(startMs).toISOString();
  const flags = ["run", "export.json", "--start", start, "--for", "1h"];
  const trace = await kubewright([...flags, "--json", "-"], { files });
  const records = trace.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as TraceRecord);
  const missed = records.flatMap((record) =>
    record.type === "decision" && record.controller === "cronjob-controller"
      ? record.decision.missed.flatMap(({ slotsMs }) => slotsMs)
      : [],
  );
  expect(missed.filter((slotMs) => slotMs < startMs)).toEqual([]);

  const { code, stdout, written } = await kubewright([...flags, "--runs", "runs.jsonl"], { files });
  expect(code).toBe(0);
  const runs = written["runs.jsonl"]!.trim()
    .split("\n")
    .map(
      (line) => JSON.parse(line) as { outcome: string; slot: string; skipped?: number; ended?: string; job?: string },
    );
  const skipped = runs.filter(({ outcome }) => outcome === "Skipped");
  expect(skipped.filter(({ slot }) => Date.parse(slot) < startMs)).toEqual([]);
  expect(runs.filter(({ ended }) => ended !== undefined && Date.parse(ended) < startMs)).toEqual([]);
  expect(skipped.length).toBeGreaterThan(2);
  expect(stdout).toContain(`, ${skipped.length} skipped`);
  const builder = new ReportBuilder();
  const runRecords = new RunRecords();
  for (const record of records) {
    builder.add(record);
    runRecords.add(record);
  }
  expect(builder.data().totals.runsSkipped).toBe(skipped.length);
  const compared = [...runRecords.groups.values()].flatMap((group) => [...group.runs.values()]);
  expect(compared.filter(({ outcome }) => outcome === "Skipped")).toHaveLength(skipped.length);
  const named = ({ job }: { readonly job?: string }): boolean => job !== undefined;
  expect(new Set(compared.filter(named).map(({ job }) => job))).toEqual(
    new Set(runs.filter(named).map(({ job }) => job)),
  );
});

import { expect, test } from "vitest";

import { type MemoryIoOptions, kubewright } from "./memory-io.js";

const cronJob = (name: string, schedule: string, namespace = "default"): string => `---
apiVersion: batch/v1
kind: CronJob
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  schedule: "${schedule}"
  jobTemplate:
    spec:
      template:
        spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
`;
const JOB = `---
apiVersion: batch/v1
kind: Job
metadata: { name: once }
spec:
  template:
    spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
`;

interface Line {
  readonly type: string;
  readonly at: string;
  readonly kind: string;
  readonly change: string;
  readonly state: { readonly scheduledFor?: string };
}

async function run(text: string, args: readonly string[], options: MemoryIoOptions = {}) {
  return kubewright(["run", "all.yaml", ...args], { files: { "all.yaml": text }, ...options });
}

async function traceOf(text: string, args: readonly string[], options?: MemoryIoOptions): Promise<Line[]> {
  const { code, stdout, stderr } = await run(text, [...args, "--json", "-"], options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

function slotsIn(lines: readonly Line[]): (string | undefined)[] {
  return lines
    .filter(({ kind, change }) => kind === "Job" && change === "ADDED")
    .map(({ state }) => state.scheduledFor);
}

test("a day that begins at midnight has its midnight run, and no run at its end", async () => {
  const lines = await traceOf(cronJob("nightly", "@daily"), ["--start", "2026-01-01T00:00:00Z", "--for", "1d"]);
  expect(slotsIn(lines)).toEqual(["2026-01-01T00:00:00Z"]);
  expect(lines.at(-1)).toMatchObject({ type: "end", at: "2026-01-02T00:00:00.000Z" });
});

test("30 days have 30 daily and 720 hourly runs, in one simulation and by namespace", async () => {
  const text = `${cronJob("nightly", "@daily", "a")}${cronJob("hourly", "@hourly", "b")}`;
  for (const workers of [[], ["--workers", "1"]]) {
    const { stdout } = await run(text, ["--start", "2026-01-01T00:00:00Z", "--for", "30d", ...workers]);
    expect(stdout).toMatch(/Jobs +750 run, 750 complete/);
  }
});

test("a window without runs names the first slot at or after its end", async () => {
  const { stdout } = await run(cronJob("nightly", "@daily"), ["--start", "2026-01-01T12:00:00Z", "--for", "12h"]);
  expect(stdout).toContain("no runs in this window; the next is due Fri 2026-01-02 00:00");
});

test("CronJobs exist a second before the start, and Jobs from the start", async () => {
  const lines = await traceOf(`${JOB}${cronJob("hourly", "@hourly")}`, ["--start", "2026-01-01T00:00:00Z"]);
  const added = (kind: string): string | undefined =>
    lines.find((line) => line.kind === kind && line.change === "ADDED")?.at;
  expect([added("CronJob"), added("Job")]).toEqual(["2025-12-31T23:59:59.000Z", "2026-01-01T00:00:00.000Z"]);
});

test("a run starts at the next full hour, and its title and trace have the flag that repeats it", async () => {
  const options = { now: () => Date.parse("2026-05-04T10:20:30Z") };
  const flag = ["--start", "2026-05-04T11:00:00Z"];
  const { stdout } = await run(cronJob("hourly", "@hourly"), ["--for", "2h"], options);
  expect(stdout.split("\n", 1)[0]).toBe(
    `kubewright  2026-05-04T11:00:00Z → 2026-05-04T13:00:00Z (2h of virtual time, seed 1; repeat with ${flag.join(" ")})`,
  );
  const lines = await traceOf(cronJob("hourly", "@hourly"), ["--for", "2h"], options);
  expect(lines[0]).toMatchObject({ start: "2026-05-04T11:00:00.000Z", repeat: flag.join(" ") });
  expect(await traceOf(cronJob("hourly", "@hourly"), ["--for", "2h", ...flag])).toEqual(lines);
});

test("a scenario's start is before the next full hour, and the title then has no flag", async () => {
  const scenario = "apiVersion: sim.kubewright.dev/v1\nkind: Scenario\nstart: 2026-02-03T04:00:00Z\nfor: 1h\n";
  const files = { "all.yaml": cronJob("hourly", "@hourly"), "s.yaml": scenario };
  const { stdout } = await kubewright(["run", "all.yaml", "--scenario", "s.yaml"], { files });
  expect(stdout).toMatch(/^kubewright {2}2026-02-03T04:00:00Z → 2026-02-03T05:00:00Z \(1h of virtual time, seed 1\)\n/);
});

test("futures, comparisons and spread start at the next full hour too, and print the flag", async () => {
  const files = { "all.yaml": cronJob("hourly", "@hourly") };
  const flag = "repeat with --start 2026-01-01T00:00:00Z";
  for (const args of [
    ["run", "all.yaml", "--seeds", "1-2"],
    ["run", "all.yaml", "--against", "all.yaml"],
    ["spread", "all.yaml"],
  ]) {
    const { stdout } = await kubewright(args, { files });
    expect(stdout.split("\n", 1)[0]).toContain(flag);
  }
});

test("a Job of many futures starts all pods at the time of the command", async () => {
  const { stdout } = await run(
    cronJob("hourly", "@hourly"),
    "--seeds 1-100 --chunks 2 --fail-on failed --indexed-job kubewright:1".split(" "),
  );
  expect(stdout).toMatch(/- --start\n\s+- 2026-01-01T00:00:00Z/);
  expect(stdout).toContain("kubewright.dev/replay: kubewright run all.yaml --start 2026-01-01T00:00:00Z --seed");
});

import { readFileSync } from "node:fs";

import { parseSchedule } from "@kubewright/cron";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

import { type CommandResult, kubewright } from "../../test/memory-io.js";

interface Written {
  readonly schedule: string;
  readonly name?: string;
  readonly duration?: string;
  readonly spec?: string;
  readonly parallelism?: number;
}

const cronJob = ({ schedule, name = "report", duration = "30s", spec = "", parallelism = 1 }: Written): string => `
apiVersion: batch/v1
kind: CronJob
metadata: { name: ${name}, namespace: default }
spec:
  schedule: ${JSON.stringify(schedule)}
  ${spec}
  jobTemplate:
    spec:
      parallelism: ${parallelism}
      completions: ${parallelism}
      template:
        metadata: { annotations: { sim.kubewright.dev/duration: ${duration} } }
        spec: { restartPolicy: Never, containers: [{ name: c, image: busybox, resources: { requests: { cpu: 250m, memory: 64Mi } } }] }
`;

const many = (count: number, written: Omit<Written, "name">): string =>
  Array.from({ length: count }, (_, index) => cronJob({ ...written, name: `job-${index}` })).join("---\n");

async function spread(yaml: string, flags: readonly string[] = []): Promise<CommandResult> {
  return kubewright(["spread", "in.yaml", ...flags], { files: { "in.yaml": yaml } });
}

interface Document {
  readonly metadata: { readonly name: string };
  readonly spec: { schedule: string };
}

const documents = (yaml: string): Document[] => parseAllDocuments(yaml).map((document) => document.toJS() as Document);

/** Returns the schedules of a patch by name. */
async function patched(yaml: string, flags: readonly string[] = []): Promise<Record<string, string>> {
  const { stdout, stderr } = await spread(yaml, ["--no-play", "--patch", "-", ...flags]);
  expect(stderr).toBe("");
  if (stdout.startsWith("#")) return {};
  return Object.fromEntries(documents(stdout).map(({ metadata, spec }) => [metadata.name, spec.schedule]));
}

function applied(yaml: string, patch: Readonly<Record<string, string>>): string {
  return documents(yaml)
    .map((document) => {
      document.spec.schedule = patch[document.metadata.name] ?? document.spec.schedule;
      return JSON.stringify(document);
    })
    .join("\n---\n");
}

/** Returns the number of runs of each CronJob in each hour of UTC, from a simulation. */
async function simulatedHours(yaml: string, flags: readonly string[]): Promise<Record<string, number>> {
  const { code, written } = await kubewright(["run", "in.yaml", "--runs", "runs.jsonl", ...flags], {
    files: { "in.yaml": yaml },
  });
  expect(code).toBe(0);
  const hours: Record<string, number> = {};
  for (const line of written["runs.jsonl"]!.trim().split("\n")) {
    const { name, created } = JSON.parse(line) as { readonly name: string; readonly created?: string };
    if (created === undefined) continue;
    const hour = `${name} ${created.slice(0, 13)}`;
    hours[hour] = (hours[hour] ?? 0) + 1;
  }
  return hours;
}

test("a hundred CronJobs on the hour: a peak at least three times lower, and as many runs of each in every hour", async () => {
  const hundred = many(100, { schedule: "0 * * * *", duration: "3m" });
  const { code, stdout, written } = await spread(hundred, [
    "--for",
    "3h",
    "--json",
    "spread.json",
    "--patch",
    "patch.yaml",
  ]);
  expect(code).toBe(0);
  const { peakPods, simulated, stampedes } = JSON.parse(written["spread.json"]!) as {
    readonly peakPods: Record<"before" | "after", number>;
    readonly simulated: Record<"before" | "after", { readonly pods: number; readonly runs: number }>;
    readonly stampedes: readonly { readonly pods: number; readonly at: readonly string[] }[];
  };
  expect(peakPods.before).toBe(100);
  // Each run takes four minutes with its start: 400 pod minutes in an hour.
  expect(peakPods.after).toBeLessThanOrEqual(8);
  expect(simulated.before.pods).toBe(100);
  expect(simulated.after.pods).toBeLessThanOrEqual(peakPods.after);
  expect([simulated.before.runs, simulated.after.runs]).toEqual([300, 300]);
  expect(stampedes).toMatchObject([{ pods: 100, at: { length: 3 } }]);
  expect(stdout).toContain("2026-01-01T00:00:00Z and 2 times more: 100 CronJobs start, 100 pods");
  expect(stdout).toMatch(/^most pods at once +100 +[5-8]$/m);

  const schedules = Object.fromEntries(
    documents(written["patch.yaml"]!).map(({ metadata, spec }) => [metadata.name, spec.schedule]),
  );
  const flags = ["--start", "2025-12-31T23:59:59Z", "--for", "10800s"];
  const before = await simulatedHours(hundred, flags);
  expect(await simulatedHours(applied(hundred, schedules), flags)).toEqual(before);
  expect(Object.keys(before)).toHaveLength(300);
});

test("the object of --json matches its schema, simulated or not", async () => {
  const schema = JSON.parse(readFileSync(new URL("../../spread.schema.json", import.meta.url), "utf8")) as object;
  const validate = new Ajv({ strict: true }).compile(schema);
  const yaml = `${many(6, { schedule: "0 * * * *" })}---${cronJob({ schedule: "* * * * *" })}`;
  for (const flags of [[], ["--no-play"]]) {
    const { stdout } = await spread(yaml, ["--for", "1h", "--json", "-", ...flags]);
    expect(validate(JSON.parse(stdout)), JSON.stringify(validate.errors)).toBe(true);
  }
});

test("a requested peak takes few changes: only large CronJobs move, and no more of them than needed", async () => {
  const yaml = [
    ...Array.from({ length: 6 }, (_, index) => cronJob({ schedule: "0 * * * *", name: `small-${index}` })),
    cronJob({ schedule: "0 * * * *", name: "large", parallelism: 6 }),
  ].join("---\n");
  const changed = await patched(yaml, ["--peak", "6"]);
  expect(Object.keys(changed)).toEqual(["large"]);
  expect(await patched(yaml, ["--peak", "12"])).toEqual({});
});

test("an unreachable peak is reported with the lowest one found, and status 1", async () => {
  const { code, stdout, stderr } = await spread(many(3, { schedule: "* * * * *" }), ["--peak", "2", "--no-play"]);
  expect(code).toBe(1);
  expect(stderr).toBe("kubewright: --peak 2: moving minutes brings it to 3 pods at once, not further\n");
  expect(stdout).toContain("nothing to move: 3 pods at once");
});

test("CronJobs of --keep stay where they are, and the others move", async () => {
  const yaml = many(4, { schedule: "0 * * * *" });
  const changed = await patched(yaml, ["--keep", "default/job-2,job-3", "--keep", "*-3"]);
  expect(Object.keys(changed)).toEqual(["job-0", "job-1"]);
});

test("in the order of --after, each CronJob begins after the expected duration of the one before", async () => {
  const yaml = ["load", "extract", "transform"]
    .map((name) => cronJob({ schedule: "0 3 * * *", name, duration: "10m" }))
    .join("---\n");
  const changed = await patched(yaml, ["--after", "extract,transform,load"]);
  const minute = (name: string): number => Number((changed[name] ?? "0 3 * * *").split(" ")[0]);
  expect(minute("transform")).toBeGreaterThanOrEqual(minute("extract") + 11);
  expect(minute("load")).toBeGreaterThanOrEqual(minute("transform") + 11);
});

test("an order that no minutes satisfy, and one that names nothing", async () => {
  const yaml = [
    cronJob({ schedule: "30 * * * *", name: "a", duration: "20m" }),
    cronJob({ schedule: "0 * * * *", name: "b" }),
  ].join("---\n");
  expect(await spread(yaml, ["--after", "a,b", "--keep", "*"])).toMatchObject({
    code: 2,
    stderr:
      "kubewright: --after: no minutes of the hour are left at which default/b begins 21 minutes after default/a\n",
  });
  expect((await spread(yaml, ["--after", "a,b", "--after", "b,a"])).code).toBe(2);
  expect((await spread(yaml, ["--after", "a,c"])).stderr).toBe(
    'kubewright: --after: "c" selects no CronJob that runs\n',
  );
  expect((await spread(yaml, ["--after", "a"])).stderr).toContain("write the first and what comes after it: A,B");
});

test.each([
  ["*/15 * * * *", /^(\d+)-59\/15 \* \* \* \*$/],
  ["0,30 9-17 * * MON-FRI", /^\d+,\d+ 9-17 \* \* MON-FRI$/],
  ["@hourly", /^\d+ \* \* \* \*$/],
  ["TZ=Europe/Berlin 0 1 * * *", /^TZ=Europe\/Berlin \d+ 1 \* \* \*$/],
  ["0-10/5  2,3 * JAN *", /^\d+-\d+\/5 {2}2,3 \* JAN \*$/],
])("%s is moved as a whole", async (schedule, form) => {
  const flags = ["--start", "2026-01-01T00:00:00Z", "--for", "2d"];
  const yaml = many(3, { schedule });
  const changed = await patched(yaml, flags);
  expect(Object.keys(changed)).toHaveLength(2);
  const minutes = (text: string): number[] => {
    const fields = parseSchedule(text);
    const runs: number[] = [];
    const end = Date.parse("2026-01-03");
    for (let at = fields.next(Date.parse("2026-01-01") - 1); at !== undefined && at < end; at = fields.next(at))
      runs.push(at / 60_000);
    return runs;
  };
  const original = minutes(schedule);
  for (const text of Object.values(changed)) {
    expect(text).toMatch(form);
    const moved = minutes(text);
    const by = moved[0]! - original[0]!;
    expect(by).toBeGreaterThan(0);
    expect(moved).toEqual(original.map((minute) => minute + by));
    expect(moved.map((minute) => Math.floor(minute / 60))).toEqual(original.map((minute) => Math.floor(minute / 60)));
  }
});

test("runs that continue after the window overlap with the runs there", async () => {
  const yaml = [
    cronJob({ schedule: "0 23 * * *", name: "late", duration: "90m" }),
    cronJob({ schedule: "0 0 * * *", name: "early", duration: "10m" }),
  ].join("---\n");
  expect(await patched(yaml, ["--for", "1d", "--keep", "late"])).toEqual({
    early: expect.stringMatching(/^(3[1-9]|4\d|5\d) 0 \* \* \*$/),
  });
  const { stdout } = await spread(yaml, ["--for", "1d", "--no-play", "--json", "-"]);
  expect(JSON.parse(stdout)).toMatchObject({ cronJobs: [{ runs: 1 }, { runs: 1 }], peakPods: { before: 2, after: 1 } });
});

test("a live CronJob is moved as well, and simulated from the time of its export", async () => {
  const live = (name: string): string =>
    cronJob({ schedule: "0 * * * *", name }).replace(
      "namespace: default }",
      `namespace: default, uid: uid-of-${name}, creationTimestamp: "2026-02-01T10:20:30Z", resourceVersion: "7" }`,
    );
  const { code, stdout, stderr } = await kubewright(["spread", "-", "--for", "3h"], {
    readStandardInput: async () => `${live("a")}---${live("b")}`,
  });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("2026-02-01T11:00:00Z → 2026-02-01T14:00:00Z (3h, 2 CronJobs)");
  expect(stdout).toMatch(/^most pods at once +2 +1$/m);
});

test("refusals of a ResourceQuota are simulated, before and after", async () => {
  const quota = `
apiVersion: v1
kind: ResourceQuota
metadata: { name: few, namespace: default }
spec: { hard: { pods: "2" } }
`;
  const { code, stdout } = await spread(`${quota}---${many(5, { schedule: "0 * * * *" })}`, ["--for", "1h"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^waited for a quota +3 +0$/m);
});

test("a CronJob without a minute of the hour, or with all of them, stays", async () => {
  const yaml = ["@every 1h", "* * * * *", "0,59 * * * *", "0 * * * *", "0 * * * *"]
    .map((schedule, index) => cronJob({ schedule, name: `job-${index}` }))
    .join("---\n");
  expect(Object.keys(await patched(yaml, ["--for", "3h"]))).toEqual(["job-3"]);
});

test("nothing to move: one CronJob, and none at all", async () => {
  const alone = cronJob({ schedule: "0 * * * *" });
  const { code, stdout, written } = await spread(alone, ["--for", "2h", "--patch", "patch.yaml"]);
  expect(code).toBe(0);
  expect(stdout).toContain("nothing to move: 1 pod at once");
  expect(written["patch.yaml"]).toBe("# Nothing to change.\n");
  const suspended = cronJob({ schedule: "0 * * * *", spec: "suspend: true" });
  expect(await spread(suspended)).toMatchObject({
    code: 2,
    stderr: "kubewright: there is no CronJob to spread, or all are suspended\n",
  });
});

test("where the clock changes by half an hour, no minute is chosen that runs twice or not at all", async () => {
  // On 2026-04-05 the clock of Lord Howe Island goes back from 02:00 to 01:30; on 2026-10-04 it goes from 02:00 to
  // 02:30.
  const yaml = many(40, { schedule: "45 1 * * *", spec: "timeZone: Australia/Lord_Howe" });
  const changed = await patched(yaml, ["--for", "1d"]);
  const minutes = Object.values(changed).map((text) => Number(text.split(" ")[0]));
  expect(minutes.length).toBeGreaterThan(20);
  expect(Math.min(...minutes)).toBeGreaterThanOrEqual(30);
});

test("the same CronJobs in Berlin over the nights when its clock changes run as often in every hour", async () => {
  const yaml = many(8, { schedule: "0 2 * * *", spec: "timeZone: Europe/Berlin" });
  const changed = await patched(yaml, ["--start", "2026-03-27T00:00:00Z", "--for", "2d"]);
  expect(Object.keys(changed).length).toBe(7);
  for (const start of ["2026-03-27T23:30:00Z", "2026-10-23T22:30:00Z"]) {
    const flags = ["--start", start, "--for", "3d"];
    expect(await simulatedHours(applied(yaml, changed), flags)).toEqual(await simulatedHours(yaml, flags));
  }
});

test("a CronJob that the API server refuses is reported once, and with --strict no file is written", async () => {
  const yaml = `${cronJob({ schedule: "0 * * * *" })}---\n${cronJob({ schedule: "0 * * * *", name: "odd", spec: "concurencyPolicy: Forbid" })}`;
  const { code, stderr, written } = await spread(yaml, ["--for", "2h", "--patch", "patch.yaml", "--strict"]);
  expect(code).toBe(2);
  expect(stderr.match(/spec.concurencyPolicy: unknown field/g)).toHaveLength(1);
  expect(written).toEqual({});
});

test("wrong flags are reported in one line", async () => {
  const yaml = cronJob({ schedule: "0 * * * *" });
  expect(await spread(yaml, ["--peak", "few"])).toMatchObject({
    code: 2,
    stderr: 'kubewright: --peak: "few" is not a number of pods; write for example 20\n',
  });
  expect((await spread(yaml, ["--show", "disk"])).stderr).toBe(
    'kubewright: --show: "disk" is not one of starts, pods, cpu, memory\n',
  );
  expect((await spread(yaml, ["--keep", "a/b/c"])).code).toBe(2);
  expect(await spread(yaml, ["--keep", "reprot"])).toMatchObject({
    code: 2,
    stderr: 'kubewright: --keep: "reprot" selects no CronJob that runs\n',
  });
  expect((await spread(yaml, ["--patch", "in.yaml"])).code).toBe(2);
  expect((await kubewright(["spread"])).stderr).toContain("name the CronJobs' manifests");
});

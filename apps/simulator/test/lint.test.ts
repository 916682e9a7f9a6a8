import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { Ajv } from "ajv";
import Ajv04 from "ajv-draft-04";
import addFormats from "ajv-formats";
import { assert, asyncProperty, constantFrom, record } from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";

import { lintRules } from "../../../packages/analysis/src/lint/lint-rules.js";
import { type MemoryIoOptions, type CommandResult, kubewright } from "./memory-io.js";

interface Found {
  readonly rule: string;
  readonly level: "error" | "warning" | "note";
  readonly object: string;
  readonly text: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly help: string;
  readonly proof?: { readonly command: string; readonly shows: string };
}

const FROM = "2026-11-22T15:30:00Z";

interface Parts {
  readonly name?: string;
  readonly schedule?: string;
  /** Fields of the CronJob's spec, as flow-style YAML inside braces. */
  readonly spec?: string;
  /** Fields of the Job's spec. */
  readonly job?: string;
  readonly duration?: string;
  readonly pod?: string;
  readonly resources?: string;
}

function cronJob({
  name = "report",
  schedule = "0 * * * *",
  spec = "timeZone: Etc/UTC",
  job = "backoffLimit: 2",
  duration,
  pod = "restartPolicy: Never",
  resources = "{}",
}: Parts = {}): string {
  const metadata = duration === undefined ? "{}" : `{ annotations: { sim.kubewright.dev/duration: "${duration}" } }`;
  return `apiVersion: batch/v1
kind: CronJob
metadata: { name: ${name} }
spec:
  schedule: "${schedule}"
  ${spec.split("; ").join("\n  ")}
  jobTemplate:
    spec:
      ${job.split("; ").join("\n      ")}
      template:
        metadata: ${metadata}
        spec: { ${pod}, containers: [{ name: c, image: busybox, resources: ${resources} }] }
`;
}

async function lint(
  text: string,
  flags: readonly string[] = [],
  options: MemoryIoOptions = {},
): Promise<CommandResult> {
  return kubewright(["lint", "jobs.yaml", "--from", FROM, ...flags], {
    ...options,
    files: { "jobs.yaml": text, ...options.files },
  });
}

async function findings(text: string, flags: readonly string[] = []): Promise<readonly Found[]> {
  const { stdout, stderr, code } = await lint(text, ["--json", "-", ...flags]);
  expect(code, stderr).not.toBe(2);
  const { findings: found } = JSON.parse(stdout) as { findings: readonly Found[] };
  expect(code).toBe(found.some(({ level }) => level === "error") ? 1 : 0);
  return found;
}

function words(command: string): string[] {
  return [...command.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(
    ([, quoted, plain]) => plain ?? quoted!.replaceAll(`'\\''`, "'"),
  );
}

/** Simulates the proof of a finding. */
async function simulate(command: string, text: string): Promise<CommandResult> {
  const [name, ...args] = words(command);
  expect(name).toBe("kubewright");
  return kubewright(args, { files: { "jobs.yaml": text }, readStandardInput: async () => text });
}

const quota = (hard: string): string =>
  `---\napiVersion: v1\nkind: ResourceQuota\nmetadata: { name: q }\nspec: { hard: ${hard} }\n`;

interface Case {
  readonly rule: string;
  readonly level: Found["level"];
  readonly bad: string;
  /** Almost has the mistake. */
  readonly good: string;
  readonly line: number;
  readonly says: RegExp;
  readonly proved?: true;
}

const zoned = "timeZone: Europe/Berlin";
const forbid = "timeZone: Etc/UTC; concurrencyPolicy: Forbid; startingDeadlineSeconds: ";
const CASES: readonly Case[] = [
  {
    rule: "never-fires",
    level: "error",
    bad: cronJob({ schedule: "0 0 30 2 *" }),
    good: cronJob({ schedule: "0 0 28 2 *" }),
    line: 5,
    says: /no run within five years/,
  },
  {
    rule: "rarely-fires",
    level: "warning",
    bad: cronJob({ schedule: "0 0 29 2 *" }),
    good: cronJob({ schedule: "0 0 1 1 *" }),
    line: 5,
    says: /2028-02-29T00:00:00Z, then at 2032-02-29/,
  },
  {
    rule: "never-starts",
    level: "error",
    bad: cronJob({ schedule: "@every 10m", spec: "startingDeadlineSeconds: 599" }),
    good: cronJob({ schedule: "@every 10m", spec: "startingDeadlineSeconds: 600" }),
    line: 6,
    says: /the 10m of @every/,
    proved: true,
  },
  {
    rule: "lost-at-clock-change",
    level: "warning",
    bad: cronJob({ schedule: "30 2 * * *", spec: zoned }),
    good: cronJob({ schedule: "30 3 * * *", spec: zoned }),
    line: 5,
    says: /2027-03-28 02:30.*, and again within two years/,
    proved: true,
  },
  {
    rule: "lost-at-clock-change",
    level: "warning",
    bad: cronJob({ schedule: "0 0 * * *", spec: "timeZone: Africa/Cairo" }),
    good: cronJob({ schedule: "30 * * * *", spec: zoned }),
    line: 5,
    says: /00:00/,
    proved: true,
  },
  {
    rule: "doubled-at-clock-change",
    level: "warning",
    bad: cronJob({ schedule: "30 2 * * *", spec: zoned }),
    good: cronJob({ schedule: "30 3 * * *", spec: zoned }),
    line: 5,
    says: /twice: 2027-10-31, 02:30 for the second time/,
    proved: true,
  },
  {
    rule: "no-time-zone",
    level: "note",
    bad: cronJob({ spec: "suspend: false" }),
    good: cronJob({ schedule: "@every 5m", spec: "suspend: false" }),
    line: 5,
    says: /the time zone of the machine/,
  },
  {
    rule: "zone-in-schedule",
    level: "error",
    bad: cronJob({ schedule: "CRON_TZ=Asia/Tokyo 0 3 * * *", spec: "suspend: false" }),
    good: cronJob({ schedule: "0 3 * * *", spec: "timeZone: Asia/Tokyo" }),
    line: 5,
    says: /write timeZone: Asia\/Tokyo instead/,
  },
  {
    rule: "short-deadline",
    level: "warning",
    bad: cronJob({ spec: "timeZone: Etc/UTC; startingDeadlineSeconds: 9" }),
    good: cronJob({ spec: "timeZone: Etc/UTC; startingDeadlineSeconds: 10" }),
    line: 7,
    says: /of 9 leaves the controller/,
  },
  {
    rule: "forbid-skips",
    level: "warning",
    bad: cronJob({ spec: `${forbid}60` }),
    good: cronJob({ spec: `${forbid}3600` }),
    line: 8,
    says: /a run that takes more than 1h1m makes the next be skipped/,
    proved: true,
  },
  {
    rule: "forbid-skips",
    level: "warning",
    bad: cronJob({ spec: `${forbid}60`, duration: "30m..62m" }),
    good: cronJob({ spec: `${forbid}60`, duration: "30m..61m" }),
    line: 8,
    says: /more than 1h1m/,
    proved: true,
  },
  {
    rule: "forbid-skips",
    level: "warning",
    bad: cronJob({ spec: `${forbid}60`, duration: "62m" }),
    good: cronJob({ spec: `${forbid}60`, job: "activeDeadlineSeconds: 3660" }),
    line: 8,
    says: /runs take 1h2m at the least.*: it is skipped/,
    proved: true,
  },
  {
    rule: "overlapping-runs",
    level: "warning",
    bad: cronJob({ duration: "61m" }),
    good: cronJob({ duration: "59m" }),
    line: 5,
    says: /side by side \(Allow\)/,
    proved: true,
  },
  {
    rule: "overlapping-runs",
    level: "warning",
    bad: cronJob({ schedule: "@every 5m", spec: "concurrencyPolicy: Allow", duration: "2m", job: "completions: 3" }),
    good: cronJob({ schedule: "@every 5m", spec: "concurrencyPolicy: Forbid", duration: "2m", job: "completions: 3" }),
    line: 6,
    says: /6m at the least and the next is due after 5m/,
    proved: true,
  },
  {
    rule: "overlapping-runs",
    level: "note",
    bad: cronJob({ duration: "5m..61m" }),
    good: cronJob({ duration: "5m..61m", job: "activeDeadlineSeconds: 3600" }),
    line: 5,
    says: /--seeds 1-1000/,
  },
  {
    rule: "replace-never-finishes",
    level: "error",
    bad: cronJob({ spec: "timeZone: Etc/UTC; concurrencyPolicy: Replace", duration: "90m" }),
    good: cronJob({ spec: "timeZone: Etc/UTC; concurrencyPolicy: Replace", duration: "59m" }),
    line: 7,
    says: /replaced after 1h: none ever finishes/,
    proved: true,
  },
  {
    rule: "replace-never-finishes",
    level: "warning",
    bad: cronJob({ schedule: "0,10 * * * *", spec: "timeZone: Etc/UTC; concurrencyPolicy: Replace", duration: "20m" }),
    good: cronJob({ schedule: "0,30 * * * *", spec: "timeZone: Etc/UTC; concurrencyPolicy: Replace", duration: "20m" }),
    line: 7,
    says: /replaced after 10m: those that are followed that soon do not finish/,
    proved: true,
  },
  {
    rule: "hidden-failures",
    level: "warning",
    bad: cronJob({ spec: "timeZone: Etc/UTC; failedJobsHistoryLimit: 0" }),
    good: cronJob({ spec: "timeZone: Etc/UTC; failedJobsHistoryLimit: 1; successfulJobsHistoryLimit: 0" }),
    line: 7,
    says: /as soon as they fail/,
  },
  {
    rule: "ttl-before-history",
    level: "warning",
    bad: cronJob({
      spec: "timeZone: Etc/UTC; failedJobsHistoryLimit: 2; successfulJobsHistoryLimit: 2",
      job: "ttlSecondsAfterFinished: 7199",
    }),
    good: cronJob({
      spec: "timeZone: Etc/UTC; failedJobsHistoryLimit: 2; successfulJobsHistoryLimit: 2",
      job: "ttlSecondsAfterFinished: 7200",
    }),
    line: 11,
    says: /before failedJobsHistoryLimit: 2 does/,
  },
  {
    rule: "ttl-before-history",
    level: "note",
    bad: cronJob({ job: "ttlSecondsAfterFinished: 600" }),
    good: cronJob({ job: "ttlSecondsAfterFinished: 10800" }),
    line: 9,
    says: /failedJobsHistoryLimit: 1, the default,/,
  },
  {
    rule: "backoff-beyond-deadline",
    level: "note",
    bad: cronJob({ job: "activeDeadlineSeconds: 630" }),
    good: cronJob({ job: "activeDeadlineSeconds: 631" }),
    line: 9,
    says: /the default backoffLimit of 6 is never reached: .* 10m30s of waiting/,
    proved: true,
  },
  {
    rule: "backoff-beyond-deadline",
    level: "note",
    bad: cronJob({ job: "activeDeadlineSeconds: 310; backoffLimit: 6", pod: "restartPolicy: OnFailure" }),
    good: cronJob({ job: "activeDeadlineSeconds: 311; backoffLimit: 6", pod: "restartPolicy: OnFailure" }),
    line: 9,
    says: /a backoffLimit of 6 is never reached: .* 5m10s of waiting/,
    proved: true,
  },
  {
    rule: "over-quota",
    level: "error",
    bad: cronJob({ resources: '{ requests: { cpu: "4" } }' }) + quota('{ requests.cpu: "2" }'),
    good: cronJob({ resources: '{ requests: { cpu: "2" } }' }) + quota('{ requests.cpu: "2" }'),
    line: 12,
    says: /no pod can be created: exceeded quota: q, requested: requests.cpu=4/,
    proved: true,
  },
  {
    rule: "over-quota",
    level: "error",
    bad: cronJob() + quota("{ requests.memory: 1Gi }"),
    good: cronJob() + quota('{ pods: "1" }'),
    line: 12,
    says: /must specify requests.memory/,
    proved: true,
  },
  {
    rule: "over-quota",
    level: "warning",
    bad: cronJob({ job: "completions: 3; parallelism: 3" }) + quota('{ pods: "2" }'),
    good: cronJob({ job: "completions: 2; parallelism: 2" }) + quota('{ pods: "2" }'),
    line: 13,
    says: /no more than 2 can be created at first: exceeded quota/,
    proved: true,
  },
  {
    rule: "restart-policy",
    level: "error",
    bad: cronJob({ pod: "hostNetwork: false" }),
    good: cronJob({ pod: "restartPolicy: OnFailure" }),
    line: 12,
    says: /restartPolicy/,
  },
  {
    rule: "restart-policy",
    level: "error",
    bad: cronJob({ pod: "restartPolicy: Always" }),
    good: cronJob({ pod: "restartPolicy: Never" }),
    line: 12,
    says: /valid values: "OnFailure", "Never"/,
  },
  {
    rule: "long-name",
    level: "error",
    bad: cronJob({ name: "n".repeat(53) }),
    good: cronJob({ name: "n".repeat(52) }),
    line: 3,
    says: /52/,
  },
  {
    rule: "unknown-field",
    level: "error",
    bad: cronJob({ spec: "timezone: Etc/UTC" }),
    good: cronJob({ spec: "timeZone: Etc/UTC" }),
    line: 6,
    says: /did you mean "timeZone"/,
  },
  {
    rule: "removed-version",
    level: "error",
    bad: cronJob().replace("batch/v1", "batch/v1beta1"),
    good: cronJob(),
    line: 1,
    says: /removed in Kubernetes 1\.25/,
  },
  {
    rule: "refused",
    level: "error",
    bad: cronJob({ schedule: "61 * * * *" }),
    good: cronJob({ schedule: "59 * * * *" }),
    line: 5,
    says: /61/,
  },
];

test.each(CASES.map((each, index) => [`${each.rule} (${index})`, each] as const))(
  "%s is found where it is, and not where it nearly is",
  async (_name, { rule, level, bad, good, line, says, proved }) => {
    const found = (await findings(bad)).find((each) => each.rule === rule);
    expect(found, JSON.stringify(await findings(bad))).toMatchObject({ level, file: "jobs.yaml", line });
    expect(found!.text).toMatch(says);
    expect(found!.object).toMatch(/^CronJob default\/(report|n+)$/);
    expect((await findings(good)).map((each) => each.rule)).not.toContain(rule);
    expect(found!.proof !== undefined).toBe(proved ?? false);
    if (found!.proof === undefined) return;
    const { command, shows } = found!.proof;
    const { code, stdout, stderr } = await simulate(command, bad);
    expect(stdout + stderr, command).toContain(shows);
    expect(code).toBe(command.includes("--fail-on") ? 1 : 0);
    // The same window without the mistake does not show it, unless the command makes all runs that long or makes them
    // fail.
    const other = await simulate(command, good);
    const isMadeUp = command.includes("--duration");
    expect(isMadeUp || !(other.stdout + other.stderr).includes(shows), command).toBe(true);
  },
);

test.each(["0 * * * *", "*/20 * * * *", "30 * * * *", "0 0-5 * * *", "@every 1h"])(
  "the schedule %s, which fires every hour, neither loses nor doubles a run when the clock changes",
  async (schedule) => {
    expect(await findings(cronJob({ schedule, spec: zoned }))).toEqual([]);
  },
);

/** Random combinations of schedules and settings from which proofs are built. */
const odd = record({
  schedule: constantFrom(
    "*/7 * * * *",
    "@every 50m",
    "5 0,1,3 * * *",
    "15 2 * * SUN",
    "0 9,10 1 * *",
    "59 23 L * *",
    "30 1 * * *",
  ),
  zone: constantFrom("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Casablanca"),
  policy: constantFrom("Allow", "Forbid", "Replace"),
  deadline: constantFrom(undefined, 5, 60, 600),
  duration: constantFrom(undefined, "90s", "8m..9m", "55m", "26h"),
  job: constantFrom(
    "completions: 1",
    "completions: 3",
    "activeDeadlineSeconds: 100",
    "backoffLimit: 0; activeDeadlineSeconds: 4000",
  ),
  pod: constantFrom("restartPolicy: Never", "restartPolicy: OnFailure"),
  from: constantFrom(FROM, "2026-10-24T23:59:30.500Z", "2027-03-27T12:00:00Z"),
});

test("every proof shows what it says, for any schedule, time zone and time", { timeout: 240_000 }, async () => {
  let simulated = 0;
  await assert(
    asyncProperty(odd, async ({ schedule, zone, policy, deadline, duration, job, pod, from }) => {
      const spec = [`timeZone: ${zone}`, `concurrencyPolicy: ${policy}`];
      if (deadline !== undefined) spec.push(`startingDeadlineSeconds: ${deadline}`);
      const parts = { schedule, spec: spec.join("; "), job, pod };
      const text = cronJob(duration === undefined ? parts : { ...parts, duration });
      for (const { rule, proof } of await findings(text, ["--from", from])) {
        if (proof === undefined) continue;
        const { code, stdout, stderr } = await simulate(proof.command, text);
        const said = stdout + stderr;
        expect({ rule, said, shown: said.includes(proof.shows) }).toMatchObject({ shown: true });
        expect(code).toBe(proof.command.includes("--fail-on") ? 1 : 0);
        simulated++;
      }
    }),
    { numRuns: 150, seed: 17, endOnFailure: true },
  );
  expect(simulated).toBeGreaterThan(90);
});

test("values of the wrong type cause no error", { timeout: 240_000 }, async () => {
  const whole = parse(
    cronJob({
      spec: `${forbid}60; failedJobsHistoryLimit: 0`,
      job: "ttlSecondsAfterFinished: 5; completions: 2",
      duration: "61m",
    }),
  ) as Record<string, unknown>;
  for (const path of pathsIn(whole))
    for (const value of [null, 5, -1, "x", [], {}, true]) {
      const { code, stderr } = await lint(JSON.stringify(replaced(whole, path, value)));
      expect([0, 1, 2], path.join(".")).toContain(code);
      expect(stderr, path.join(".")).not.toContain("internal error");
    }
});

function pathsIn(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[key], ...pathsIn(inner).map((rest) => [key, ...rest])]);
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  const copy = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) };
  (copy as Record<string, unknown>)[key] = replaced((value as Record<string, unknown>)[key], rest, by);
  return copy;
}

test("objects of a cluster are not checked by rules for new objects, and Jobs of a CronJob are not checked", async () => {
  const stored = (uid: string): string =>
    `uid: ${uid}, resourceVersion: "7", creationTimestamp: "2026-01-01T00:00:00Z"`;
  const spec = { schedule: "TZ=Asia/Tokyo 0 3 * * *", spec: "suspend: false", duration: "25h" };
  const live = cronJob(spec).replace("name: report", `name: report, ${stored("u-1")}`);
  const owner = "{ apiVersion: batch/v1, kind: CronJob, name: report, uid: u-1, controller: true }";
  const job = `---
apiVersion: batch/v1
kind: Job
metadata: { name: report-1, ${stored("u-2")}, ownerReferences: [${owner}] }
spec: { activeDeadlineSeconds: 5, template: { spec: { restartPolicy: Never } } }
`;
  const found = await findings(live + job);
  expect(found.map(({ rule, proof }) => [rule, proof])).toEqual([
    ["zone-in-schedule", undefined],
    ["overlapping-runs", undefined],
  ]);
});

test("every rule has a case, and a chapter in the documentation that its findings lead to", () => {
  const names = lintRules.map(({ name }) => name);
  expect([...new Set(CASES.map(({ rule }) => rule))].sort()).toEqual([...names].sort());
  const docs = readFileSync(new URL("../../../docs/lint.md", import.meta.url), "utf8");
  expect([...docs.matchAll(/^### (\S+)$/gm)].map(([, name]) => name)).toEqual(names);
});

const DOCUMENTED = `apiVersion: batch/v1
kind: CronJob
metadata:
  name: hello
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      template:
        spec:
          containers:
          - name: hello
            image: busybox:1.28
            imagePullPolicy: IfNotPresent
            command: [/bin/sh, -c, date; echo Hello from the Kubernetes cluster]
          restartPolicy: OnFailure
---
apiVersion: batch/v1
kind: Job
metadata:
  name: pi
spec:
  template:
    spec:
      containers:
      - name: pi
        image: perl:5.34.0
        command: ["perl",  "-Mbignum=bpi", "-wle", "print bpi(2000)"]
      restartPolicy: Never
  backoffLimit: 4
---
apiVersion: batch/v1
kind: Job
metadata:
  name: pi-with-timeout
spec:
  backoffLimit: 5
  activeDeadlineSeconds: 100
  template:
    spec:
      containers:
      - name: pi
        image: perl:5.34.0
      restartPolicy: Never
---
apiVersion: batch/v1
kind: Job
metadata:
  name: pi-with-ttl
spec:
  ttlSecondsAfterFinished: 100
  template:
    spec:
      containers:
      - name: pi
        image: perl:5.34.0
      restartPolicy: Never
---
apiVersion: batch/v1
kind: Job
metadata:
  name: indexed-job
spec:
  completions: 5
  parallelism: 3
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      initContainers:
      - name: 'input'
        image: 'docker.io/library/bash'
        volumeMounts: [{ mountPath: /input, name: input }]
      containers:
      - name: 'worker'
        image: 'docker.io/library/busybox'
        volumeMounts: [{ mountPath: /input, name: input }]
      volumes:
      - name: input
        emptyDir: {}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: job-backoff-limit-per-index-example
spec:
  completions: 10
  parallelism: 3
  completionMode: Indexed
  backoffLimitPerIndex: 1
  maxFailedIndexes: 5
  template:
    spec:
      restartPolicy: Never
      containers: [{ name: example, image: python }]
---
apiVersion: batch/v1
kind: Job
metadata:
  name: job-pod-failure-policy-example
spec:
  completions: 12
  parallelism: 3
  template:
    spec:
      restartPolicy: Never
      containers: [{ name: main, image: docker.io/library/bash:5 }]
  backoffLimit: 6
  podFailurePolicy:
    rules:
    - action: FailJob
      onExitCodes: { containerName: main, operator: In, values: [42] }
    - action: Ignore
      onPodConditions: [{ type: DisruptionTarget }]
---
apiVersion: batch/v1
kind: Job
metadata:
  name: job-success-policy
spec:
  parallelism: 10
  completions: 10
  completionMode: Indexed
  successPolicy:
    rules:
      - succeededIndexes: 0,2-3
        succeededCount: 1
  template:
    spec:
      containers: [{ name: main, image: python }]
      restartPolicy: Never
---
apiVersion: batch/v1
kind: Job
metadata:
  name: job-wq-1
spec:
  completions: 8
  parallelism: 2
  template:
    metadata:
      name: job-wq-1
    spec:
      containers: [{ name: c, image: registry.k8s.io/job-wq-1, env: [{ name: QUEUE, value: job1 }] }]
      restartPolicy: OnFailure
---
apiVersion: batch/v1
kind: Job
metadata:
  name: myjob
spec:
  suspend: true
  parallelism: 1
  completions: 5
  template:
    spec:
      containers: [{ name: main, image: busybox }]
      restartPolicy: Never
`;

test("the examples of Kubernetes' documentation have notes, and neither errors nor warnings", async () => {
  const { code, stdout, stderr } = await lint(DOCUMENTED);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("jobs.yaml:6:13: note: CronJob default/hello: no timeZone: ");
  expect(stdout.trimEnd().split("\n").at(-1)).toBe("2 notes in 1 CronJob, 9 Jobs");
});

test("the proof of a Job is simulated as well", async () => {
  const [found] = await findings(DOCUMENTED.split("---\n")[2]!);
  expect(found).toMatchObject({ rule: "backoff-beyond-deadline", object: "Job default/pi-with-timeout" });
  const { code, stderr } = await simulate(found!.proof!.command, DOCUMENTED);
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("DeadlineExceeded") as string });
});

test("a finding has its place, rule, proof and documentation", async () => {
  const { code, stdout, stderr } = await lint(cronJob({ duration: "61m" }), ["--fail-on", "warning"]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "kubewright: lint: 1 warning\n" });
  expect(stdout)
    .toBe(`jobs.yaml:5:13: warning: CronJob default/report: runs take 1h1m at the least and the next is due after 1h: they are active side by side (Allow); space them, or choose Forbid or Replace [overlapping-runs]
  shown by: kubewright run jobs.yaml --start 2026-11-22T15:59:00Z --for 1h2m --fail-on default/report:overlap
  https://github.com/kubewright/kubewright/blob/main/docs/lint.md#overlapping-runs

1 warning in 1 CronJob
`);
});

test.each([
  [[], 0],
  [["--fail-on", "error"], 0],
  [["--fail-on", "warning"], 1],
  [["--fail-on", "note"], 1],
] as const)("a warning with %j ends with status %i", async (flags, status) => {
  const { code, stderr } = await lint(cronJob({ duration: "61m" }), flags);
  expect({ code, stderr }).toEqual({ code: status, stderr: status === 0 ? "" : "kubewright: lint: 1 warning\n" });
});

test("an error ends with status 1", async () => {
  expect((await lint(cronJob({ schedule: "0 0 30 2 *" }))).code).toBe(1);
});

test("--fail-on accepts only levels", async () => {
  expect(await lint(cronJob(), ["--fail-on", "warn"])).toMatchObject({
    code: 2,
    stderr: 'kubewright: --fail-on: "warn" is not a level; write error, warning, note\n',
  });
});

test("no-time-zone is reported once per file, with the number of the others", async () => {
  const text = ["a", "b", "c"].map((name) => cronJob({ name, spec: "suspend: false" })).join("---\n");
  const found = await findings(text);
  expect(found.map(({ rule, object }) => [rule, object])).toEqual([["no-time-zone", "CronJob default/a"]]);
  expect(found[0]!.text).toMatch(/; the same for 2 more in this file, the next is CronJob default\/b$/);
});

test("forbid-skips reports a daily run only if its duration is known", async () => {
  const daily = {
    schedule: "30 4 * * *",
    spec: "timeZone: Etc/UTC; concurrencyPolicy: Forbid; startingDeadlineSeconds: 600",
  };
  expect(await findings(cronJob(daily))).toEqual([]);
  const found = await findings(cronJob({ ...daily, duration: "25h" }));
  expect(found.map(({ rule }) => rule)).toEqual(["forbid-skips"]);
});

test("nothing found ends with status 0", async () => {
  const { code, stdout, stderr } = await lint(cronJob());
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "nothing found in 1 CronJob\n", stderr: "" });
});

const two = `${cronJob({ spec: "suspend: false", schedule: "0 0 29 2 *" })}---\n${cronJob({ name: "other", spec: "suspend: false" })}`;

test.each([
  ["nowhere", two, ["rarely-fires", "no-time-zone"]],
  ["at the top of the file", `# kubewright-lint-disable no-time-zone\n${two}`, ["rarely-fires"]],
  ["at the top, of several", `# Ours\n# kubewright-lint-disable rarely-fires, no-time-zone\n---\n${two}`, []],
  [
    "on the line before",
    two.replace("  schedule", "  # kubewright-lint-disable rarely-fires\n  # Leap years only.\n  schedule"),
    ["no-time-zone"],
  ],
  [
    "before the object",
    two.replace("---\n", "---\n# kubewright-lint-disable no-time-zone\n"),
    ["rarely-fires", "no-time-zone"],
  ],
  ["two lines before", two.replace("metadata", "# kubewright-lint-disable rarely-fires\nmetadata"), undefined],
])("a rule is switched off by a comment %s", async (_where, text, left) => {
  const rules = (await findings(text)).map(({ rule }) => rule);
  expect(rules).toEqual(left ?? ["rarely-fires", "no-time-zone"]);
});

test("comments count in what comes through standard input", async () => {
  const options = { readStandardInput: async () => `# kubewright-lint-disable rarely-fires no-time-zone\n${two}` };
  expect(await kubewright(["lint", "-", "--from", FROM], options)).toMatchObject({ code: 0, stderr: "" });
});

test("a comment that names no rule, or none that there is, is a mistake with its place", async () => {
  const { code, stderr } = await lint(`# kubewright-lint-disable no-timezone\n# kubewright-lint-disable\n${two}`);
  expect(code).toBe(2);
  expect(stderr).toContain(
    'kubewright: jobs.yaml:1: kubewright-lint-disable: there is not a rule "no-timezone"; did you mean "no-time-zone"?\n',
  );
  expect(stderr).toContain("kubewright: jobs.yaml:2: kubewright-lint-disable names no rule\n");
});

test("the project file says what to look at, how long runs take, and which rules are off", async () => {
  const project = (disable: string): MemoryIoOptions => ({
    files: {
      "jobs.yaml": cronJob({ spec: "suspend: false" }),
      ".kubewright.yaml": `input: [jobs.yaml]\nworkloads: [{ select: { name: report }, duration: 61m }]\nlint: { disable: [${disable}] }\n`,
    },
  });
  const { code, stdout } = await kubewright(["lint", "--from", FROM, "--fail-on", "warning"], project("no-time-zone"));
  expect(code).toBe(1);
  expect(stdout).toContain("1 warning in 1 CronJob");
  const command = /shown by: (.*)/.exec(stdout)![1]!;
  const simulated = await simulate(command, cronJob({ spec: "suspend: false" }));
  expect(simulated).toMatchObject({ code: 1, stderr: expect.stringContaining("overlap: default/report") as string });
  expect((await kubewright(["lint", "--from", FROM], project("no-time-zone, overlapping-runs"))).code).toBe(0);
  const wrong = await kubewright(["lint", "jobs.yaml"], project("overlaping-runs"));
  expect(wrong).toMatchObject({
    code: 2,
    stderr:
      'kubewright: .kubewright.yaml: lint.disable: there is not a rule "overlaping-runs"; did you mean "overlapping-runs"?\n',
  });
});

test("how long runs take can be said on the command line, and the proof says it too", async () => {
  const [found] = await findings(cronJob(), ["--duration", "report=90m"]);
  expect(found!.proof!.command).toContain("--duration 'default/report=90m' --fail-on default/report:overlap");
  expect((await simulate(found!.proof!.command, cronJob())).code).toBe(1);
});

test.each([
  ["-", "kubewright run - --start"],
  ["overlays/our team", "kubewright run 'overlays/our team' --start"],
])("what comes from %s is proved with what comes from there", async (path, begin) => {
  const text = cronJob({ duration: "61m" });
  const options: MemoryIoOptions = {
    readStandardInput: async () => text,
    listFolder: async (folder) => (folder === path ? [{ name: "kustomization.yaml", isFolder: false }] : undefined),
    execute: async () => ({ status: 0, stdout: text, stderr: "" }),
  };
  const { code, stdout } = await kubewright(["lint", path, "--from", FROM, "--json", "-"], options);
  expect(code).toBe(0);
  const [found] = (JSON.parse(stdout) as { findings: readonly Found[] }).findings;
  const { command, shows } = found!.proof!;
  expect(command.startsWith(begin), command).toBe(true);
  const simulated = await kubewright(words(command).slice(1), options);
  expect(simulated).toMatchObject({ code: 1, stderr: expect.stringContaining(shows) as string });
});

test("a file with an object that Kubernetes refuses has no proofs: it cannot be simulated", async () => {
  const wrong = "---\napiVersion: batch/v1\nkind: Job\nmetadata: { name: wrong }\nspec: { completion: 5 }\n";
  const found = await findings(cronJob({ duration: "61m" }) + wrong);
  expect(found.map(({ rule, proof }) => [rule, proof])).toContainEqual(["overlapping-runs", undefined]);
  expect(found.map(({ rule, object }) => [rule, object])).toContainEqual(["unknown-field", "Job default/wrong"]);
});

test("a zone in the schedule is reported once, with the time zone to write", async () => {
  const text = cronJob({ schedule: "TZ=Asia/Tokyo 0 3 * * *", spec: "suspend: false" });
  expect((await findings(text)).map(({ rule }) => rule)).toEqual(["zone-in-schedule"]);
});

test("a run that comes twice when the clock goes back does not make a daily period an hour", async () => {
  const spec = "timeZone: America/New_York; concurrencyPolicy: Forbid; startingDeadlineSeconds: 600";
  const found = await findings(cronJob({ schedule: "30 1 * * *", spec, duration: "23h..25h" }));
  expect(found.find(({ rule }) => rule === "forbid-skips")!.text).toMatch(/takes more than 1d makes/);
});

test("of two objects of one name, the one that is refused is named", async () => {
  const elsewhere = cronJob().replace("name: report", "name: report, namespace: billing");
  const found = await findings(`${elsewhere}---\n${cronJob({ spec: "timezone: Etc/UTC" })}`);
  expect(found.find(({ rule }) => rule === "unknown-field")).toMatchObject({
    object: "CronJob default/report",
    line: 19,
  });
});

test("a PriorityClass that is not in the manifests is no finding for a pod in a namespace with a quota", async () => {
  const pod = "restartPolicy: Never, priorityClassName: ours";
  expect(await findings(cronJob({ pod }) + quota('{ pods: "1" }'))).toEqual([]);
});

test.each([
  [[], "kubewright: name manifest files or folders: kubewright lint PATH…; or write a .kubewright.yaml\n"],
  [["gone.yaml"], "kubewright: gone.yaml: no such file or folder\n"],
  [["empty.yaml"], "kubewright: empty.yaml: no CronJob and no Job found\n"],
  [["jobs.yaml", "--from", "now"], 'kubewright: --from: "now" is not a time; write for example 2026-03-28T22:00:00Z\n'],
  [["jobs.yaml", "--json", "jobs.yaml"], /--json: jobs\.yaml is already in use/],
  [["jobs.yaml", "--duration", "gone=5m"], /--duration: "gone=5m" selects nothing; there is default\/report/],
])("wrong input ends with status 2 and one line: %j", async (args, message) => {
  const { code, stderr } = await kubewright(["lint", ...args], {
    files: { "jobs.yaml": cronJob(), "empty.yaml": "" },
  });
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});

test("unreadable input has priority over findings, and no report is written", async () => {
  const { code, stderr, written } = await kubewright(
    ["lint", "jobs.yaml", "bad.yaml", "--json", "a.json", "--sarif", "a.sarif"],
    { files: { "jobs.yaml": cronJob({ duration: "61m" }), "bad.yaml": "kind: [" } },
  );
  expect({ code, written }).toEqual({ code: 2, written: {} });
  expect(stderr).toMatch(/^kubewright: bad\.yaml:1:/);
});

const sarifFile = createRequire(import.meta.url).resolve("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json");

test("the JSON object is as its schema says, with proofs and without", async () => {
  const ajv = new Ajv();
  addFormats.default(ajv);
  const file = new URL("../lint.schema.json", import.meta.url);
  const isLint = ajv.compile(JSON.parse(readFileSync(file, "utf8")) as object);
  const { written, stdout } = await lint(two + `---\n${cronJob({ name: "long", duration: "2h" })}`, [
    "--json",
    "lint.json",
  ]);
  const document = JSON.parse(written["lint.json"]!) as object;
  expect(isLint(document), JSON.stringify(isLint.errors)).toBe(true);
  expect(document).toMatchObject({
    lintVersion: 1,
    from: FROM,
    checked: { cronJobs: 3, jobs: 0 },
    errors: 0,
    warnings: 2,
    notes: 1,
  });
  expect(stdout).toContain("2 warnings, 1 note in 3 CronJobs");
});

test("after a stop it prints its findings, with status 130 and no report", async () => {
  const stopped = AbortSignal.abort();
  const { code, stderr, written } = await lint(cronJob({ duration: "61m" }), ["--json", "lint.json"], { stopped });
  expect({ code, stderr, written }).toEqual({
    code: 130,
    stderr: "kubewright: stopped before all was looked at\n",
    written: {},
  });
});

test("a SARIF file has every rule, and every finding at its place", async () => {
  const ajv = new Ajv04.default({ strict: false, unicodeRegExp: false });
  addFormats.default(ajv);
  const isSarif = ajv.compile(JSON.parse(readFileSync(sarifFile, "utf8")) as object);
  const { written } = await lint(two, ["--sarif", "lint.sarif"]);
  const sarif = JSON.parse(written["lint.sarif"]!) as {
    runs: { tool: { driver: { rules: { id: string }[] } }; results: object[] }[];
  };
  expect(isSarif(sarif), JSON.stringify(isSarif.errors)).toBe(true);
  expect(sarif.runs[0]!.tool.driver.rules.map(({ id }) => id)).toEqual(lintRules.map(({ name }) => name));
  expect(sarif.runs[0]!.results[0]).toMatchObject({
    ruleId: "rarely-fires",
    level: "warning",
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: "jobs.yaml" }, region: { startLine: 5, startColumn: 13 } },
        logicalLocations: [{ fullyQualifiedName: "default/report" }],
      },
    ],
  });
});

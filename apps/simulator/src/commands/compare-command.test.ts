import { expect, test } from "vitest";

import { type CommandResult, kubewright } from "../../test/memory-io.js";

interface World {
  readonly columns?: number;
  readonly stopped?: AbortSignal;
  /** Further files. */
  readonly more?: Readonly<Record<string, string>>;
}

async function compare(
  /** Absent: no file of that side on the command line. */
  a: string | undefined,
  b: string,
  flags: readonly string[] = [],
  { columns = 0, stopped = new AbortController().signal, more = {} }: World = {},
): Promise<CommandResult> {
  const files: Record<string, string> = { ...(a === undefined ? {} : { "a.yaml": a }), "b.yaml": b, ...more };
  return kubewright(["run", ...(a === undefined ? [] : ["a.yaml"]), "--against", "b.yaml", ...flags], {
    files,
    columns,
    stopped,
  });
}

const cronJob = (spec: string, { name = "report", duration = "30s" } = {}): string => `
apiVersion: batch/v1
kind: CronJob
metadata: { name: ${name} }
spec:
  ${spec}
  jobTemplate:
    spec:
      template:
        metadata: { annotations: { sim.kubewright.dev/duration: ${duration} } }
        spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
`;

const job = (name: string, annotations: string, backoffLimit = 6): string => `
apiVersion: batch/v1
kind: Job
metadata: { name: ${name} }
spec:
  backoffLimit: ${backoffLimit}
  template:
    metadata: { annotations: { ${annotations} } }
    spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
`;

const hourly = cronJob('schedule: "0 * * * *"');

test("the same manifests do the same", async () => {
  const { code, stdout, stderr } = await compare(hourly, hourly, ["--for", "6h"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("1 other does the same in both");
  expect(stdout).toContain("Runs  6 in A, 6 in B: 6 the same, 0 different, 0 only in A, 0 only in B");
});

test("another schedule: which runs each has alone, and what was changed", async () => {
  const { stdout } = await compare(hourly, cronJob('schedule: "0 */2 * * *"'), ["--for", "4h"]);
  expect(stdout).toContain('  spec.schedule: "0 * * * *" → "0 */2 * * *"\n');
  expect(stdout).toMatch(/^- 2026-01-01 01:00 +Complete in \d+s +not scheduled$/m);
  expect(stdout).toMatch(/^- 2026-01-01 03:00 /m);
  expect(stdout).not.toContain("2026-01-01 02:00");
  expect(stdout).toContain("4 in A, 2 in B: 2 the same, 0 different, 2 only in A, 0 only in B");
});

test("another zone over a DST night: the run that one zone loses, the other has", async () => {
  const nightly = (zone: string): string => cronJob(`schedule: "30 2 * * *"\n  timeZone: ${zone}`);
  const flags = ["--start", "2026-03-28T00:00:00Z", "--for", "3d"];
  const { stdout } = await compare(nightly("Europe/Berlin"), nightly("UTC"), flags);
  expect(stdout).toContain('spec.timeZone: "Europe/Berlin" → "UTC"');
  const marks = stdout.split("\n").filter((line) => /^[-+~] \d/.test(line));
  // Berlin has no 02:30 on the 29th; on the 30th it is an hour earlier in UTC than before.
  expect(marks.map((line) => line.slice(0, 18))).toEqual([
    "- 2026-03-28 01:30",
    "+ 2026-03-28 02:30",
    "+ 2026-03-29 02:30",
    "- 2026-03-30 00:30",
    "+ 2026-03-30 02:30",
  ]);
});

test("another concurrency policy: the slot that is skipped, by what, and the one that starts late", async () => {
  const every = (policy: string): string =>
    cronJob(`schedule: "*/10 * * * *"\n  concurrencyPolicy: ${policy}`, { duration: "14m" });
  const { stdout } = await compare(every("Allow"), every("Forbid"), ["--for", "1h"]);
  expect(stdout).toContain('spec.concurrencyPolicy: "Allow" → "Forbid"');
  expect(stdout).toMatch(/^~ 2026-01-01 00:10 +Complete in 14m\d*s? +Complete in 14m\d*s?, started 4m\d*s? late$/m);
  expect(stdout).toMatch(/^~ 2026-01-01 00:30 +Complete in 14m\d*s? +skipped: report-\d+ still active \(Forbid\)$/m);
});

test("suspended in one: every slot is skipped there", async () => {
  const { stdout } = await compare(hourly, cronJob('schedule: "0 * * * *"\n  suspend: true'), ["--for", "2h"]);
  expect(stdout).toMatch(/^~ 2026-01-01 01:00 +Complete in \d+s +skipped: suspended$/m);
  expect(stdout).toContain("2 in A, 0 in B: 0 the same, 2 different");
});

test("a Job with another backoffLimit: outcome, duration and failed pods", async () => {
  const failing = 'sim.kubewright.dev/exit-code: "1"';
  const { stdout } = await compare(job("work", failing, 1), job("work", failing, 2));
  expect(stdout).toContain("spec.backoffLimit: 1 → 2");
  expect(stdout).toMatch(
    /^~ 2026-01-01 00:00 +Failed after \d+s: BackoffLimitExceeded, 2 p.* {2}Failed after 1m\d*s?: BackoffLimitExceeded, 3 p/m,
  );
});

test("objects of only one side are marked", async () => {
  const { stdout } = await compare(hourly, cronJob('schedule: "0 * * * *"', { name: "other" }), ["--for", "2h"]);
  expect(stdout).toContain("CronJob default/report  only in A");
  expect(stdout).toContain("CronJob default/other  only in B");
});

test("lines keep to the width, and on a narrow terminal the sides stand below each other", async () => {
  const other = cronJob('schedule: "30 * * * *"');
  const wide = await compare(hourly, other, ["--for", "2h"], { columns: 80 });
  expect(
    Math.max(
      ...wide.stdout
        .split("\n")
        .slice(4)
        .map((line) => line.length),
    ),
  ).toBeLessThanOrEqual(80);
  const narrow = await compare(hourly, other, ["--for", "2h"], { columns: 50 });
  expect(narrow.stdout).toMatch(/^\+ 2026-01-01 00:30\n {4}A {2}not scheduled\n {4}B {2}Complete in \d+s$/m);
});

test("--json - writes the comparison as JSON lines and nothing else", async () => {
  const { code, stdout } = await compare(hourly, cronJob('schedule: "30 * * * *"'), ["--for", "2h", "--json", "-"]);
  expect(code).toBe(0);
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines[0]).toEqual({
    type: "header",
    comparisonVersion: 1,
    a: ["a.yaml"],
    b: ["b.yaml"],
    start: "2026-01-01T00:00:00.000Z",
    end: "2026-01-01T02:00:00.000Z",
    seed: 1,
    timeZoneData: "test",
  });
  expect(lines[1]).toMatchObject({ type: "change", field: "spec.schedule", after: "30 * * * *" });
  expect(lines[2]).toMatchObject({ type: "difference", difference: "onlyA", slot: "2026-01-01T00:00:00.000Z" });
  expect(lines[3]).toMatchObject({
    type: "difference",
    difference: "onlyB",
    slot: "2026-01-01T00:30:00.000Z",
    b: { outcome: "Complete", failedPods: 0 },
    absent: "notScheduled",
  });
  expect(lines.at(-1)).toEqual({ type: "summary", a: 2, b: 2, same: 0, different: 0, onlyA: 2, onlyB: 2 });
});

test("--json FILE writes it beside the text", async () => {
  const { stdout, written } = await compare(hourly, hourly, ["--for", "2h", "--json", "diff.jsonl"]);
  expect(stdout).toContain("2 in A, 2 in B: 2 the same");
  expect(written["diff.jsonl"]).toMatch(/^\{"type":"header"/);
});

test("a scenario applies to both sides, and changed manifests replace its own", async () => {
  const scenario = `
apiVersion: sim.kubewright.dev/v1
kind: Scenario
name: outage
start: 2026-01-01T00:30:00Z
for: 5h
manifests:
  - ${hourly.trim().replaceAll("\n", "\n    ")}
  - ${job("constant", "a: b").trim().replaceAll("\n", "\n    ")}
events:
  - at: +45m
    for: 2h
    controllerDown: cronjob-controller
`;
  const changed = cronJob('schedule: "0 * * * *"\n  startingDeadlineSeconds: 60');
  const more = { "s.yaml": scenario };
  const { code, stdout, stderr } = await compare(undefined, changed, ["--scenario", "s.yaml"], { more });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("A: s.yaml\nB: b.yaml\n");
  expect(stdout).toContain("spec.startingDeadlineSeconds: not set → 60");
  expect(stdout).toMatch(
    /^~ 2026-01-01 03:00 +Complete in \d+s, started 15m\d*s? late +skipped: startingDeadlineSeconds passed$/m,
  );
  expect(stdout).toContain("1 other does the same in both");
});

test.each([
  [
    "a report that is one of the files",
    ["--html", "b.yaml"],
    "--html: b.yaml is already in use by this command; name another file",
  ],
  ["a file that is not there", ["--against", "gone.yaml"], "gone.yaml: no such file or folder"],
])("%s is refused in one line, status 2", async (_title, flags, message) => {
  const { code, stdout, stderr } = await compare(hourly, hourly, flags);
  expect([code, stdout, stderr]).toEqual([2, "", `kubewright: ${message}\n`]);
});

test("objects of the other side that the API server refuses are reported with their places", async () => {
  const { code, stderr } = await compare(hourly, cronJob('schedule: "61 * * * *"'), ["--for", "1h"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^kubewright: b\.yaml:\d+:13: CronJob report: spec\.schedule: .*\n$/);
});

test("stopped before the end, there is nothing to compare", async () => {
  const { code, stdout, stderr } = await compare(hourly, hourly, ["--for", "1d"], { stopped: AbortSignal.abort() });
  expect([code, stdout]).toEqual([130, ""]);
  expect(stderr).toMatch(/^kubewright: stopped in A after .*: nothing to compare\n$/);
});

test("slots use the time zone of both sides, and replaced runs name their replacement", async () => {
  const berlin = (policy: string): string =>
    cronJob(`schedule: "*/10 * * * *"\n  timeZone: Europe/Berlin\n  concurrencyPolicy: ${policy}`, { duration: "14m" });
  const { stdout } = await compare(berlin("Allow"), berlin("Replace"), ["--for", "1h"]);
  expect(stdout).toContain("CronJob default/report  slots in Europe/Berlin\n");
  expect(stdout).toMatch(/^~ 2026-01-01 01:10 +Complete in 14m1s +Deleted after 10m: replaced by report-\d+$/m);
});

import { expect, test } from "vitest";

import { kubewright } from "./memory-io.js";

const cronJob = (name: string, schedule = "0 * * * *"): string => `apiVersion: batch/v1
kind: CronJob
metadata: { name: ${name} }
spec:
  schedule: "${schedule}"
  jobTemplate:
    spec:
      template:
        spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
`;
const SERVICE =
  "apiVersion: v1\nkind: Service\nmetadata: { name: web }\nspec: { ports: [{ port: 99999999, targetPort: 80 }] }\n";
const QUOTA = "apiVersion: v1\nkind: ResourceQuota\nmetadata: { name: q }\nspec: { hard: { pods: -1 } }\n";
const BROKEN = "apiVersion: batch/v1\nkind: CronJob\nmetadata: { name: [ }\n";

type Files = Readonly<Record<string, string>>;

async function run(files: Files, args: readonly string[] = []) {
  return kubewright(["run", ...Object.keys(files), "--for", "2h", ...args], { files });
}

function foundLine(stdout: string): string | undefined {
  return stdout.split("\n")[1];
}

test("the output begins with what was found, and that all of it runs", async () => {
  const one = await run({ "a.yaml": cronJob("a") });
  expect(foundLine(one.stdout)).toBe("1 CronJob found in 1 file; it runs");
  const job = cronJob("j")
    .replace(/CronJob/, "Job")
    .replace(/spec:\n.*schedule.*\n.*jobTemplate:\n {4}spec:/, "spec:");
  const more = await run({ "a.yaml": `${cronJob("a")}---\n${cronJob("b")}`, "j.yaml": job });
  expect(foundLine(more.stdout)).toBe("2 CronJobs and 1 Job found in 2 files; all run");
});

test("CronJobs that are left out are named with the reason, and only --strict makes them status 2", async () => {
  const files = { "a.yaml": `${cronJob("a")}---\n${cronJob("bad", "61 * * * *")}`, "b.yaml": BROKEN };
  const { code, stdout, stderr } = await run(files);
  expect(code).toBe(0);
  expect(foundLine(stdout)).toMatch(
    /^3 CronJobs found in 2 files; 1 run, 2 left out: CronJob at b\.yaml:\d+(:\d+)? \(.+\), CronJob bad \(spec\.schedule: .*61.*\)$/,
  );
  expect(stderr).toMatch(/^kubewright: b\.yaml:.*\nkubewright: a\.yaml:\d+:\d+: CronJob bad: spec\.schedule: .*\n$/);
  const strict = await run(files, ["--strict"]);
  expect([strict.code, foundLine(strict.stdout), strict.stderr]).toEqual([2, foundLine(stdout), stderr]);
});

test("of many objects that are left out, three are named", async () => {
  const bad = ["b", "c", "d", "e", "f"].map((name) => cronJob(name, "61 * * * *"));
  const { stdout } = await run({ "a.yaml": [cronJob("a"), ...bad].join("---\n") });
  expect(foundLine(stdout)).toMatch(/^6 CronJobs found in 1 file; 1 run, 5 left out: CronJob b \(.*and 2 more$/);
});

test("a mistake in an object that the run does not need changes neither result nor status", async () => {
  const without = await run({ "a.yaml": cronJob("a") });
  const { code, stdout, stderr } = await run({ "a.yaml": `${cronJob("a")}---\n${SERVICE}` });
  expect([code, stdout]).toEqual([without.code, without.stdout]);
  expect(stderr).toMatch(/^kubewright: a\.yaml:\d+:\d+: Service web: spec\.ports.* \(the run does not need it\)\n$/);
  const strict = await run({ "a.yaml": `${cronJob("a")}---\n${SERVICE}` }, ["--strict"]);
  expect(strict.code).toBe(2);
});

test("an object that cannot be read and that the run does not need is a note as well", async () => {
  const unreadable = "apiVersion: v1\nkind: Service\nmetadata: { name: [ }\n";
  const { code, stderr } = await run({ "a.yaml": `${cronJob("a")}---\n${unreadable}` });
  expect(code).toBe(0);
  expect(stderr).toMatch(/^kubewright: a\.yaml:\d+.* \(the run does not need it\)\n$/);
});

test("a mistake in an object that changes what Jobs do is status 2", async () => {
  const { code, stderr } = await run({ "a.yaml": `${cronJob("a")}---\n${QUOTA}` });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^kubewright: a\.yaml:\d+:\d+: ResourceQuota q: /);
});

test("the trace ends with what was found, and with the kind of each problem", async () => {
  const files = { "a.yaml": [cronJob("a"), cronJob("bad", "61 * * * *"), SERVICE].join("---\n") };
  for (const workers of [[], ["--workers", "1"]]) {
    const { code, stdout } = await run(files, ["--json", "-", ...workers]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout.trimEnd().split("\n").at(-1)!)).toMatchObject({
      type: "end",
      input: {
        cronJobs: 2,
        jobs: 0,
        files: 1,
        problems: [
          { kind: "leftOut", object: "CronJob bad" },
          { kind: "notNeeded", object: "Service web" },
        ],
      },
    });
  }
});

test("futures, comparisons and spread treat left-out CronJobs in the same way", async () => {
  const files = { "a.yaml": `${cronJob("a")}---\n${cronJob("bad", "61 * * * *")}` };
  const futures = await run(files, ["--seeds", "2"]);
  expect([futures.code, foundLine(futures.stdout)]).toEqual([
    0,
    expect.stringContaining("1 run, 1 left out: CronJob bad"),
  ]);
  for (const args of [
    ["run", "a.yaml", "--against", "a.yaml"],
    ["spread", "a.yaml"],
  ]) {
    const { code, stderr } = await kubewright(args, { files });
    expect([code, stderr]).toEqual([0, expect.stringContaining("CronJob bad: spec.schedule")]);
    expect((await kubewright([...args, "--strict"], { files })).code).toBe(2);
  }
});

import { expect, test } from "vitest";

import { type CommandResult, kubewright } from "./memory-io.js";

const cronJob = (name: string, spec: string, duration: string): string => `
apiVersion: batch/v1
kind: CronJob
metadata: { name: ${name} }
spec:
  schedule: "0 * * * *"
  ${spec}
  jobTemplate:
    spec:
      backoffLimit: 0
      template:
        metadata: { annotations: { sim.kubewright.dev/duration: ${duration} } }
        spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
---
`;

/** Every second slot comes while the last run is active, and then misses its deadline. */
const slow = cronJob("slow", "concurrencyPolicy: Forbid\n  startingDeadlineSeconds: 600", "90m");
const punctual = cronJob("punctual", "", "5m");
/** Two runs are always active. */
const overlapping = cronJob("overlapping", "", "61m");
/** Each run starts when the previous one ends. */
const late = cronJob("late", "concurrencyPolicy: Forbid", "65m");
/** More pods than the nodes hold, for longer than the window. */
const huge = `
apiVersion: batch/v1
kind: Job
metadata: { name: huge }
spec:
  parallelism: 100
  completions: 100
  template:
    metadata: { annotations: { sim.kubewright.dev/duration: 100h } }
    spec: { restartPolicy: Never, containers: [{ name: c, image: busybox, resources: { requests: { cpu: "4" } } }] }
`;
const all = `${slow}${punctual}${overlapping}${late}${huge}`;

function run(flags: readonly string[], manifests = all): Promise<CommandResult> {
  return kubewright(["run", "all.yaml", "--for", "6h", ...flags], { files: { "all.yaml": manifests } });
}

test.each([
  [
    "skipped",
    "skipped: default/slow at 2026-01-01T01:00:00Z, seed 1: slow-29453760 still active past the deadline; 3 times",
  ],
  [
    "missed",
    "missed: default/slow at 2026-01-01T01:00:00Z, seed 1: slow-29453760 still active past the deadline; 3 times",
  ],
  ["late>5m", "late>5m: default/late at 2026-01-01T05:00:00Z, seed 1: late-29454060 started 25m5s late; 5 times"],
  [
    "overlap",
    "overlap: default/overlapping at 2026-01-01T01:00:00Z, seed 1: overlapping-29453820 began while another was active",
  ],
  ["unschedulable", "unschedulable: default/huge at 2026-01-01T00:00:00Z, seed 1: huge waited for a node: "],
  ["never-finished", "never-finished: default/huge at 2026-01-01T00:00:00Z, seed 1: huge had not finished at the end"],
  ["peak-pods>3", "peak-pods>3: at "],
  ["o*:peak-pods>1", "o*:peak-pods>1: at 2026-01-01T01:00:00Z, seed 1: 2 pods at once"],
])("%s ends with status 1 and a line that names the slot, the seed and the reason", async (rule, line) => {
  const { code, stderr, stdout } = await run(["--fail-on", rule]);
  expect(code).toBe(1);
  expect(
    stderr
      .split("\n")
      .filter((each) => each.startsWith(`kubewright: ${rule.split(">")[0]}`))
      .join("\n"),
  ).toContain(line);
  expect(stdout).toContain("Jobs  ");
});

test("a run that Replace makes in the place of another does not overlap it", async () => {
  const replacing = cronJob("replacing", "concurrencyPolicy: Replace", "61m");
  const { code, stdout, stderr } = await run(["--fail-on", "overlap"], replacing);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("5 runs deleted before the end for the next (Replace)");
  expect(stdout).not.toContain("while another was active");
});

test("the rule failed names the run and its reason", async () => {
  const { code, stderr } = await run(["--fail", "punctual=100%", "--fail-on", "failed"], punctual);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^kubewright: failed: default\/punctual at .*seed 1: punctual-\d+ failed: BackoffLimitExceeded: .*; 6 times\n$/,
  );
});

test.each([
  ["late>30m"],
  ["failed"],
  ["punctual:skipped"],
  ["other/*:skipped"],
  ["peak-pods>150"],
  ["punctual:peak-pods>1"],
])("%s is kept, and the status stays 0", async (rule) => {
  const { code, stderr } = await run(["--fail-on", rule]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("several rules, in one flag or many, report every violation", async () => {
  const { stderr } = await run(["--fail-on", "skipped,overlap", "--fail-on", "late>5m"]);
  expect(stderr.match(/^kubewright: \S+: default\/\S+/gm)).toEqual([
    "kubewright: skipped: default/slow",
    "kubewright: overlap: default/overlapping",
    "kubewright: late>5m: default/late",
  ]);
});

test("in many futures a share may be allowed, and is exceeded only beyond chance", async () => {
  const manifests = cronJob("backup", "concurrencyPolicy: Forbid\n  startingDeadlineSeconds: 60", "30m..62m");
  const simulate = (rule: string): Promise<CommandResult> =>
    run(["--for", "1d", "--seeds", "1-12", "--fail-on", rule], manifests);
  // About half of all days have a skipped run.
  const any = await simulate("skipped");
  expect(any.code).toBe(1);
  expect(any.stderr).toMatch(
    /^kubewright: skipped: default\/backup at \S+, seed \d+: .* still active past the deadline.*; in \d+ of 12 futures\n$/,
  );
  expect((await simulate("skipped>1%")).code).toBe(1);
  expect((await simulate("skipped>60%")).code).toBe(0);
});

test("what differs from another file is a violation", async () => {
  const files = { "a.yaml": punctual, "b.yaml": punctual.replace("0 * * * *", "30 * * * *"), "c.yaml": punctual };
  const simulate = (other: string): Promise<CommandResult> =>
    kubewright(["run", "a.yaml", "--against", other, "--for", "6h", "--fail-on", "changed"], { files });
  const { code, stderr } = await simulate("b.yaml");
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: "kubewright: changed: default/punctual: 12 runs differ, first that of 2026-01-01T00:00:00Z\n",
  });
  expect((await simulate("c.yaml")).code).toBe(0);
});

test("with another file the rules are held against that one, besides what differs, in the order of the rules", async () => {
  const files = {
    "a.yaml": `${punctual}${late}`,
    "b.yaml": `${punctual.replace('"0 * * * *"', '"30 * * * *"')}${slow}`,
  };
  const simulate = (from: string, to: string, rules: string, ...more: string[]): Promise<CommandResult> =>
    kubewright(["run", from, "--against", to, "--for", "6h", "--fail-on", rules, ...more], { files });
  const { code, stderr, written } = await simulate(
    "a.yaml",
    "b.yaml",
    "skipped,punctual:changed,late>5m,peak-pods>1",
    "--markdown",
    "m.md",
    "--junit",
    "j.xml",
  );
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: [
      "kubewright: skipped: default/slow at 2026-01-01T01:00:00Z, seed 1: slow-29453760 still active past the deadline; 3 times",
      "kubewright: punctual:changed: default/punctual: 12 runs differ, first that of 2026-01-01T00:00:00Z",
      "kubewright: peak-pods>1: at 2026-01-01T00:30:00Z, seed 1: 2 pods at once",
      "",
    ].join("\n"),
  });
  expect(written["m.md"]).toContain("- skipped: default/slow at 2026-01-01T01:00:00Z, seed 1:");
  expect(written["j.xml"]).toContain(
    "punctual:changed: default/punctual: 12 runs differ, first that of 2026-01-01T00:00:00Z",
  );
  const back = await simulate("b.yaml", "a.yaml", "skipped,late>5m,late:late");
  expect(back.stderr.match(/^kubewright: \S+ \S+/gm)).toEqual([
    "kubewright: late>5m: default/late",
    "kubewright: late:late: default/late",
  ]);
  const share = await simulate("a.yaml", "b.yaml", "skipped>1%");
  expect({ code: share.code, stderr: share.stderr }).toEqual({
    code: 2,
    stderr: 'kubewright: --fail-on: "skipped>1%" limits the share of many futures: simulate B alone, with --seeds\n',
  });
});

test.each([
  ["skiped", '--fail-on: "skiped" is not a rule; did you mean skipped?; write for example'],
  ["late>", '--fail-on: "late>" '],
  ["a/b/c:skipped", '--fail-on: "a/b/c:skipped" has no selection before the colon'],
  ["peak-pods", '--fail-on: "peak-pods" lacks its number of pods; write for example peak-pods>50'],
  ["failed>3", '--fail-on: "failed>3" has a bound that failed does not take'],
  ["skipped>1%", '--fail-on: "skipped>1%" limits the share of many futures: give a range with --seeds'],
  ["skipped>200%", '--fail-on: "skipped>200%" has "200%" for a share of futures'],
  ["changed", '--fail-on: "changed" compares two runs: add --against FILE or --against-kubernetes V'],
])("%s is refused in a line", async (rule, message) => {
  const { code, stderr, stdout } = await run(["--fail-on", rule]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr.split("\n")).toHaveLength(2);
  expect(stderr).toContain(`kubewright: ${message}`);
});

test("a broken document has priority over a violation: status 2, and both are reported", async () => {
  const { code, stderr } = await run(
    ["--fail-on", "skipped"],
    `${slow}apiVersion: v1\nkind: ResourceQuota\nmetadata: { name: bad }\nspec: { hard: { pods: -1 } }\n`,
  );
  expect(code).toBe(2);
  expect(stderr).toContain("ResourceQuota bad: spec.hard[pods]: Invalid value");
});

test("a project file names the input and the rules, and flags override it", async () => {
  const files = {
    "all.yaml": slow,
    ".kubewright.yaml":
      "input: [all.yaml]\nfor: 6h\nworkloads:\n  - { select: { name: slow }, duration: 80m }\nfailOn: [skipped]\n",
  };
  const asItSays = await kubewright(["run"], { files });
  expect(asItSays.code).toBe(1);
  expect(asItSays.stderr).toContain("kubewright: skipped: default/slow");
  const shorter = await kubewright(["run", "--duration", "slow=10m"], { files });
  expect({ code: shorter.code, stderr: shorter.stderr }).toEqual({ code: 0, stderr: "" });
});

test("mistakes in a project file are reported with their places", async () => {
  const files = {
    ".kubewright.yaml": "inputs: [all.yaml]\nfor: 6\nworkloads: [{ select: { name: slow }, duration: 1x }]\n",
  };
  const { code, stderr } = await kubewright(["run"], { files });
  expect(code).toBe(2);
  expect(stderr.trimEnd().split("\n")).toEqual([
    'kubewright: .kubewright.yaml:1:1: inputs: is not a field of this; did you mean "input"?',
    "kubewright: .kubewright.yaml:2:6: for: 6 is not a string",
    expect.stringContaining("kubewright: .kubewright.yaml:3:"),
  ]);
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { Ajv } from "ajv";
import { expect, onTestFinished, test } from "vitest";

import { kubewright } from "./memory-io.js";

const BINARY = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const SCHEMA = fileURLToPath(new URL("../futures.schema.json", import.meta.url));

const cronJob = (name: string, spec: string, duration: string): string => `
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

/** Runs of 30 to 62 minutes, uniformly distributed; the next may start up to a minute late. */
const backup = cronJob(
  "backup",
  'schedule: "0 * * * *"\n  concurrencyPolicy: Forbid\n  startingDeadlineSeconds: 60',
  "30m..62m",
);

interface Chance {
  readonly kind: string;
  readonly cause?: string;
  readonly futures: number;
  readonly perFuture: { readonly share: number; readonly low: number; readonly high: number };
  readonly perSlot: { readonly share: number; readonly low: number; readonly high: number };
  readonly worst: { readonly seed: number; readonly count: number; readonly text: string };
}

interface Futures {
  readonly seeds: { readonly simulated: number };
  readonly total: { readonly incidents: readonly Chance[] };
  readonly groups: readonly {
    readonly name: string;
    readonly slots: number;
    readonly runs: number;
    readonly incidents: readonly Chance[];
    readonly hasSpread: boolean;
  }[];
}

async function futures(args: readonly string[], files: Record<string, string>): Promise<Futures> {
  const { code, stdout, stderr } = await kubewright(["run", ...Object.keys(files), ...args, "--json", "-"], { files });
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Futures;
}

/**
 * The start-up of a container takes 1 s. A run that starts x minutes after its slot has three possible ends:
 *
 * - within the hour: the next run starts on time
 * - up to a minute later (1 chance in 32 for any x): the next run starts late, by 0 to 1 minute
 * - later, with a chance of (1 + x + 1/60) / 32: the next slot is skipped
 *
 * So 1 run in 32 is late, by half a minute on average.
 */
const PER_RUN = (1 + 1 / 64 + 1 / 60) / 32;
const TRUE_SHARE = PER_RUN / (1 + PER_RUN);

test("the share of skipped slots is the one worked out by hand, within its interval", async () => {
  const { groups } = await futures(["--seeds", "1-60", "--for", "3d"], { "backup.yaml": backup });
  const skipped = groups[0]!.incidents.find(({ kind, cause }) => kind === "skipped" && cause === undefined)!;
  expect(groups[0]!.slots).toBeGreaterThan(60 * 70);
  expect(skipped.perSlot.low).toBeLessThan(TRUE_SHARE);
  expect(skipped.perSlot.high).toBeGreaterThan(TRUE_SHARE);
  expect(skipped.perSlot.high - skipped.perSlot.low).toBeLessThan(0.012);
});

test("the worst seed, simulated alone, has as many skips as reported", async () => {
  const { groups } = await futures(["--seeds", "1-10", "--for", "2d"], { "backup.yaml": backup });
  const { worst } = groups[0]!.incidents.find(({ kind, cause }) => kind === "skipped" && cause === undefined)!;
  const alone = await kubewright(
    ["run", "backup.yaml", "--for", "2d", "--seed", String(worst.seed), "--runs", "runs.jsonl"],
    { files: { "backup.yaml": backup } },
  );
  const runs = alone.written["runs.jsonl"]!.trimEnd().split("\n");
  expect(runs.filter((line) => line.includes('"outcome":"Skipped"'))).toHaveLength(worst.count);
});

test("the summary matches its schema, also with failures and Jobs without a CronJob", async () => {
  const job = `
apiVersion: batch/v1
kind: Job
metadata: { name: pi }
spec:
  backoffLimit: 0
  template:
    metadata: { annotations: { sim.kubewright.dev/duration: 10s..30s } }
    spec: { restartPolicy: Never, containers: [{ name: pi, image: perl, resources: { requests: { cpu: 500m } } }] }
`;
  const files = { "backup.yaml": backup, "pi.yaml": job };
  const found = await futures(["--seeds", "3-8", "--for", "6h", "--fail", "pi=50%"], files);
  const validate = new Ajv({ strict: true }).compile(JSON.parse(readFileSync(SCHEMA, "utf8")) as object);
  expect(validate(found), JSON.stringify(validate.errors)).toBe(true);
  const failed = found.total.incidents.find(({ kind }) => kind === "failed")!;
  expect(failed.futures).toBeGreaterThan(0);
  expect(failed.futures).toBeLessThan(6);
  expect(failed.worst.text).toMatch(/^default\/pi: pi failed: BackoffLimitExceeded/);
});

test("workloads with a fixed duration are reported, because all their futures are alike", async () => {
  const files = { "tick.yaml": cronJob("tick", 'schedule: "0 * * * *"', "5m") };
  const { code, stdout } = await kubewright(["run", "tick.yaml", "--for", "6h", "--seeds", "1-3"], { files });
  expect(code).toBe(0);
  expect(stdout).toContain("Nothing goes wrong in any of 3 futures.");
  expect(stdout).toContain("No spread: every run of default/tick takes as long as the others");
});

test.each([
  [
    ["--seeds", "1-5", "--seed", "3"],
    "--seeds simulates many futures, and --seed simulates one of them: leave out one of the two",
  ],
  ...["--runs", "--ics"].map((flag): [string[], string] => [
    ["--seeds", "1-5", flag, "runs.csv"],
    `--seeds simulates many futures, and ${flag} lists the runs of one: simulate that with --seed N instead, for example a worst one that --seeds names`,
  ]),
  ...[
    ["--against", "c.yaml"],
    ["--against-kubernetes", "1.33"],
  ].map((flags): [string[], string] => [
    ["--seeds", "1-5", ...flags],
    `--seeds simulates many futures, and ${flags[0]} compares two: use --seed N instead, or simulate each side with --seeds`,
  ]),
  [
    ["--seeds", "5-1"],
    '--seeds: "5-1" is neither a number of seeds nor a range of whole numbers up to 4294967295; write for example 1-1000',
  ],
  [["--seeds", "1-5", "--workers", "0"], '--workers: "0" is not a whole number from 1 to 256'],
])("%j is refused in a line", async (flags, message) => {
  const { code, stderr, stdout } = await kubewright(["run", "b.yaml", ...flags], { files: { "b.yaml": backup } });
  expect({ code, stderr, stdout }).toEqual({ code: 2, stderr: `kubewright: ${message}\n`, stdout: "" });
});

test("a refused manifest is reported, the others are simulated, and the file stays unchanged", async () => {
  const files = {
    "b.yaml": `${backup}---\napiVersion: v1\nkind: ResourceQuota\nmetadata: { name: bad }\nspec: { hard: { pods: -1 } }\n`,
  };
  const { code, stdout, stderr, written } = await kubewright(
    ["run", "b.yaml", "--for", "3h", "--seeds", "1-2", "--json", "f.json"],
    { files },
  );
  expect(code).toBe(2);
  expect(stderr).toContain("ResourceQuota bad: spec.hard[pods]: Invalid value");
  expect(stdout).toContain("2 futures");
  expect(written).toEqual({});
});

function built(args: readonly string[]): ReturnType<typeof spawn> {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} does not exist: run "npm run build" first`);
  const child = spawn(process.execPath, [BINARY, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

function backupFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(path.join(folder, "backup.yaml"), backup);
  return path.join(folder, "backup.yaml");
}

test("the output is the same for any number of threads, byte for byte", async () => {
  const file = backupFile();
  const args = ["run", file, "--start", "2026-01-01T00:00:00Z", "--for", "1d", "--seeds", "1-12"];
  const simulate = async (workers: string): Promise<readonly [timeline: string, json: string, page: string]> => {
    const json = path.join(path.dirname(file), `of-${workers}.json`);
    const html = path.join(path.dirname(file), `of-${workers}.html`);
    const child = built([...args, "--json", json, "--html", html, "--workers", workers]);
    const [stdout] = await Promise.all([text(child.stdout!), once(child, "close")]);
    expect(child.exitCode).toBe(0);
    return [stdout.replace(json, "JSON"), readFileSync(json, "utf8"), readFileSync(html, "utf8")];
  };
  const one = await simulate("1");
  const three = await simulate("3");
  expect(three.slice(0, 2)).toEqual(one.slice(0, 2));
  expect(three[2] === one[2]).toBe(true);
  expect(one[2].match(/id="seed-\d+"/g)!.length).toBeGreaterThan(1);
  const files = { "b.yaml": backup };
  const inOneThread = await kubewright(["run", "b.yaml", ...args.slice(2), "--json", "JSON"], { files });
  expect(inOneThread.stdout).toBe(one[0]);
});

/** Resolves when a process has used this number of seconds of CPU time, however long it waited for a CPU. */
async function hasComputed(pid: number, seconds: number): Promise<void> {
  const TICKS_PER_SECOND = 100;
  const spent = (): number => {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ").slice(11, 13);
    return (Number(user) + Number(system)) / TICKS_PER_SECOND;
  };
  await expect.poll(spent).toBeGreaterThanOrEqual(seconds);
}

test.skipIf(!existsSync("/proc/self/stat"))(
  "after a stop request it prints its results so far and ends with 130",
  async () => {
    const child = built(["run", backupFile(), "--for", "30d", "--seeds", "1-100000", "--workers", "2"]);
    const ended = once(child, "close");
    const output = Promise.all([text(child.stdout!), text(child.stderr!)]);
    await hasComputed(child.pid!, 4);
    child.kill("SIGINT");
    await ended;
    const [stdout, stderr] = await output;
    expect(child.exitCode).toBe(130);
    expect(stdout).toMatch(/^kubewright {2}[\d,]+ futures? of .* of seeds 1-100000/);
    expect(stderr).toMatch(/stopped after [\d,]+ of 100,000 futures\n$/);
  },
);

test("the most at once by namespace, with memory, as the schema has it", async () => {
  const wanting = (namespace: string, memory: string): string => `
apiVersion: batch/v1
kind: CronJob
metadata: { name: report, namespace: ${namespace} }
spec:
  schedule: "0 * * * *"
  jobTemplate:
    spec:
      parallelism: 2
      completions: 2
      template:
        metadata: { annotations: { sim.kubewright.dev/duration: 5m..10m } }
        spec:
          restartPolicy: Never
          containers: [{ name: c, image: busybox, resources: { requests: { cpu: 500m, memory: ${memory} } } }]
`;
  const files = { "in.yaml": `${wanting("billing", "1Gi")}---${wanting("web", "64M")}` };
  const args = ["run", "in.yaml", "--for", "3h", "--seeds", "1-5"];
  const { concurrent } = JSON.parse((await kubewright([...args, "--json", "-"], { files })).stdout) as {
    readonly concurrent: object;
  };
  const always = (level: number): object => ({ p50: level, p95: level, p99: level, max: level, seed: 1 });
  expect(concurrent).toEqual({
    pods: always(4),
    cores: always(2),
    memoryBytes: always(2 * 2 ** 30 + 128_000_000),
    p95OverTime: expect.anything() as unknown,
    namespaces: [
      {
        namespace: "billing",
        pods: always(2),
        cores: always(1),
        memoryBytes: always(2 * 2 ** 30),
        p95OverTime: expect.anything() as unknown,
      },
      {
        namespace: "web",
        pods: always(2),
        cores: always(1),
        memoryBytes: always(128_000_000),
        p95OverTime: expect.anything() as unknown,
      },
    ],
    pools: expect.anything() as unknown,
  });
  const { stdout } = await kubewright([...args, "--json", "futures.json"], { files });
  expect(stdout).toMatch(/^memory requested +2.1Gi +2.1Gi +2.1Gi +2.1Gi \(seed 1\)$/m);
  expect(stdout).toMatch(
    /^at once by namespace +pods p95 +worst +95% time +cores p95 +worst +95% time +memory p95 +worst +95% time$/m,
  );
  expect(stdout).toMatch(/^billing +2 +2 +2 +1 +1 +1 +2Gi +2Gi +2Gi$/m);
});

test("how many nodes of a size are enough, and in how many futures, as the schema has it", async () => {
  const job = (index: number): string => `
apiVersion: batch/v1
kind: CronJob
metadata: { name: report-${index} }
spec:
  schedule: "${index * 10} * * * *"
  jobTemplate:
    spec:
      template:
        metadata: { annotations: { sim.kubewright.dev/duration: 5m..15m } }
        spec:
          restartPolicy: Never
          containers: [{ name: c, image: busybox, resources: { requests: { cpu: "3", memory: 1Gi } } }]
`;
  const files = { "in.yaml": `${job(0)}---${job(1)}` };
  const args = ["run", "in.yaml", "--for", "90m", "--seeds", "1-40", "--node-size", "4,16Gi", "--node-size", "2,8Gi"];
  const { stdout: json } = await kubewright([...args, "--json", "-"], { files });
  const document = JSON.parse(json) as {
    readonly nodes: readonly {
      readonly enough: readonly { readonly nodes: number; readonly futures: number; readonly perFuture: object }[];
      readonly futuresTooLarge: number;
    }[];
  };
  const validate = new Ajv({ strict: true }).compile(JSON.parse(readFileSync(SCHEMA, "utf8")) as object);
  expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
  const [four, two] = document.nodes;
  // The first of the two takes longer than ten minutes in half of the futures, and two do not fit on one node.
  expect(four!.enough.map(({ nodes }) => nodes)).toEqual([1, 2]);
  expect(four!.enough[0]!.futures).toBeGreaterThan(8);
  expect(four!.enough[0]!.futures).toBeLessThan(32);
  expect(four!.enough[1]).toMatchObject({ futures: 40, perFuture: { share: 1 } });
  expect(two).toMatchObject({ enough: [], futuresTooLarge: 40 });
  const { stdout } = await kubewright(args, { files });
  expect(stdout).toMatch(/^nodes of 4 cores and 16Gi +enough in a future$/m);
  expect(stdout).toMatch(/^2 +100% \([\d.]+–100\) +seed \d+ needs as many$/m);
  expect(stdout).toContain("In 40 of the futures a pod requests more than a node of 2 cores and 8Gi has.\n");
  const { code, stderr } = await kubewright(["run", "in.yaml", "--node-size", "4,16Gi"], { files });
  expect([code, stderr]).toEqual([2, expect.stringContaining("give a range with --seeds")]);
});

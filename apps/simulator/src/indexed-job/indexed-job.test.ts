import { describe, expect, test } from "vitest";
import { type Job, type Pod, configMaps, jobs } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { createCluster } from "@kubewright/cluster";
import { parseAllDocuments } from "yaml";

import { REPORT, runCampaign, runReport } from "../../test/report-campaign.js";
import { chunkOf, parseChunk } from "./chunk.js";
import { readSummary, summaryText } from "./chunk-summary.js";
import { collectChunks } from "./collect-chunks.js";

const RUN = runReport("40%");

describe("a chunk", () => {
  test("all chunks together are the seeds, each once, and none has more than one more than another", () => {
    for (const [first, last, of] of [
      [1, 10_000, 20],
      [5, 11, 7],
      [7, 29, 4],
    ] as const) {
      const chunks = Array.from({ length: of }, (_, index) => chunkOf({ first, last }, { index, of }));
      expect(chunks[0]!.first).toBe(first);
      expect(chunks.at(-1)!.last).toBe(last);
      for (const [index, chunk] of chunks.slice(1).entries()) expect(chunk.first).toBe(chunks[index]!.last + 1);
      const sizes = chunks.map((chunk) => chunk.last - chunk.first + 1);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }
    expect(parseChunk("19/20")).toEqual({ index: 19, of: 20 });
  });

  test("runs alone, ends with the given status, and writes a summary", async () => {
    const all = await runCampaign([...RUN, "--seeds", "1-12", "--summary", "s", "--fail-exit", "42"]);
    expect(all.code).toBe(42);
    const whole = readSummary(all.written["s"]!)!;
    expect(whole).toMatchObject({
      seeds: { from: 1, to: 12 },
      simulated: 12,
      findings: [{ what: "failed: default/report" }],
    });
    let count = 0;
    for (const chunk of ["0/3", "1/3", "2/3"]) {
      const flags = ["--seeds", "1-12", "--chunk", chunk, "--summary", "s", "--fail-exit", "42"];
      const part = await runCampaign([...RUN, ...flags]);
      const summary = readSummary(part.written["s"]!)!;
      count += summary.findings[0]?.count ?? 0;
      expect(part.code).toBe(summary.findings.length === 0 ? 0 : 42);
    }
    expect(count).toBe(whole.findings[0]!.count);
    const fuzz = await runCampaign([
      "fuzz",
      "--seeds",
      "1-40",
      "--chunk",
      "3/40",
      "--faults",
      "none",
      "--summary",
      "s",
    ]);
    expect(fuzz.code).toBe(0);
    expect(readSummary(fuzz.written["s"]!)).toMatchObject({ seeds: { from: 4, to: 4 }, findings: [] });
  });

  test("has a summary that fits into a termination message, for any findings", () => {
    const findings = Array.from({ length: 500 }, (_, index) => ({
      what: `rule ${"ü".repeat(index)}`,
      seed: String(index),
      count: 1,
    }));
    const text = summaryText({ chunkVersion: 1, seeds: { from: 1, to: 500 }, simulated: 500, findings });
    expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(4096);
    const summary = readSummary(text)!;
    expect(summary.findings.length + summary.leftOut!).toBe(500);
    expect(readSummary("Killed")).toBeUndefined();
  });

  test.each([
    [
      ["--chunk", "20/20", "--seeds", "1-100"],
      '--chunk: "20/20" is no part of a whole, counted from 0; write for example 0/20, or $(JOB_COMPLETION_INDEX)/20 in a Job',
    ],
    [["--chunk", "0/20", "--seeds", "1-3"], "3 seeds cannot be parted into 20 chunks"],
    [["--chunk", "0/20"], "--chunk is a part of the seeds: say of which with --seeds, for example --seeds 1-10000"],
    [
      ["--seeds", "1-3", "--fail-exit", "2"],
      '--fail-exit: "2" is no exit status from 3 to 125; the others mean something else already',
    ],
    [["--summary", "s"], "--summary needs many futures: give a range with --seeds, for example --seeds 1-1000"],
    [["--seeds", "1-3", "--results", "claim:x"], "--results is of the Job that --indexed-job IMAGE prints"],
    [["--indexed-job", "i"], "--indexed-job needs many futures: give a range with --seeds, for example --seeds 1-1000"],
    [["--seeds", "1-3", "--indexed-job", "i", "--chunks", "4"], "--chunks: 3 seeds cannot be parted into 4 chunks"],
    [
      ["--seeds", "1-3", "--indexed-job", "i", "--summary", "s"],
      "--indexed-job: the Job it prints says --summary itself: leave --summary out",
    ],
    [
      ["--seeds", "1-3", "--indexed-job", "i", "--html", "x.html"],
      "--html names a file of this machine, which no pod has: name a volume with --results",
    ],
    [
      ["--seeds", "1-3", "--indexed-job", "i", "--results", "x"],
      '--results: "x" is no volume; write claim:NAME for a PersistentVolumeClaim, or host:/PATH for a folder of the nodes',
    ],
    [
      ["--seeds", "1-3", "--indexed-job", "i", "--fail-on", "missed>1%"],
      '--fail-on: "missed>1%" is about all futures together, and a chunk of --indexed-job knows only its own',
    ],
  ])("%j is refused in one line", async (flags, message) => {
    const { code, stderr } = await runCampaign([...RUN, ...flags]);
    expect([code, stderr]).toEqual([2, `kubewright: ${message}\n`]);
  });
});

describe("the Job of --indexed-job", () => {
  async function printed(args: readonly string[], given?: Parameters<typeof runCampaign>[1]): Promise<[unknown, Job]> {
    const { code, stdout, stderr } = await runCampaign(args, given);
    expect([code, stderr]).toEqual([0, ""]);
    const objects = parseAllDocuments(stdout).map((document) => document.toJS() as unknown);
    return objects.length === 1 ? [undefined, objects[0] as Job] : [objects[0], objects[1] as Job];
  }

  test("is what an API server takes as it is, and carries what is read", async () => {
    const flags = ["--seeds", "1-1200", "--indexed-job", "kw:1", "--workers", "2", "--results", "claim:results"];
    const [inputs, job] = await printed([...RUN.with(1, "a/b"), ...flags], { files: { "a/b/report.yaml": REPORT } });
    const cluster = createCluster({
      clock: new SimulatedClock("2026-01-01T00:00:00Z"),
      random: seededRandom(1),
      controllers: [],
      kubelet: "none",
    });
    const client = cluster.client("test");
    await client
      .resource(configMaps)
      .create({ ...(inputs as object), metadata: { ...(inputs as Job).metadata, namespace: "default" } });
    await client.resource(jobs).create({ ...job, metadata: { ...job.metadata, namespace: "default" } });
    await cluster.apiServer.close();
    const [container] = job.spec!.template.spec!.containers;
    expect(job.spec).toMatchObject({
      completions: 3,
      backoffLimitPerIndex: 2,
      maxFailedIndexes: 3,
      podReplacementPolicy: "Failed",
    });
    expect(job.spec!.podFailurePolicy!.rules.map(({ action, onExitCodes }) => [action, onExitCodes?.values])).toEqual([
      ["Ignore", undefined],
      ["FailIndex", [42]],
      ["FailJob", [2]],
    ]);
    expect(container!.command!.slice(0, 3)).toEqual(["kubewright", "run", "a/b"]);
    expect(container!.command!.slice(-6)).toEqual([
      "--seeds=1-1200",
      "--chunk=$(JOB_COMPLETION_INDEX)/3",
      "--workers=2",
      "--fail-exit=42",
      "--summary=/dev/termination-log",
      expect.stringMatching(/^--json=\/results\/kubewright-run-[0-9a-f]{10}-\$\(JOB_COMPLETION_INDEX\)\.json$/),
    ]);
    expect(container).toMatchObject({ workingDir: "/kubewright/inputs", resources: { requests: { cpu: "2" } } });
    expect(job.spec!.template.spec!.volumes).toMatchObject([
      { configMap: { items: [{ key: "input-0", path: "inputs/a/b/report.yaml" }] } },
      { persistentVolumeClaim: { claimName: "results" } },
    ]);
    expect((inputs as { data: object }).data).toEqual({ "input-0": REPORT });
  });

  test("has another name when anything of it is other, and else the same", async () => {
    const args = (seeds: string): string[] => [...RUN, "--seeds", seeds, "--indexed-job", "kw:1"];
    const name = async (seeds: string, text = REPORT): Promise<string | undefined> =>
      (await printed(args(seeds), { files: { "report.yaml": text } }))[1].metadata.name;
    const first = await name("1-100");
    expect(await name("1-100")).toBe(first);
    expect(await name("1-101")).not.toBe(first);
    expect(await name("1-100", `${REPORT}# changed\n`)).not.toBe(first);
  });

  test("reads standard input from a file, and nothing where the image has it all", async () => {
    const flags = ["--seeds", "1-100", "--indexed-job", "kw:1"];
    const [inputs, job] = await printed([...RUN.with(1, "-"), ...flags], { files: {}, input: REPORT });
    expect((inputs as { data: object }).data).toEqual({ "input-0": REPORT });
    expect(job.spec!.template.spec!.containers[0]!.command![2]).toBe("standard-input.yaml");
    const [none, other] = await printed([...RUN, ...flags, "--inputs", "/inputs"]);
    expect([none, other.spec!.template.spec!.containers[0]!.workingDir]).toEqual([undefined, "/inputs"]);
  });

  test("of fuzz needs no inputs", async () => {
    const [inputs, job] = await printed([
      "fuzz",
      "--seeds",
      "1-100000",
      "--faults",
      "staleCache",
      "--indexed-job",
      "kw:1",
    ]);
    expect(inputs).toBeUndefined();
    expect(job.spec).toMatchObject({ completions: 200, parallelism: 100, maxFailedIndexes: 100 });
    expect(job.spec!.template.spec!.containers[0]!.command!.slice(0, 6)).toEqual([
      "kubewright",
      "fuzz",
      "--faults",
      "staleCache",
      "--seeds=1-100000",
      "--chunk=$(JOB_COMPLETION_INDEX)/200",
    ]);
  });

  test("does not carry what lies elsewhere, or too much", async () => {
    const flags = ["--seeds", "1-100", "--indexed-job", "kw:1"];
    const outside = await runCampaign([...RUN.with(1, "../report.yaml"), ...flags], {
      files: { "../report.yaml": REPORT },
    });
    expect([outside.code, outside.stderr]).toEqual([
      2,
      expect.stringContaining("../report.yaml is not below this folder"),
    ]);
    const large = await runCampaign([...RUN, ...flags], {
      files: { "report.yaml": `${REPORT}#${"x".repeat(1_000_000)}\n` },
    });
    expect([large.code, large.stderr]).toEqual([2, expect.stringContaining("a ConfigMap takes a million")]);
  });
});

describe("what is collected", () => {
  const job = (name: string, status: object): Job => ({
    metadata: {
      name,
      namespace: "default",
      annotations: { "kubewright.dev/seeds": "1-400", "kubewright.dev/replay": "kubewright run x --seed" },
    },
    spec: { completions: 4, template: {} },
    status,
  });
  const pod = (jobName: string, index: number, exitCode: number, message: string): Pod => ({
    metadata: {
      name: `${jobName}-${index}-${exitCode}`,
      namespace: "default",
      annotations: { "batch.kubernetes.io/job-completion-index": String(index) },
      labels: { "batch.kubernetes.io/job-name": jobName },
    },
    status: {
      containerStatuses: [
        {
          name: "kubewright",
          image: "",
          imageID: "",
          ready: false,
          restartCount: 0,
          state: { terminated: { exitCode, reason: "Error", message } },
        },
      ],
    },
  });
  const summary = (count: number, seed: string): string =>
    summaryText({
      chunkVersion: 1,
      seeds: { from: 1, to: 100 },
      simulated: 100,
      findings: count === 0 ? [] : [{ what: "failed: default/x", seed, count }],
    });

  test("counts equal findings of all chunks and Jobs together, and separates broken chunks from findings", () => {
    const jobsOf = [job("a", { completedIndexes: "0", failedIndexes: "1,3" }), job("b", { failedIndexes: "0,2" })];
    const pods = [
      pod("a", 0, 0, summary(0, "")),
      pod("a", 1, 137, "Killed"),
      pod("a", 1, 42, summary(2, "150")),
      pod("a", 3, 1, "boom\nout of memory\n"),
      pod("b", 0, 42, summary(1, "7")),
    ];
    const { campaigns, findings } = collectChunks(jobsOf, pods);
    expect(campaigns).toMatchObject([
      {
        name: "default/a",
        clean: 1,
        simulated: 200,
        found: [1],
        broken: [{ chunk: 3, why: "exit status 1 (Error): out of memory" }],
        unknown: [],
      },
      { name: "default/b", clean: 0, found: [0, 2], unknown: [2] },
    ]);
    expect(findings).toEqual([
      {
        what: "failed: default/x",
        seed: "150",
        count: 3,
        replay: "kubewright run x --seed 150",
        at: "default/a chunk 1",
      },
    ]);
  });

  test("is printed by a command, which ends with 1 when there are findings", async () => {
    const list = JSON.stringify({
      apiVersion: "v1",
      kind: "List",
      items: [
        { apiVersion: "batch/v1", kind: "Job", ...job("a", { completedIndexes: "0-1", failedIndexes: "2" }) },
        { apiVersion: "v1", kind: "Pod", ...pod("a", 2, 42, summary(1, "250")) },
      ],
    });
    const { code, stdout } = await runCampaign(["collect", "-"], { files: {}, input: list });
    expect(code).toBe(1);
    expect(stdout).toBe(
      "default/a  seeds 1-400 in 4 chunks: 2 clean, 1 with findings, 1 not done; 100 played\n\nfailed: default/x  1 time, first in default/a chunk 2\n  kubewright run x --seed 250\n",
    );
    const none = await runCampaign(["collect", "-"], {
      files: {},
      input: JSON.stringify({ apiVersion: "v1", kind: "List", items: [] }),
    });
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("there is no Job of --indexed-job")]);
  });
});

import { Ajv2020 } from "ajv/dist/2020.js";
import {
  FAULT_KINDS,
  type FuzzReport,
  type Outcome,
  SHARDING_FAULT_KINDS,
  generatePlan,
  generateShardedPlan,
} from "@kubewright/simulation";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";

import type { FuzzPool } from "../src/fuzz/fuzz-pool.js";
import { type MemoryIoOptions, type CommandResult, kubewright } from "./memory-io.js";

/** A fake outcome: a plan with a crash has a violation. */
function fakePool(count: number, onPlay: (name: string) => void = () => {}): () => Promise<FuzzPool> {
  return async () => ({
    count,
    close: async () => {},
    run: async (plan): Promise<Outcome> => {
      onPlay(plan.name ?? "");
      const isWrong = plan.events?.some(({ controllerCrashes }) => controllerCrashes !== undefined) === true;
      const violation = {
        invariant: "S1 counted once",
        subject: "Job default/job-1",
        message: "pod 1 was counted twice",
        atMs: Date.parse(plan.start) + 90_000,
      };
      return {
        violations: isWrong ? [violation] : [],
        covered: [`seed ${plan.seed % 10}`],
        hash: "",
        settled: {},
        figures: { requests: 10, writes: 5, virtualMs: 600_000 },
      };
    },
  });
}

const fuzz = (args: readonly string[], options: MemoryIoOptions = {}): Promise<CommandResult> =>
  kubewright(["fuzz", ...args], { fuzzWorkers: fakePool(1), ...options });

test("a violation is reported with its seed, object, plan and replay command, and ends with status 1", async () => {
  const { code, stdout, stderr } = await fuzz(["--seeds", "1-50", "--minimize"]);
  expect(code).toBe(1);
  expect(stderr).toBe("kubewright: 1 invariant did not hold\n");
  expect(stdout).toMatch(/S1 counted once {2}seed \d+ and \d+ more: /);
  expect(stdout).toContain("Job default/job-1  +1m30s  pod 1 was counted twice");
  expect(stdout).toMatch(/plays nothing\n {2}\+0s controllerCrashes for \S+ \{controller: /);
  expect(stdout).toMatch(/\d+ events were 1 when no more could be left out/);
  const seed = /\$ kubewright fuzz --replay (\S+) --minimize/.exec(stdout)![1]!;
  expect(generatePlan(Number(seed.split("+")[0])).name).toBe(`seed-${seed.split("+")[0]}`);
});

test("a campaign without violations prints its plans and coverage, and ends with status 0", async () => {
  const { code, stdout, stderr } = await fuzz(["--seeds", "1-20", "--faults", "staleCache"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^kubewright fuzz {2}seeds 1-20, staleCache\n/);
  expect(stdout).toContain("3h20m of virtual time, 200 requests, 100 writes");
  expect(stdout).toMatch(/10 decisions and answers reached, 10 plans kept[^]*nothing went wrong\n$/);
  expect(stdout).toContain("never reached: ");
});

test("--json is one object that its schema describes, the same for any number of workers", async () => {
  const schema: object = JSON.parse(readFileSync(new URL("../fuzz.schema.json", import.meta.url), "utf8")) as object;
  const validate = new Ajv2020({ strict: true }).compile(schema);
  const texts = [];
  for (const count of [1, 3]) {
    const args = ["--seeds", "1-100", "--minimize", "--faults", "controllerCrashes,staleCache", "--json", "-"];
    const { code, stdout } = await fuzz(args, { fuzzWorkers: fakePool(count) });
    expect(code).toBe(1);
    texts.push(stdout);
  }
  expect(texts[1]).toBe(texts[0]);
  expect([validate(JSON.parse(texts[0]!)), validate.errors]).toEqual([true, null]);
});

test("a stopped campaign prints its results with status 130, and continues from its report", async () => {
  const stop = new AbortController();
  let plays = 0;
  const stopped = await fuzz(["--seeds", "1-200", "--json", "part.json"], {
    stopped: stop.signal,
    fuzzWorkers: fakePool(2, () => {
      plays++;
      if (plays === 100) stop.abort();
    }),
  });
  expect(stopped.code).toBe(130);
  expect(stopped.stderr).toBe("kubewright: stopped with 136 of 200 seeds left; --resume part.json continues\n");
  const plansRun: string[] = [];
  const files = { "part.json": stopped.written["part.json"]! };
  const { code, written } = await fuzz(["--resume", "part.json", "--json", "whole.json"], {
    files,
    fuzzWorkers: fakePool(1, (name) => plansRun.push(name)),
  });
  expect(code).toBe(1);
  expect(plansRun[0]).toBe("seed-65");
  const whole = await fuzz(["--seeds", "1-200", "--json", "-"]);
  const { corpus, plansRun: all, covered, next } = JSON.parse(whole.stdout) as FuzzReport;
  expect(JSON.parse(written["whole.json"]!)).toMatchObject({ corpus, plansRun: all, covered, next });
});

test("the plan that was found is saved as a scenario, which can be replayed", async () => {
  const { written } = await fuzz(["--seeds", "1-20", "--save", "plan.yaml"]);
  const files = { "plan.yaml": written["plan.yaml"]! };
  expect(parse(files["plan.yaml"])).toMatchObject({ kind: "Scenario", seed: expect.any(Number) });
  const { code, stdout, stderr } = await fuzz(["--replay", "plan.yaml"], { files });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^kubewright fuzz {2}seed-\d+, \S+ of virtual time, trace [0-9a-f]+\n/);
});

describe("--replay", () => {
  test("runs a seed exactly as the plan of that seed", async () => {
    const bySeed = await fuzz(["--replay", "12"]);
    const byFile = await fuzz(["--replay", "plan.yaml"], { files: { "plan.yaml": stringify(generatePlan(12)) } });
    expect([byFile.stdout, byFile.stderr]).toEqual([bySeed.stdout, bySeed.stderr]);
    expect(bySeed.stdout).toContain("seed-12");
  });

  test("with --sharding runs the plan of that seed for managers that share the work", async () => {
    const { stdout } = await fuzz(["--replay", "7", "--sharding", "2", "--faults", "shutdown", "--json", "-"]);
    const plan = generateShardedPlan(7, { managers: 2, faults: ["shutdown"] });
    expect(JSON.parse(stdout)).toMatchObject({ plan: JSON.parse(JSON.stringify(plan)) as object });
  });

  test("writes the outcome as JSON", async () => {
    const { stdout } = await fuzz(["--replay", "7+3", "--json", "-"]);
    expect(JSON.parse(stdout)).toMatchObject({ violations: [], hash: expect.any(String), plan: { name: "seed-7+3" } });
  });

  test("says which line of a file is wrong, and which object is not written out", async () => {
    const head = "apiVersion: sim.kubewright.dev/v1\nkind: Scenario\n";
    const { code, stderr } = await fuzz(["--replay", "plan.yaml"], { files: { "plan.yaml": `${head}sed: 1\n` } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^kubewright: plan\.yaml:3:1: sed: is not a field of this; did you mean "seed"\?/);
    const job = stringify(generatePlan(1).manifests.find(({ kind }) => kind === "Job"));
    const files = { "plan.yaml": `${head}manifests: [job.yaml]\n`, "job.yaml": job };
    expect((await fuzz(["--replay", "plan.yaml"], { files })).stderr).toBe(
      "kubewright: plan.yaml:3:13: manifests[0]: is the name of a file, and a plan has its objects written out; write what the file holds here\n",
    );
  });
});

describe("wrong usage is one line and status 2", () => {
  test.each([
    [
      ["--seeds", "9-1"],
      '--seeds: "9-1" is neither a number of seeds nor a range of whole numbers up to 4294967295; write for example 1-1000',
    ],
    [["--for-minutes", "soon"], '--for-minutes: "soon" is no number of minutes up to 10080; write for example 10'],
    [["--for-minutes", "0"], '--for-minutes: "0" is no number of minutes up to 10080; write for example 10'],
    [["--workers", "0"], '--workers: "0" is not a whole number from 1 to 256'],
    [["--faults", "stalecache"], '--faults: there is no fault "stalecache"; did you mean "staleCache"?'],
    [["--sharding", "6"], '--sharding: "6" is not a whole number from 1 to 5'],
    [["--faults", "shutdown"], "--faults: shutdown is of controller managers that share work; add --sharding 3"],
    [
      ["--resume", "part.json", "--sharding", "2"],
      "--sharding: the resumed report has no managers that share the work; leave --sharding out",
    ],
    [["--replay", "7", "--seeds", "1-3"], "--seeds does not go with --replay: leave one of them out"],
    [["--list-mutants", "--json", "a"], "--json does not go with --list-mutants: leave one of them out"],
    [["--replay", "4294967296"], '--replay: "4294967296" is no seed up to 4294967295'],
    [["--replay", "gone.yaml"], "--replay: gone.yaml: no such file or folder"],
    [["--resume", "gone.json"], "--resume: gone.json: no such file or folder"],
    [["--resume", "text"], /^kubewright: --resume: text: not JSON: /],
    [
      ["--resume", "other.json"],
      "--resume: other.json: is no report of kubewright fuzz; give a file that --json has written",
    ],
    [["--resume", "part.json", "--seeds", "2-9"], "--seeds: part.json begins with seed 1; write 1-9 to continue it"],
    [
      ["--resume", "part.json", "--faults", "jitter"],
      "--faults: the resumed report has all faults; leave --faults out",
    ],
    [["--mutant", "any"], /^kubewright: --mutant: the known bugs are kept in the repository/],
    [["--list-mutants"], /^kubewright: --list-mutants: the known bugs are kept in the repository/],
  ] as const)("%s", async (args, message) => {
    const { stdout: part } = await fuzz(["--seeds", "1-5", "--json", "-"]);
    const files = { text: "kubewright", "other.json": "{}", "part.json": part };
    const { code, stdout, stderr } = await fuzz(args, { files });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr.split("\n")).toHaveLength(2);
    expect(stderr).toMatch(typeof message === "string" ? `kubewright: ${message}\n` : message);
  });
});

describe("--mutant", () => {
  const mutants = async () => ({
    listMutants: async () => [
      { name: "job-eats-pods", sentence: "Pods are eaten." },
      { name: "as-upstream", sentence: "They are counted late.", permitted: true },
    ],
    runnerUrl: async (name: string) => {
      if (name !== "job-eats-pods") throw new Error(`there is no mutant ${JSON.stringify(name)}`);
      return "data:text/javascript,export const runPlan = async () => ({ violations: [{ invariant: 'S1 counted once', subject: 'Job default/a', message: 'eaten', atMs: 0 }], covered: [], hash: 'ab', settled: {}, figures: { requests: 1, writes: 1, virtualMs: 1 } });";
    },
  });

  test("runs with the bug", async () => {
    const { code, stdout } = await kubewright(["fuzz", "--mutant", "job-eats-pods", "--seeds", "1-3"], { mutants });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /seeds 1-3, all faults, mutant job-eats-pods\n[^]*eaten[^]*--replay 1 --mutant job-eats-pods\n/,
    );
  });

  test("--html writes the violating run of a campaign or a replay as a page; without violations the file stays unchanged", async () => {
    const pageAssets = async () => ({ script: "", style: "", scriptHash: "s", styleHash: "s" });
    const old = { "run.html": "as it was" };
    for (const args of [
      ["--seeds", "1-2"],
      ["--replay", "2"],
    ]) {
      const options = { mutants, pageAssets, files: old };
      const wrong = await kubewright(["fuzz", ...args, "--mutant", "job-eats-pods", "--html", "run.html"], options);
      expect([wrong.code, wrong.written["run.html"]]).toEqual([1, expect.stringMatching(/^<!doctype html>/i)]);
      const well = await fuzz([...args, "--faults", "none", "--html", "run.html"], options);
      expect([well.code, well.written["run.html"]]).toEqual([0, undefined]);
    }
  });

  test("names those that there are", async () => {
    expect((await fuzz(["--mutant", "other"], { mutants })).stderr).toBe(
      'kubewright: --mutant: there is no mutant "other"; --list-mutants names all\n',
    );
    expect((await fuzz(["--list-mutants"], { mutants })).stdout).toBe(
      "job-eats-pods  Pods are eaten.\nas-upstream    They are counted late. (permitted)\n",
    );
  });
});

test("the help names every kind of fault", async () => {
  const { stdout } = await kubewright(["fuzz", "--help"]);
  for (const kind of [...FAULT_KINDS, ...SHARDING_FAULT_KINDS]) expect(stdout).toContain(kind);
  expect(stdout).toContain("$ kubewright fuzz --for-minutes 10 --json night.json");
});

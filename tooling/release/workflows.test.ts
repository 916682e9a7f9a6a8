import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";

import type * as workflowParser from "@actions/workflow-parser";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { root } from "../public-packages.ts";
import { OTHERS } from "../suites.ts";

interface Step {
  readonly uses?: string;
  readonly run?: string;
}
interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly needs?: string | readonly string[];
        readonly permissions?: Readonly<Record<string, string>>;
        readonly "timeout-minutes"?: number;
        readonly steps: readonly Step[];
      }
    >
  >;
}

const folder = path.join(root, ".github/workflows");
const { scripts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
  scripts: Readonly<Record<string, string>>;
};

/** Loads GitHub's parser as a bundle: it imports JSON in a way that bundlers support and Node does not. */
async function bundledParser(): Promise<typeof workflowParser> {
  const outfile = path.join(root, ".test-output/workflow-parser.mjs");
  const contents = 'export * from "@actions/workflow-parser";';
  await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    outfile,
    bundle: true,
    platform: "browser",
    format: "esm",
  });
  return (await import(outfile)) as typeof workflowParser;
}

/** Every file whose steps GitHub runs: the workflows, the action, and the workflow of a created operator. */
const files = [
  ...readdirSync(folder).map((file) => `.github/workflows/${file}`),
  "action.yml",
  "apps/create-kubewright/template/.github/workflows/ci.yml",
];
const uses = files.flatMap((file) =>
  readFileSync(path.join(root, file), "utf8")
    .split("\n")
    .flatMap((line) => /^\s*(?:- )?uses: (.*)$/.exec(line)?.slice(1) ?? []),
);

test("every action is pinned to a commit, with its version as a comment", () => {
  expect(uses.length).toBeGreaterThan(20);
  expect(uses.filter((action) => !/^[\w.-]+\/[\w./-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
});

test("an action has the same commit everywhere", () => {
  const names = uses.map((action) => action.split("@")[0]);
  expect(new Set(uses).size).toBe(new Set(names).size);
});

describe.each(readdirSync(folder))("%s", (file) => {
  const text = readFileSync(path.join(folder, file), "utf8");
  const workflow = parse(text) as Workflow;
  const jobs = Object.entries(workflow.jobs);
  const commands = jobs.flatMap(([, { steps }]) => steps.flatMap(({ run }) => run ?? []));

  test("is valid for GitHub's parser", async () => {
    const { NoOperationTraceWriter, parseWorkflow } = await bundledParser();
    const { context } = parseWorkflow({ name: file, content: text }, new NoOperationTraceWriter());
    expect(context.errors.getErrors().map(({ message }) => message)).toEqual([]);
  });

  test("has only read permission, except for declared jobs, and none more for pull requests", () => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    const ofPullRequests = "pull_request" in workflow.on ? jobs : [];
    expect(ofPullRequests.filter(([, { permissions }]) => permissions)).toEqual([]);
    expect(workflow.on).not.toHaveProperty("pull_request_target");
  });

  test("uses no secret except GitHub's token for the run", () => {
    for (const secret of text.match(/secrets\.\w+/g) ?? []) expect(secret).toBe("secrets.GITHUB_TOKEN");
  });

  test("has a timeout for each job, and needs only existing jobs", () => {
    for (const [, job] of jobs) {
      expect(job["timeout-minutes"]).toBeGreaterThan(0);
      for (const needed of [job.needs ?? []].flat()) expect(workflow.jobs).toHaveProperty(needed);
    }
  });

  test("runs existing scripts and files", () => {
    for (const command of commands) {
      for (const [, script] of command.matchAll(/npm run (?:--silent )?([\w:]+)/g))
        expect(scripts).toHaveProperty(script!);
      for (const [file] of command.matchAll(/(?:\.ci|tooling|deploy|apps|packages)\/[\w./-]+/g))
        expect(existsSync(path.join(root, file)), file).toBe(true);
      expect(spawnSync("bash", ["-n", "-c", command], { encoding: "utf8" }).stderr).toBe("");
    }
    for (const [, file] of text.matchAll(/(?:file|dockerfile): (deploy\/\S+)/g))
      expect(existsSync(path.join(root, file!)), file).toBe(true);
  });
});

test("the jobs of a push run every suite of npm test, and each part of the unit tests, once", () => {
  const { jobs } = parse(readFileSync(path.join(folder, "ci.yml"), "utf8")) as {
    jobs: { test: { strategy: { matrix: { suites: readonly string[] } } } };
  };
  const [parts, others] = [true, false].map((isUnit) =>
    jobs.test.strategy.matrix.suites.filter((suites) => suites.startsWith("unit ") === isUnit),
  );
  expect(parts).toEqual(parts!.map((_, index) => `unit --shard=${index + 1}/${parts!.length}`));
  expect(others!.flatMap((suites) => suites.split(" ")).sort()).toEqual(OTHERS.map(({ name }) => name).sort());
});

test("the release builds an archive for every platform of the krew manifest", () => {
  /** Platform of each runner, as `build-executable.ts` names it. */
  const runners: Readonly<Record<string, string>> = {
    "ubuntu-latest": "linux-x64",
    "ubuntu-24.04-arm": "linux-arm64",
    "macos-latest": "darwin-arm64",
    "macos-15-intel": "darwin-x64",
    "windows-latest": "windows-x64",
    "windows-11-arm": "windows-arm64",
  };
  const { jobs } = parse(readFileSync(path.join(folder, "release.yml"), "utf8")) as {
    jobs: { executables: { strategy: { matrix: { os: readonly string[] } } } };
  };
  const { spec } = parse(readFileSync(path.join(root, ".krew.yaml"), "utf8")) as {
    spec: {
      platforms: readonly { selector: { matchLabels: { os: string; arch: string } }; uri: string; bin: string }[];
    };
  };
  const built = jobs.executables.strategy.matrix.os.map((os) => `kubewright-${runners[os]}.tar.gz`);
  expect(spec.platforms.map(({ uri }) => path.posix.basename(uri)).sort()).toEqual(built.sort());
  for (const { selector, uri, bin } of spec.platforms) {
    const { os, arch } = selector.matchLabels;
    expect(uri).toContain(`/v{{version}}/kubewright-${os}-${arch === "amd64" ? "x64" : arch}.tar.gz`);
    expect(bin).toBe(os === "windows" ? "kubewright.exe" : "kubewright");
  }
});

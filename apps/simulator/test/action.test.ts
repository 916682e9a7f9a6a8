import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const BINARY = path.join(root, "apps/simulator/dist/main.js");

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly runs: {
    readonly using: string;
    readonly steps: readonly {
      readonly id?: string;
      readonly if?: string;
      readonly shell: string;
      readonly env: Readonly<Record<string, string>>;
      readonly run: string;
    }[];
  };
}

const action = parse(readFileSync(path.join(root, "action.yml"), "utf8")) as Action;

function report(schedule: string): string {
  return `
apiVersion: batch/v1
kind: CronJob
metadata: { name: report }
spec:
  schedule: "${schedule}"
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 60
  jobTemplate:
    spec:
      template:
        metadata: { annotations: { sim.kubewright.dev/duration: 40m } }
        spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
`;
}

interface Ran {
  /** Status of the failed step; 0 when none failed. */
  readonly status: number;
  readonly comment: string | undefined;
  /** Arguments of the `gh` call. */
  readonly asked: string | undefined;
  /** Folder and arguments of the `npm` calls, one line each. */
  readonly built: string;
  readonly summary: string;
  readonly output: string;
}

/**
 * Runs the steps of the action as a runner does, on a repository whose last commit changes the schedule. `gh` and
 * `npm` are stubs that record their arguments. The action's checkout is this one, which is built.
 */
function runAction(given: Readonly<Record<string, string>>): Ran {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} does not exist: run "npm run build" first`);
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-action-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const at = (...names: string[]): string => path.join(folder, ...names);
  for (const name of ["origin/jobs", "temp", "bin", "action/node_modules/.bin"])
    mkdirSync(at(name), { recursive: true });
  const git = (where: string, ...args: string[]): string => {
    const who = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
    const { status, stdout, stderr } = spawnSync("git", ["-C", at(where), ...who, ...args], { encoding: "utf8" });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
    return stdout.trim();
  };
  git("origin", "init", "--quiet", "--initial-branch=main");
  git("origin", "config", "uploadpack.allowAnySHA1InWant", "true");
  const commit = (schedule: string): string => {
    writeFileSync(at("origin/jobs/report.yaml"), report(schedule));
    git("origin", "add", ".");
    git("origin", "commit", "--quiet", "-m", schedule);
    return git("origin", "rev-parse", "HEAD");
  };
  const base = commit("0 * * * *");
  commit("*/30 * * * *");
  spawnSync("git", ["clone", "--quiet", "--depth=1", `file://${at("origin")}`, at("checkout")]);
  writeFileSync(at("bin/gh"), `#!/bin/sh\nprintf '%s ' "$@" > ${at("asked")}\ncp "$7" ${at("comment.md")}\n`);
  chmodSync(at("bin/gh"), 0o755);
  writeFileSync(at("bin/npm"), `#!/bin/sh\necho "$PWD: $*" >> ${at("built")}\n`, { mode: 0o755 });
  symlinkSync(process.execPath, at("action/node_modules/.bin/node"));
  symlinkSync(path.join(root, "apps"), at("action/apps"));

  const inputs = Object.fromEntries(Object.entries(action.inputs).map(([name, input]) => [name, input.default]));
  const context: Record<string, string> = {
    "github.event_name": "pull_request",
    "github.event.pull_request.base.sha": base,
    "github.event.pull_request.number": "7",
    "github.token": "t",
    "github.action_path": at("action"),
    "runner.temp": at("temp"),
  };
  for (const [name, value] of Object.entries({ ...inputs, command: `${process.execPath} ${BINARY}`, ...given }))
    context[`inputs.${name}`] = value;
  const expand = (text: string): string =>
    text.replace(/\$\{\{ ([\w.-]+) \}\}/g, (_, name: string) => context[name] ?? "");
  const holds = (condition = "true"): boolean =>
    condition.split(" || ").some((any) =>
      any.split(" && ").every((each) => {
        const [, name = "", operator, value] = /^([\w.]+) (==|!=) '(.*)'$/.exec(each) ?? [];
        return each === "true" || ((context[name] ?? "") === value) === (operator === "==");
      }),
    );
  writeFileSync(at("summary.md"), "");
  let output = "";
  let status = 0;
  for (const step of action.runs.steps) {
    if (!holds(step.if)) continue;
    writeFileSync(at("output"), "");
    const env = Object.fromEntries(Object.entries(step.env).map(([name, value]) => [name, expand(value)]));
    const ran = spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", step.run], {
      cwd: at("checkout"),
      encoding: "utf8",
      env: {
        PATH: `${at("bin")}:${process.env["PATH"]}`,
        HOME: folder,
        ...env,
        GITHUB_OUTPUT: at("output"),
        GITHUB_STEP_SUMMARY: at("summary.md"),
      },
    });
    output += ran.stdout + ran.stderr;
    for (const line of readFileSync(at("output"), "utf8").split("\n")) {
      const [name, value] = line.split("=");
      if (value !== undefined) context[`steps.${step.id}.outputs.${name}`] = value;
    }
    status = ran.status ?? 1;
    if (status !== 0) break;
  }
  const comment = existsSync(at("comment.md")) ? readFileSync(at("comment.md"), "utf8") : undefined;
  const asked = existsSync(at("asked")) ? readFileSync(at("asked"), "utf8") : undefined;
  const built = existsSync(at("built")) ? readFileSync(at("built"), "utf8").replaceAll(at("action"), "ACTION") : "";
  return { status, comment, asked, built, summary: readFileSync(at("summary.md"), "utf8"), output };
}

test("no input reaches a script but as a variable of its environment", () => {
  expect(action.runs.using).toBe("composite");
  for (const { run, shell } of action.runs.steps) {
    expect(shell).toBe("bash");
    expect(run).not.toContain("${{");
  }
});

test("a pull request gets a comment with what becomes different", () => {
  const { status, comment, asked, summary, output } = runAction({ path: "jobs", for: "3h" });
  expect(status, output).toBe(0);
  expect(asked).toContain("pr comment 7 --edit-last --create-if-none");
  expect(comment).toContain('`CronJob default/report spec.schedule`: `"0 * * * *"` → `"*/30 * * * *"`');
  expect(comment).toContain("| slot | before | after |");
  expect(comment).toContain("**Highlights**");
  expect(summary).toBe(comment);
});

test("without a command it builds the action's own checkout, and runs that", () => {
  const { status, built, summary, output } = runAction({ path: "jobs", for: "3h", command: "" });
  expect(status, output).toBe(0);
  expect(built).toBe("ACTION: ci --no-audit --no-fund\nACTION: run --silent bundle\n");
  expect(summary).toContain("| slot | before | after |");
});

test("with a command it builds nothing, and installs nothing from npm in any case", () => {
  expect(runAction({ path: "jobs", for: "3h" }).built).toBe("");
  expect(readFileSync(path.join(root, "action.yml"), "utf8")).not.toMatch(/\bnpx\b|@latest/);
});

test("a broken rule fails it, after the comment was made", () => {
  const { status, comment, output } = runAction({ path: "jobs", for: "3h", "fail-on": "skipped" });
  expect(status).toBe(1);
  expect(comment).toContain("**Broken rules**\n\n- skipped: default/report at");
  expect(output).toContain("kubewright: skipped: default/report");
});

test("many futures are held against the rules, without a comment when none is wanted", () => {
  const flags = { path: "jobs", for: "3h", seeds: "1-3", "fail-on": "skipped>40%", comment: "false" };
  const { status, comment, summary } = runAction(flags);
  expect({ status, comment }).toEqual({ status: 1, comment: undefined });
  expect(summary).toContain("in 3 of 3 futures");
});

import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { InterruptedError } from "@kubewright/analysis/errors";
import { expect, onTestFinished, test } from "vitest";

import { type CommandResult, kubewright } from "./memory-io.js";
import type { Io } from "../src/io/io.js";
import { nodeIo } from "../src/nodejs/nodejs-io.js";

const BINARY = fileURLToPath(new URL("../dist/main.js", import.meta.url));

function isInstalled(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0;
}

const HAS_KUBECTL = isInstalled("kubectl", ["kustomize", "--help"]);
if (!HAS_KUBECTL) console.warn("SKIPPED: kustomizations built by kubectl: there is no kubectl on PATH");
const HAS_HELM = isInstalled("helm", ["version"]);
if (!HAS_HELM) console.warn("SKIPPED: charts rendered by helm: there is no helm on PATH");

const CRON_JOB = `apiVersion: batch/v1
kind: CronJob
metadata:
  name: report
spec:
  schedule: "0 6 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: c
              image: busybox
`;

/** Writes files, and returns their folder. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-render-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

/** The file system and the programs of this machine. */
function inputs(): Required<Pick<Io, "readFile" | "listFolder" | "execute">> {
  const io = nodeIo(new AbortController().signal);
  return {
    readFile: (file, options) => io.readFile(file, options),
    listFolder: (folder) => io.listFolder(folder),
    execute: (command, args, options) => io.execute!(command, args, options),
  };
}

function run(folder: string, ...args: readonly string[]): Promise<CommandResult> {
  return kubewright(["run", folder, "--for", "3d", ...args], inputs());
}

test("--kustomize takes none, top and all", async () => {
  const { code, stderr } = await run(folderWith({ "a.yaml": CRON_JOB }), "--kustomize", "some");
  expect([code, stderr]).toEqual([2, 'kubewright: --kustomize: "some" is neither none nor top nor all\n']);
});

test("a stop while a program is running ends the command with status 130", async () => {
  const folder = folderWith({ "kustomization.yaml": "resources: [c.yaml]\n", "c.yaml": CRON_JOB });
  const execute = (): Promise<never> => Promise.reject(new InterruptedError("stopped while kubectl was running"));
  expect(await kubewright(["run", folder], { ...inputs(), execute })).toMatchObject({
    code: 130,
    stderr: "kubewright: stopped while kubectl was running\n",
  });
});

test("SIGTERM ends the programs that render folders, and their temporary files are removed", async () => {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} does not exist: run "npm run build" first`);
  const folder = folderWith({
    "r/kustomization.yaml": "resources: [c.yaml]\n",
    "r/c.yaml": CRON_JOB,
    "bin/kubectl": `#!/bin/sh\nsleep 60 &\necho "$$ $!" > "$PIDS"\nwait\n`,
    "tmp/keep": "",
    pids: "",
  });
  const at = (name: string): string => path.join(folder, name);
  chmodSync(at("bin/kubectl"), 0o755);
  const env = { ...process.env, PATH: `${at("bin")}:${process.env["PATH"]}`, PIDS: at("pids"), TMPDIR: at("tmp") };
  const child = spawn(process.execPath, [BINARY, "run", at("r")], { env, stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  await expect.poll(() => readFileSync(at("pids"), "utf8")).toMatch(/\d+ \d+\n/);
  child.kill("SIGTERM");
  expect(await ended).toBe(130);
  const pids = readFileSync(at("pids"), "utf8").trim().split(" ").map(Number);
  await expect.poll(() => pids.filter(isRunning)).toEqual([]);
  expect(readdirSync(at("tmp"))).toEqual(["keep"]);
});

function isRunning(pid: number): boolean {
  const status = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim();
  return status !== "" && !status.startsWith("Z");
}

test.skipIf(!HAS_KUBECTL)("kubectl builds the overlay of a repository with its patches and components", async () => {
  const folder = folderWith({
    "base/kustomization.yaml": "resources: [cronjob.yaml]\nconfigMapGenerator: [{name: m, files: [data.yaml]}]\n",
    "base/cronjob.yaml": CRON_JOB,
    "base/data.yaml": "a: 1\n",
    "components/hourly/kustomization.yaml":
      'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{target: {kind: CronJob}, patch: \'[{"op": "replace", "path": "/spec/schedule", "value": "0 * * * *"}]\'}]\n',
    "overlays/prod/kustomization.yaml":
      "namespace: prod\nresources: [../../base]\ncomponents: [../../components/hourly]\npatches: [{path: patch.yaml}]\n",
    "overlays/prod/patch.yaml":
      "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: report}\nspec: {concurrencyPolicy: Forbid}\n",
  });
  const { code, stdout, stderr } = await run(folder);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain('CronJob prod/report  "0 * * * *" · UTC · Forbid');
});

test.skipIf(!HAS_KUBECTL)("a remote resource that kubewright does not recognize finds no network", async () => {
  const folder = folderWith({
    "kustomization.yaml": "resources: [c.yaml, no-such-host/repository]\n",
    "c.yaml": CRON_JOB,
  });
  const { code, stdout, stderr } = await run(folder);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /: kubectl kustomize: .*no-such-host\/repository.*; what it includes runs without its patches and names\n$/,
  );
  expect(stdout).toContain("CronJob default/report");
});

const CHART = {
  "chart/Chart.yaml": "apiVersion: v2\nname: chart\nversion: 0.1.0\n",
  "chart/values.yaml": "schedule: 0 7 * * *\n",
  "chart/templates/cronjob.yaml": CRON_JOB.replace('"0 6 * * *"', "{{ .Values.schedule | quote }}"),
};

test("a chart is rendered by the program helm", async () => {
  const folder = folderWith({
    ...CHART,
    "bin/helm": `#!/bin/sh\n[ "$1 $(basename "$2")" = "template chart" ] && sed 's/{{.*}}/"0 7 * * *"/' "$2/templates/cronjob.yaml"\n`,
  });
  chmodSync(path.join(folder, "bin/helm"), 0o755);
  const before = process.env["PATH"];
  process.env["PATH"] = `${folder}/bin:${before}`;
  onTestFinished(() => void (process.env["PATH"] = before));
  const { code, stdout } = await run(folder);
  expect(code).toBe(0);
  expect(stdout).toContain('CronJob default/report  "0 7 * * *"');
});

test.skipIf(!HAS_HELM)("helm renders a chart with its default values", async () => {
  const { code, stdout } = await run(folderWith(CHART));
  expect(code).toBe(0);
  expect(stdout).toContain('CronJob default/report  "0 7 * * *"');
});

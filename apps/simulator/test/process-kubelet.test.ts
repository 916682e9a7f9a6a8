import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { ServedProcess } from "./served-process.js";

const KUBECTL = process.env["KUBECTL"] ?? "kubectl";
const missing = missingReason();
if (missing !== undefined) console.warn(`SKIPPED: kubectl and pods as processes: ${missing}`);

function missingReason(): string | undefined {
  try {
    execFileSync(KUBECTL, ["version", "--client"], { stdio: "ignore" });
    return undefined;
  } catch {
    return `there is no ${KUBECTL} on PATH`;
  }
}

const MANIFESTS = `
apiVersion: batch/v1
kind: Job
metadata: { name: hello }
spec:
  completions: 2
  template:
    spec:
      restartPolicy: Never
      containers:
        - { name: main, image: none, command: [sh, -c, "echo one; echo two; printf well > /dev/termination-log"] }
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: tick }
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
            - { name: main, image: none, command: [sh, -c, "echo tick"] }
---
apiVersion: v1
kind: Pod
metadata: { name: chatty }
spec:
  restartPolicy: OnFailure
  containers:
    - { name: main, image: none, command: [sh, -c, "echo begun; exec sleep 1000"] }
`;

describe.skipIf(missing !== undefined)("kubectl and pods as processes", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-process-kubelet-"));
  const kubeconfig = path.join(folder, "kubeconfig");
  let served: ServedProcess;

  async function kubectl(...args: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(KUBECTL, ["--kubeconfig", kubeconfig, ...args], { timeout: 120_000 });
    return stdout;
  }

  beforeAll(async () => {
    // Starts shortly before a slot of the CronJob.
    const flags = [
      "--controllers",
      "*",
      "--kubelet",
      "process",
      "--token",
      "s3cret",
      "--tls",
      "--kubeconfig",
      kubeconfig,
    ];
    served = await ServedProcess.start(process.execPath, [...flags, "--start", "2030-01-01T00:00:55Z"]);
    await served.ready;
    const applied = spawn(KUBECTL, ["--kubeconfig", kubeconfig, "apply", "-f", "-"], {
      stdio: ["pipe", "ignore", "inherit"],
    });
    applied.stdin.end(MANIFESTS);
    await new Promise((resolve) => applied.once("close", resolve));
  });
  afterAll(async () => {
    const { code, stderr } = await served.stop();
    rmSync(folder, { recursive: true });
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("any client that may create pods here runs commands on this machine as you"),
    ]);
  });

  test("a Job runs to its end, and its logs can be read", async () => {
    await kubectl("wait", "--for=condition=complete", "job/hello", "--timeout=90s");
    expect(await kubectl("logs", "job/hello", "--tail=1")).toBe("two\n");
    expect(await kubectl("logs", "job/hello", "--timestamps", "--tail=1")).toMatch(/^2030-01-01T00:\S+Z two\n$/);
    const message = "{.items[*].status.containerStatuses[0].state.terminated.message}";
    expect(await kubectl("get", "pods", "-l", "job-name=hello", "-o", `jsonpath=${message}`)).toBe("well well");
  });

  test("a CronJob runs when it is due", async () => {
    const jobs = (): Promise<string> => kubectl("get", "jobs", "-o", "name");
    await expect.poll(jobs, { interval: 500 }).toContain("job.batch/tick-");
    const name = (await jobs()).split("\n").find((line) => line.startsWith("job.batch/tick-"))!;
    await kubectl("wait", "--for=condition=complete", name, "--timeout=90s");
    expect(await kubectl("logs", name)).toBe("tick\n");
  });

  test("logs -f ends with the pod, and the deletion waits for the process", async () => {
    await kubectl("wait", "--for=jsonpath={.status.phase}=Running", "pod/chatty", "--timeout=90s");
    const follow = spawn(KUBECTL, ["--kubeconfig", kubeconfig, "logs", "-f", "chatty"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    const begun = new Promise<void>((resolve) =>
      follow.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        if (text.includes("begun")) resolve();
      }),
    );
    const closed = new Promise<number | null>((resolve) => follow.once("close", resolve));
    await begun;
    await kubectl("delete", "pod", "chatty", "--timeout=90s");
    expect([await closed, text]).toEqual([0, "begun\n"]);
  });
});

test("a reset ends running processes, and later pods run as before", async () => {
  const flags = ["--controllers", "*", "--kubelet", "process", "--token", "s3cret"];
  const served = await ServedProcess.start(process.execPath, flags);
  await served.ready;
  const headers = { authorization: "Bearer s3cret", "content-type": "application/json" };
  const pods = "/api/v1/namespaces/default/pods";
  const create = (name: string, script: string): Promise<unknown> => {
    const containers = [{ name: "main", image: "none", command: ["sh", "-c", script] }];
    const pod = { metadata: { name }, spec: { restartPolicy: "Never", containers } };
    return served.send({ method: "POST", path: pods, headers, body: JSON.stringify(pod) });
  };
  const read = async (where: string): Promise<string> => (await served.send({ path: where, headers })).text;
  await create("p", "echo pid=$$$$; exec sleep 1000");
  await expect.poll(() => read(`${pods}/p/log`)).toMatch(/^pid=\d+\n$/);
  const pid = Number((await read(`${pods}/p/log`)).slice("pid=".length));
  expect((await served.send({ method: "POST", path: "/_kubewright/reset", headers })).status).toBe(200);
  expect(JSON.parse(await read(pods))).toMatchObject({ items: [] });
  await expect.poll(() => isAlive(pid)).toBe(false);
  await create("p", "true");
  await expect.poll(() => read(`${pods}/p`)).toContain('"phase":"Succeeded"');
  await create("last", "exec sleep 1000");
  await expect.poll(() => read(`${pods}/last`)).toContain('"phase":"Running"');
  const { code, stderr } = await served.stop();
  expect([code, stderr.split("\n").slice(2)]).toEqual([0, ["kubewright is ready", ""]]);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

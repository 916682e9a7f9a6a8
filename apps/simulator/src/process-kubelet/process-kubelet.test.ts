import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, describe, expect, test } from "vitest";
import { type Job, type Pod, configMaps, events, jobs, pods } from "@kubewright/api";
import { realClock, silentLogger, seededRandom } from "@kubewright/clock";
import { type Cluster, type StoreSnapshot, createCluster } from "@kubewright/cluster";

import { localProcesses } from "./local-processes.js";
import { nodeProcessHost } from "./node-process-host.js";

const host = nodeProcessHost()!;
const running: (() => Promise<void>)[] = [];

interface Running {
  readonly cluster: Cluster;
  readonly stop: () => Promise<void>;
}

async function start(restore?: StoreSnapshot, maxProcesses?: number): Promise<Running> {
  const access = { host: "127.0.0.1", token: "t", speed: 1 };
  const processes = await localProcesses(access, { processHost: async () => host });
  const cluster = createCluster({
    clock: realClock,
    random: seededRandom(1),
    logger: silentLogger,
    freeze: true,
    ...(restore === undefined ? {} : { restore }),
    ...processes(maxProcesses),
  });
  const stopping = new AbortController();
  const ran = cluster.run(stopping.signal);
  await cluster.ready();
  const stop = (): Promise<void> => {
    stopping.abort();
    return ran;
  };
  running.push(stop);
  return { cluster, stop };
}

afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

type PodSpec = Partial<NonNullable<Pod["spec"]>>;
type ContainerSpec = Partial<NonNullable<Pod["spec"]>["containers"][number]>;

function shell(script: string, more: ContainerSpec = {}): NonNullable<Pod["spec"]>["containers"][number] {
  return { name: "main", image: "none", command: ["sh", "-c", script], ...more };
}

async function create(
  { cluster }: Running,
  name: string,
  spec: PodSpec & Pick<NonNullable<Pod["spec"]>, "containers">,
): Promise<void> {
  await cluster
    .client("test")
    .resource(pods)
    .create({ metadata: { name, namespace: "default" }, spec: { restartPolicy: "Never", ...spec } });
}

/** Resolves with the pod when it matches. */
async function podWhen({ cluster }: Running, name: string, matches: (pod: Pod) => boolean): Promise<Pod> {
  const client = cluster.client("test").resource(pods);
  for (;;) {
    const pod = (await client.get(name, { namespace: "default" })) as Pod;
    if (matches(pod)) return pod;
    // The timeout of the test ends an endless wait.
    await realClock.sleep(20);
  }
}

const hasEnded = ({ status }: Pod): boolean => status?.phase === "Succeeded" || status?.phase === "Failed";

async function ended(
  where: Running,
  name: string,
  spec: PodSpec & Pick<NonNullable<Pod["spec"]>, "containers">,
): Promise<Pod> {
  await create(where, name, spec);
  return podWhen(where, name, hasEnded);
}

async function logOf({ cluster }: Running, name: string, query = ""): Promise<string> {
  const response = await cluster.apiServer.transport({
    method: "GET",
    path: `/api/v1/namespaces/default/pods/${name}/log${query}`,
    headers: {},
  });
  if (response.body.type === "decoded") throw new Error(JSON.stringify(response.body.value));
  let text = "";
  for await (const chunk of response.body.type === "bytes" ? response.body.chunks : [])
    text += new TextDecoder().decode(chunk);
  return text;
}

async function eventsOf({ cluster }: Running, name: string): Promise<string[]> {
  const { items } = await cluster.client("test").resource(events).list({ namespace: "default" });
  return items
    .filter((event) => event.involvedObject.name === name)
    .map(({ reason, message }) => `${reason}: ${message}`);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie process counts as ended.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

describe("a container's end", () => {
  test("has the exit code, reason, message and log of its process", async () => {
    const cluster = await start();
    const pod = await ended(cluster, "p", {
      containers: [shell("echo out; echo err >&2; printf why > $KUBEWRIGHT_TERMINATION_LOG; exit 42")],
    });
    expect(pod.status).toMatchObject({ phase: "Failed", hostIP: "127.0.0.1" });
    expect(pod.status?.containerStatuses?.[0]).toMatchObject({
      ready: false,
      restartCount: 0,
      state: { terminated: { exitCode: 42, reason: "Error", message: "why" } },
    });
    expect(pod.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`)).toEqual([
      "PodReadyToStartContainers=False undefined",
      "Initialized=True undefined",
      "Ready=False PodFailed",
      "ContainersReady=False PodFailed",
      "PodScheduled=True undefined",
    ]);
    expect((await logOf(cluster, "p")).split("\n").sort()).toEqual(["", "err", "out"]);
    const good = await ended(cluster, "good", { containers: [shell("exit 0")] });
    expect(good.status).toMatchObject({
      phase: "Succeeded",
      containerStatuses: [{ state: { terminated: { exitCode: 0, reason: "Completed" } } }],
    });
    const killed = await ended(cluster, "killed", { containers: [shell("kill -KILL $$$$")] });
    expect(killed.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 137, reason: "Error" });
  });

  test("has exit code 128 and StartError when the command does not exist", async () => {
    const cluster = await start();
    const pod = await ended(cluster, "p", {
      containers: [{ name: "main", image: "i", command: ["no-such-command-here"] }],
    });
    expect(pod.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({
      exitCode: 128,
      reason: "StartError",
      message: 'failed to start container: exec: "no-such-command-here": executable file not found in $PATH',
    });
    const lost = await ended(cluster, "lost", { containers: [shell("true", { workingDir: "/no/such/folder" })] });
    expect(lost.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({
      exitCode: 128,
      message: expect.stringContaining("/no/such/folder"),
    });
  });

  test("kills the children of the process", async () => {
    const cluster = await start();
    await ended(cluster, "p", { containers: [shell("sleep 1000 & echo $!")] });
    const pid = Number(await logOf(cluster, "p"));
    expect(pid).toBeGreaterThan(1);
    await expect.poll(() => isAlive(pid), { timeout: 90_000 }).toBe(false);
  });

  test("kills child processes that have left the process group", async () => {
    const cluster = await start();
    await ended(cluster, "p", {
      containers: [shell("setsid sh -c 'echo $$$$; exec sleep 1000 >/dev/null 2>&1' & sleep 0.3")],
    });
    const pid = Number(await logOf(cluster, "p"));
    expect(pid).toBeGreaterThan(1);
    await expect.poll(() => isAlive(pid), { timeout: 90_000 }).toBe(false);
  });

  test.each([
    ["a pipe", "mkfifo"],
    ["a link", "ln -s /etc/hostname"],
    ["a folder", "mkdir"],
  ])("has no message when the process replaced the termination log by %s", async (_what, make) => {
    const cluster = await start();
    const script = `rm $KUBEWRIGHT_TERMINATION_LOG; ${make} $KUBEWRIGHT_TERMINATION_LOG; exit 3`;
    const pod = await ended(cluster, "p", { containers: [shell(script)] });
    const { terminated } = pod.status!.containerStatuses![0]!.state!;
    expect(terminated).toMatchObject({ exitCode: 3, reason: "Error" });
    expect(terminated?.message).toBeUndefined();
  });

  test("has the log as its message when the policy says so, and only after an error", async () => {
    const cluster = await start();
    const policy = { terminationMessagePolicy: "FallbackToLogsOnError" };
    const failed = await ended(cluster, "failed", { containers: [shell("echo first; echo last; exit 1", policy)] });
    expect(failed.status?.containerStatuses?.[0]?.state?.terminated?.message).toBe("first\nlast\n");
    const fine = await ended(cluster, "fine", { containers: [shell("echo fine", policy)] });
    expect(fine.status?.containerStatuses?.[0]?.state?.terminated?.message).toBeUndefined();
  });
});

test("a container without a command waits, with the reason in its status", async () => {
  const cluster = await start();
  await create(cluster, "p", { containers: [{ name: "main", image: "busybox" }] });
  const pod = await podWhen(
    cluster,
    "p",
    ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === "CreateContainerConfigError",
  );
  const message = 'no command: this kubelet starts command and args as processes, and cannot run the image "busybox"';
  expect(pod.status).toMatchObject({ phase: "Pending", containerStatuses: [{ state: { waiting: { message } } }] });
  await expect.poll(() => eventsOf(cluster, "p"), { timeout: 90_000 }).toContain(`Failed: Error: ${message}`);
});

test("the environment is the manifest's, expanded, without the server's secrets", async () => {
  const cluster = await start();
  await cluster.cluster
    .client("test")
    .resource(configMaps)
    .create({ metadata: { name: "settings", namespace: "default" }, data: { colour: "blue", size: "7" } });
  process.env["KUBEWRIGHT_TEST_SECRET"] = "x";
  const env = [
    { name: "NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    {
      name: "INDEX",
      valueFrom: { fieldRef: { fieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']" } },
    },
    { name: "COLOUR", valueFrom: { configMapKeyRef: { name: "settings", key: "colour" } } },
    { name: "BOTH", value: "$(NAME)-$(COLOUR) $$(NAME) $(NOTHING)" },
  ];
  const main = shell("", {
    command: ["sh", "-c"],
    args: ['printenv BOTH; echo "$1 $SIZE_size"; env | cut -d= -f1 | sort | tr "\\n" " "', "sh", "$(INDEX)$(COLOUR)"],
    env,
    envFrom: [{ prefix: "SIZE_", configMapRef: { name: "settings" } }],
  });
  await ended(cluster, "p", { containers: [main] });
  delete process.env["KUBEWRIGHT_TEST_SECRET"];
  const [both, sizes, names] = (await logOf(cluster, "p")).split("\n");
  expect([both, sizes]).toEqual(["p-blue $(NAME) $(NOTHING)", "blue 7"]);
  expect(names).not.toContain("KUBEWRIGHT_TEST_SECRET");
  for (const name of ["PATH", "HOSTNAME", "KUBEWRIGHT_TERMINATION_LOG"]) expect(names).toContain(name);
  await create(cluster, "without", {
    containers: [shell("true", { envFrom: [{ configMapRef: { name: "nothing" } }] })],
  });
  const pod = await podWhen(
    cluster,
    "without",
    ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === "CreateContainerConfigError",
  );
  expect(pod.status?.containerStatuses?.[0]?.state?.waiting?.message).toBe('configmap "nothing" not found');
});

test("mounted volumes are folders, and their paths replace those of the manifest", async () => {
  const cluster = await start();
  await cluster.cluster
    .client("test")
    .resource(configMaps)
    .create({ metadata: { name: "inputs", namespace: "default" }, data: { "a.txt": "hello" } });
  await ended(cluster, "p", {
    volumes: [
      { name: "inputs", configMap: { name: "inputs", items: [{ key: "a.txt", path: "deep/a.txt" }] } },
      { name: "scratch", emptyDir: {} },
    ],
    initContainers: [
      shell("cat /inputs/deep/a.txt > /scratch/out", {
        name: "copy",
        volumeMounts: [
          { name: "inputs", mountPath: "/inputs" },
          { name: "scratch", mountPath: "/scratch/" },
        ],
      }),
    ],
    containers: [
      shell("cat out; printf done > /dev/termination-log", {
        workingDir: "/work",
        volumeMounts: [{ name: "scratch", mountPath: "/work" }],
      }),
    ],
  });
  expect(await logOf(cluster, "p", "?container=main")).toBe("hello");
  const pod = await podWhen(cluster, "p", hasEnded);
  expect(pod.status?.containerStatuses?.[0]?.state?.terminated?.message).toBe("done");
  expect(pod.status?.initContainerStatuses?.[0]).toMatchObject({ ready: true, state: { terminated: { exitCode: 0 } } });
});

test("init containers run one after the other, and a failed one prevents the others from starting", async () => {
  const cluster = await start();
  const pod = await ended(cluster, "p", {
    initContainers: [shell("true", { name: "one" }), shell("exit 3", { name: "two" })],
    containers: [shell("true")],
  });
  expect(pod.status).toMatchObject({
    phase: "Failed",
    initContainerStatuses: [{ state: { terminated: { exitCode: 0 } } }, { state: { terminated: { exitCode: 3 } } }],
  });
  expect(pod.status?.conditions).toContainEqual(
    expect.objectContaining({
      type: "Initialized",
      status: "False",
      message: "containers with incomplete status: [two]",
    }),
  );
});

test("a sidecar runs beside the other containers and gets SIGTERM when they have ended", async () => {
  const cluster = await start();
  const volumeMounts = [{ name: "shared", mountPath: "/shared" }];
  const sidecar = shell("trap 'echo stopping; exit 0' TERM; touch /shared/up; while :; do sleep 0.05; done", {
    name: "sidecar",
    restartPolicy: "Always",
    volumeMounts,
  });
  const pod = await ended(cluster, "p", {
    volumes: [{ name: "shared", emptyDir: {} }],
    initContainers: [sidecar],
    containers: [shell("until [ -e /shared/up ]; do sleep 0.05; done", { volumeMounts })],
  });
  expect(pod.status?.phase).toBe("Succeeded");
  expect(await logOf(cluster, "p", "?container=sidecar")).toContain("stopping\n");
});

test("a failed container restarts, first immediately and then with back-off, and the previous log stays readable", async () => {
  const cluster = await start();
  await create(cluster, "p", { restartPolicy: "OnFailure", containers: [shell("echo run; exit 1")] });
  const pod = await podWhen(
    cluster,
    "p",
    ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === "CrashLoopBackOff",
  );
  expect(pod.status).toMatchObject({
    phase: "Running",
    containerStatuses: [
      {
        restartCount: expect.toSatisfy((count) => count >= 1),
        state: {
          waiting: {
            message: expect.stringMatching(/^back-off (?:10|20|40)s restarting failed container=main pod=p_default\(/),
          },
        },
        lastState: { terminated: { exitCode: 1 } },
      },
    ],
  });
  expect(await logOf(cluster, "p", "?previous=true")).toBe("run\n");
});

test("a deleted pod gets SIGTERM, and SIGKILL after its grace period", async () => {
  const cluster = await start();
  const stubborn = shell("trap '' TERM; echo ready; while :; do sleep 0.05; done");
  await create(cluster, "p", { terminationGracePeriodSeconds: 1, containers: [stubborn] });
  await podWhen(cluster, "p", ({ status }) => status?.phase === "Running");
  await expect.poll(() => logOf(cluster, "p")).toBe("ready\n");
  const followed = logOf(cluster, "p", "?follow=true");
  const client = cluster.cluster.client("test").resource(pods);
  await client.delete("p", { namespace: "default" });
  await expect
    .poll(async () => (await client.list({ namespace: "default" })).items.length, { timeout: 90_000 })
    .toBe(0);
  // The followed log ends with the container.
  expect(await followed).toBe("ready\n");
});

test("activeDeadlineSeconds ends a pod", async () => {
  const cluster = await start();
  const pod = await ended(cluster, "p", { activeDeadlineSeconds: 1, containers: [shell("exec sleep 1000")] });
  // On a busy machine the container may not have started in time.
  expect(pod.status).toMatchObject({
    phase: "Failed",
    reason: "DeadlineExceeded",
    containerStatuses: [
      { state: { terminated: { exitCode: expect.toSatisfy((code) => code === 143 || code === 137) } } },
    ],
  });
});

describe("logs", () => {
  test("support timestamps, tailLines and limitBytes", async () => {
    const cluster = await start();
    await ended(cluster, "p", { containers: [shell("for i in 1 2 3 4; do echo line $i; done; printf end")] });
    expect(await logOf(cluster, "p")).toBe("line 1\nline 2\nline 3\nline 4\nend");
    expect(await logOf(cluster, "p", "?tailLines=2")).toBe("line 4\nend");
    expect(await logOf(cluster, "p", "?tailLines=0")).toBe("");
    expect(await logOf(cluster, "p", "?limitBytes=9")).toBe("line 1\nli");
    expect(await logOf(cluster, "p", "?timestamps=true&tailLines=1")).toMatch(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z end$/,
    );
    expect(await logOf(cluster, "p", "?sinceTime=2100-01-01T00:00:00Z")).toBe("");
    await expect(logOf(cluster, "p", "?tailLines=-1")).rejects.toThrow("must be greater than or equal to 0");
  });

  test("keep between 10 and 20 MiB", async () => {
    const cluster = await start();
    await ended(cluster, "p", {
      containers: [shell("yes 0123456789012345678901234567890123456789012345678 | head -c 30000000; echo; echo end")],
    });
    const text = await logOf(cluster, "p");
    expect(text.length).toBeGreaterThan(5_000_000);
    expect(text.length).toBeLessThan(21 * 1024 * 1024);
    expect(text.endsWith("\nend\n")).toBe(true);
  });
});

describe("when the cluster stops", () => {
  test("processes end, their pods are terminated by a node shutdown, and no folder remains", async () => {
    const before = await start();
    await create(before, "p", {
      containers: [shell("trap 'exit 9' TERM; echo $$$$ $KUBEWRIGHT_TERMINATION_LOG; while :; do sleep 0.05; done")],
    });
    await podWhen(before, "p", ({ status }) => status?.phase === "Running");
    await expect.poll(() => logOf(before, "p"), { timeout: 90_000 }).not.toBe("");
    const [pid, file] = (await logOf(before, "p")).trim().split(" ");
    await before.stop();
    expect(isAlive(Number(pid))).toBe(false);
    expect(existsSync(file!)).toBe(false);
    const pod = (await before.cluster.client("test").resource(pods).get("p", { namespace: "default" })) as Pod;
    expect(pod.status).toMatchObject({
      phase: "Failed",
      reason: "Terminated",
      containerStatuses: [{ state: { terminated: { exitCode: 9 } } }],
    });
    expect(pod.status?.conditions).toContainEqual(
      expect.objectContaining({ type: "DisruptionTarget", status: "True", reason: "TerminationByKubelet" }),
    );
  });

  test("init containers run again for a restarted pod, because their volumes are gone", async () => {
    const before = await start();
    const volumeMounts = [{ name: "scratch", mountPath: "/scratch" }];
    await create(before, "p", {
      restartPolicy: "OnFailure",
      volumes: [{ name: "scratch", emptyDir: {} }],
      initContainers: [shell("echo made > /scratch/file", { name: "make", volumeMounts })],
      containers: [shell("cat /scratch/file; exec sleep 1000", { volumeMounts })],
    });
    await podWhen(before, "p", ({ status }) => status?.phase === "Running");
    const snapshot = before.cluster.apiServer.snapshot();
    await before.stop();
    const after = await start(snapshot);
    const pod = await podWhen(
      after,
      "p",
      ({ status }) =>
        status?.containerStatuses?.[0]?.state?.running !== undefined && status.containerStatuses[0].restartCount === 1,
    );
    expect(pod.status?.initContainerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      state: { terminated: { exitCode: 0 } },
    });
    await expect.poll(() => logOf(after, "p", "?container=main")).toBe("made\n");
  });

  test("containers that ran when a snapshot was taken are lost in a cluster restored from it", async () => {
    const before = await start();
    await create(before, "never", { containers: [shell("sleep 1000")] });
    await create(before, "restarted", { restartPolicy: "OnFailure", containers: [shell("exec sleep 1000")] });
    for (const name of ["never", "restarted"]) await podWhen(before, name, ({ status }) => status?.phase === "Running");
    const snapshot = before.cluster.apiServer.snapshot();
    await before.stop();
    const after = await start(snapshot);
    const never = await podWhen(after, "never", hasEnded);
    expect(never.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 255, reason: "Unknown" });
    const restarted = await podWhen(
      after,
      "restarted",
      ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1,
    );
    expect(restarted.status?.containerStatuses?.[0]).toMatchObject({
      state: { running: {} },
      lastState: { terminated: { exitCode: 255, reason: "Unknown" } },
    });
  });
});

test("the number of concurrent processes is limited, and further containers wait", async () => {
  const cluster = await start(undefined, 1);
  const turn = "mkdir $DIR/turn && sleep 0.1 && rmdir $DIR/turn";
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-turns-"));
  const names = ["a", "b", "c"];
  for (const name of names)
    await create(cluster, name, { containers: [shell(turn, { env: [{ name: "DIR", value: folder }] })] });
  for (const name of names) expect((await podWhen(cluster, name, hasEnded)).status?.phase).toBe("Succeeded");
  rmSync(folder, { recursive: true });
});

test("a pod with the name of a running one starts when that has ended", async () => {
  const cluster = await start();
  await create(cluster, "p", { containers: [shell("trap '' TERM; while :; do sleep 0.05; done")] });
  const old = await podWhen(cluster, "p", ({ status }) => status?.phase === "Running");
  await cluster.cluster.client("test").resource(pods).delete("p", { namespace: "default", gracePeriodSeconds: 0 });
  const pod = await ended(cluster, "p", { containers: [shell("true")] });
  expect(pod.status?.phase).toBe("Succeeded");
  expect(pod.metadata.uid).not.toBe(old.metadata.uid);
});

test("a Job runs to its end, and FailIndex fails an index without a retry", async () => {
  const cluster = await start();
  const client = cluster.cluster.client("test").resource(jobs);
  const job: Job = {
    metadata: { name: "j", namespace: "default" },
    spec: {
      completionMode: "Indexed",
      completions: 4,
      parallelism: 2,
      backoffLimitPerIndex: 1,
      podFailurePolicy: { rules: [{ action: "FailIndex", onExitCodes: { operator: "In", values: [42] } }] },
      template: {
        spec: { restartPolicy: "Never", containers: [shell("[ $JOB_COMPLETION_INDEX = 2 ] && exit 42; exit 0")] },
      },
    },
  };
  await client.create(job);
  await expect
    .poll(async () => (await client.get("j", { namespace: "default" })).status, { timeout: 90_000, interval: 50 })
    .toMatchObject({
      completedIndexes: "0,1,3",
      failedIndexes: "2",
      conditions: expect.arrayContaining([expect.objectContaining({ type: "Failed", reason: "FailedIndexes" })]),
    });
});

test("no process of these tests remains", () => {
  const left = execFileSync("ps", ["-o", "stat=,args=", "--ppid", String(process.pid)], { encoding: "utf8" });
  expect(left.split("\n").filter((line) => line.startsWith("Z") || line.includes("sleep 1000"))).toEqual([]);
});

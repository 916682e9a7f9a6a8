import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { type CronJob, cronJobs } from "@kubewright/api";
import { listen } from "@kubewright/apiserver/http";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { type Cluster, createCluster } from "@kubewright/cluster";
import { afterAll, beforeAll, expect, test } from "vitest";

import { kubewright } from "../../test/memory-io.js";
import { kubeconfigFor } from "../serve/kubeconfig.js";

const clock = new SimulatedClock(Date.UTC(2026, 5, 1));
const stop = new AbortController();
const requests: string[] = [];
let cluster: Cluster;
let running: Promise<void>;
let kubeconfig: string;

function cronJob(name: string, namespace: string, schedule: string, labels: Record<string, string> = {}): CronJob {
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name, namespace, labels },
    spec: {
      schedule,
      concurrencyPolicy: "Forbid",
      jobTemplate: {
        spec: {
          template: {
            metadata: { annotations: { "sim.kubewright.dev/duration": "4m" } },
            spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] },
          },
        },
      },
    },
  };
}

beforeAll(async () => {
  cluster = createCluster({ clock, random: seededRandom(3) });
  cluster.apiServer.observe(({ verb, resource, path: asked }) =>
    requests.push(`${verb} ${resource || asked.split("?")[0]}`),
  );
  running = cluster.run(stop.signal);
  const ready = cluster.ready();
  await clock.advance(1_000);
  await ready;
  const client = cluster.client("test");
  const create = (object: CronJob): Promise<unknown> =>
    client.resource(cronJobs).create(object, { namespace: object.metadata.namespace ?? "" });
  await create(cronJob("tick", "default", "*/3 * * * *", { team: "a" }));
  await create(cronJob("tock", "default", "0 * * * *", { team: "b" }));
  await create(cronJob("other", "kube-system", "*/30 * * * *"));
  await clock.advance(3_600_000);
  const { url } = await listen(cluster.apiServer, { host: "127.0.0.1", port: 0 });
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-"));
  kubeconfig = path.join(folder, "config");
  writeFileSync(kubeconfig, kubeconfigFor({ url, tls: undefined, token: undefined }));
});

afterAll(async () => {
  stop.abort();
  await running;
  await cluster.apiServer.close();
});

const run = (...args: string[]): ReturnType<typeof kubewright> =>
  kubewright(["run", "--from-cluster", "--kubeconfig", kubeconfig, "--for", "1h", ...args]);

test("the CronJobs of a namespace continue from their present state, and nothing is written", async () => {
  requests.length = 0;
  const { code, stderr, stdout } = await run();
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("CronJob default/tick");
  expect(stdout).toContain("CronJob default/tock");
  expect(stdout).not.toContain("kube-system/other");
  expect(new Set(requests.filter((request) => !/^(update|patch|watch) leases/.test(request)))).toEqual(
    new Set(["get /version", "list cronjobs", "list jobs", "list pods"]),
  );
});

test("all namespaces, or what labels choose", async () => {
  expect((await run("-A")).stdout).toContain("CronJob kube-system/other");
  const chosen = (await run("-l", "team=a")).stdout;
  expect(chosen).toContain("CronJob default/tick");
  expect(chosen).not.toContain("tock");
});

test("a file beside the cluster is applied to it, and --against shows what that changes", async () => {
  const files = { "tock.yaml": JSON.stringify(cronJob("tock", "default", "*/20 * * * *", { team: "b" })) };
  const args = ["run", "--from-cluster", "--kubeconfig", kubeconfig, "--for", "1h", "-l", "team=b"];
  const applied = await kubewright([...args.slice(0, 2), "tock.yaml", ...args.slice(2)], { files });
  expect(applied.stderr).toBe("");
  expect(applied.stdout).toContain('CronJob default/tock  "*/20 * * * *"');
  const compared = await kubewright([...args, "--against", "tock.yaml"], { files });
  expect([compared.code, compared.stderr]).toEqual([0, ""]);
  expect(compared.stdout).toContain('spec.schedule: "0 * * * *" → "*/20 * * * *"');
  expect(compared.stdout).toContain("A: the cluster\nB: tock.yaml\n");
});

test.each([
  ["nothing there", ["-n", "empty"], "the cluster has no matching CronJobs or Jobs; choose others with -n, -A or -l"],
  [
    "both one namespace and all",
    ["-n", "a", "-A"],
    "--namespace names one namespace and --all-namespaces all of them: leave out one",
  ],
  [
    "a zone that is none",
    ["--controller-time-zone", "Europe/Berln"],
    '--controller-time-zone: "Europe/Berln" is not a time zone; did you mean "Europe/Berlin"?',
  ],
])("%s is one line and status 2", async (_title, args, message) => {
  expect(await run(...args)).toMatchObject({ code: 2, stderr: `kubewright: ${message}\n` });
});

test("flags of the cluster without --from-cluster are refused", async () => {
  const { code, stderr } = await kubewright(["run", "x.yaml", "-A"]);
  expect([code, stderr]).toEqual([
    2,
    "kubewright: --all-namespaces says what to read --from-cluster; add that, or leave it out\n",
  ]);
});

test("CronJobs without a zone run in the controller's", async () => {
  const { stdout } = await run("--controller-time-zone", "Asia/Kathmandu", "-l", "team=b");
  expect(stdout).toContain("Asia/Kathmandu");
  // 07:00 there is the full hour within an hour from 01:00:01 UTC.
  expect(stdout).toMatch(/^ {2}06-01 07:00 .*Complete/m);
});

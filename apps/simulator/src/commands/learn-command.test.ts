import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { type CronJob, cronJobs } from "@kubewright/api";
import { listen } from "@kubewright/apiserver/http";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { createCluster } from "@kubewright/cluster";
import { expect, test } from "vitest";

import { kubewright } from "../../test/memory-io.js";
import { kubeconfigFor } from "../serve/kubeconfig.js";

const HOUR_MS = 3_600_000;

function cronJob(annotations: Record<string, string>): CronJob {
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "report", namespace: "default" },
    spec: {
      schedule: "0 * * * *",
      successfulJobsHistoryLimit: 500,
      failedJobsHistoryLimit: 500,
      jobTemplate: {
        spec: {
          backoffLimit: 0,
          template: {
            metadata: { annotations },
            spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] },
          },
        },
      },
    },
  };
}

/** A cluster in which the CronJob has run for a week, and the verbs of its requests. */
async function weekOld(): Promise<{ kubeconfig: string; verbs: Set<string>; stop: () => Promise<void> }> {
  const clock = new SimulatedClock(Date.UTC(2026, 4, 1));
  const cluster = createCluster({ clock, random: seededRandom(3) });
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  const ready = cluster.ready();
  await clock.advance(1_000);
  await ready;
  const workload = {
    "sim.kubewright.dev/duration": "lognormal(10m, 0.4)",
    "sim.kubewright.dev/exit-code": "0=0.9,3=0.1",
  };
  await cluster.client("test").resource(cronJobs).create(cronJob(workload), { namespace: "default" });
  await clock.advance(7 * 24 * HOUR_MS);
  const verbs = new Set<string>();
  cluster.apiServer.observe(({ verb, resource }) => resource === "leases" || verbs.add(`${verb} ${resource}`));
  const { url } = await listen(cluster.apiServer, { host: "127.0.0.1", port: 0 });
  const kubeconfig = path.join(mkdtempSync(path.join(tmpdir(), "kubewright-")), "config");
  writeFileSync(kubeconfig, kubeconfigFor({ url, tls: undefined, token: undefined }));
  return {
    kubeconfig,
    verbs,
    stop: async () => {
      stop.abort();
      await running;
      await cluster.apiServer.close();
    },
  };
}

test("what learn writes for a cluster with a week of history is what run simulates", async () => {
  const cluster = await weekOld();
  const learned = await kubewright(["learn", "--from-cluster", "--kubeconfig", cluster.kubeconfig, "-o", "w.yaml"]);
  await cluster.stop();
  expect([learned.code, learned.stderr, learned.stdout]).toEqual([0, "", ""]);
  expect([...cluster.verbs].sort()).toEqual(["list cronjobs", "list jobs", "list pods"]);
  const text = learned.written["w.yaml"]!;
  expect(text).toMatch(/# 167 runs, \d+ failed, 2026-05-01 to 2026-05-07/);
  const [, minutes, sigma] = /lognormal\((\d+)m\d*s?, ([\d.]+)\) in \d/.exec(text)!;
  expect(Math.abs(Number(minutes) - 10)).toBeLessThanOrEqual(1);
  expect(Number(sigma)).toBeCloseTo(0.4, 1);
  const share = Number(/exitCode: \{ 0: [\d.]+, 3: ([\d.]+) \}/.exec(text)?.[1]);
  expect(share).toBeGreaterThan(0.04);
  expect(share).toBeLessThan(0.17);

  const simulated = await kubewright(["run", "c.yaml", "--for", "7d", "--workloads", "w.yaml", "--json", "-"], {
    files: { "c.yaml": JSON.stringify(cronJob({})), "w.yaml": text },
  });
  expect([simulated.code, simulated.stderr]).toEqual([0, ""]);
  const lengths = runLengths(simulated.stdout);
  expect(lengths.length).toBeGreaterThan(130);
  const median = lengths.sort((a, b) => a - b)[Math.floor(lengths.length / 2)]! / 60_000;
  expect(Math.abs(median - 10)).toBeLessThan(1.5);
});

/** Returns the durations of the completed Jobs of a trace. */
function runLengths(trace: string): number[] {
  const lengths = new Map<string, number>();
  for (const line of trace.trim().split("\n")) {
    const { kind, name, state } = JSON.parse(line) as {
      kind?: string;
      name?: string;
      state?: { startTime?: string; completionTime?: string };
    };
    if (kind === "Job" && state?.completionTime && state.startTime)
      lengths.set(name!, Date.parse(state.completionTime) - Date.parse(state.startTime));
  }
  return [...lengths.values()];
}

const metric = (name: string, job: string, time: string): object => ({
  metric: { __name__: `kube_job_status_${name}`, namespace: "billing", job_name: job },
  values: [[1, String(Date.parse(time) / 1000)]],
});
const files = {
  "job.yaml": `apiVersion: batch/v1
kind: Job
metadata: { name: report-29540760, namespace: billing, ownerReferences: [{ kind: CronJob, name: report }] }
status:
  startTime: "2026-05-01T00:00:00Z"
  completionTime: "2026-05-01T00:05:00Z"
  conditions: [{ type: Complete, status: "True" }]
`,
  "new.yaml":
    "apiVersion: batch/v1\nkind: CronJob\nmetadata: { name: a }\nspec: { schedule: '@daily', jobTemplate: {} }\n",
  "metrics.json": JSON.stringify({
    status: "success",
    data: {
      result: [
        metric("start_time", "report-29540760", "2026-05-01T00:00:00Z"),
        metric("completion_time", "report-29540760", "2026-05-01T00:05:00Z"),
        metric("start_time", "report-29542200", "2026-05-02T00:00:00Z"),
        metric("completion_time", "report-29542200", "2026-05-02T00:07:00Z"),
      ],
    },
  }),
  "refused.json": '{"status":"error","errorType":"bad_data","error":"parse error"}',
  "sum.json": '{"status":"success","data":{"result":[{"metric":{},"values":[]}]}}',
  "none.json": "[]",
};

test("a run in both an export and metrics counts once", async () => {
  const { code, stdout, stderr } = await kubewright(["learn", "job.yaml", "--prometheus", "metrics.json"], { files });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toBe(`# Learned by kubewright learn. Dates are UTC.
apiVersion: sim.kubewright.dev/v1
kind: Workloads
workloads:
  # 2 runs, 2026-05-01 to 2026-05-02
  - select: { kind: CronJob, namespace: "billing", name: "report" }
    duration: 5m..7m
`);
});

test("an export comes through standard input", async () => {
  const { stdout } = await kubewright(["learn", "-"], { readStandardInput: async () => files["job.yaml"] });
  expect(stdout).toContain("# 1 run, 2026-05-01\n");
});

test.each([
  [[], /^name what to learn from: kubewright learn --from-cluster, /],
  [["new.yaml", "-o", "w.yaml"], "nothing to learn from: there is no finished Job, and no ended pod of one"],
  [["job.yaml", "-o", "job.yaml"], "--output: job.yaml is already in use by this command; name another file"],
  [["gone.yaml"], "gone.yaml: no such file or folder"],
  [["job.yaml", "-A"], "--all-namespaces says what to read --from-cluster; add that, or leave it out"],
  [["--prometheus", "gone.json"], "--prometheus: gone.json: no such file or folder"],
  [["--prometheus", "job.yaml"], "--prometheus: job.yaml: not JSON; save the answer of /api/v1/query_range there"],
  [["--prometheus", "refused.json"], "--prometheus: refused.json: Prometheus refused the query: parse error"],
  [
    ["--prometheus", "none.json"],
    "--prometheus: none.json: data.result is missing; save the answer of /api/v1/query_range there",
  ],
  [
    ["--prometheus", "sum.json"],
    "--prometheus: sum.json: data.result[0] does not say of which metric; query the metric itself",
  ],
])("learn %j is one line and status 2", async (args, message) => {
  const { code, stderr, written } = await kubewright(["learn", ...args], { files });
  expect([code, written]).toEqual([2, {}]);
  expect(stderr.replace("kubewright: ", "").trimEnd()).toMatch(message);
  expect(stderr.trimEnd()).not.toContain("\n");
});

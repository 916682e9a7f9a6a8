import { expect, test } from "vitest";

import { kubewright } from "../../test/memory-io.js";

const cronJob = (name: string, schedule: string, resources: string): string => `
apiVersion: batch/v1
kind: CronJob
metadata: { name: ${name}, namespace: shop }
spec:
  schedule: "${schedule}"
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      template:
        spec: { restartPolicy: Never, containers: [{ name: c, image: busybox, resources: ${resources} }] }
`;
const quota = (hard: string): string => `
apiVersion: v1
kind: ResourceQuota
metadata: { name: compute, namespace: shop }
spec: { hard: ${hard} }
`;
const NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: { name: shop }\n";

const run = (manifests: readonly string[], ...flags: string[]): ReturnType<typeof kubewright> =>
  kubewright(["run", "all.yaml", "--start", "2026-01-05T00:30:00Z", "--for", "12h", ...flags], {
    files: { "all.yaml": manifests.join("---\n") },
    columns: 100,
  });
const highlightsOf = (stdout: string): string =>
  /Highlights\n((?: {2}.*\n)+)/.exec(stdout)![1]!.replaceAll(/\s+/g, " ").trim();

test("pods that a quota refuses: the highlights begin with the quota, and the bar states its message", async () => {
  const manifests = [
    NAMESPACE,
    quota(`{ requests.cpu: "1" }`),
    cronJob("report", "0 * * * *", `{ requests: { cpu: "2" } }`),
  ];
  const { stdout, written } = await run(manifests, "--json", "trace.jsonl", "--sarif", "check.sarif");
  const message = "exceeded quota: compute, requested: requests.cpu=2, used: requests.cpu=0, limited: requests.cpu=1";
  expect(highlightsOf(stdout)).toMatch(
    new RegExp(
      `^ResourceQuota shop/compute: no pod created for 1 run of shop/report: ${message}; Mon 2026-01-05 01:00 UTC`,
    ),
  );
  expect(stdout).toContain(`no pod created: ${message}; waiting for 11h30m`);
  expect(stdout).not.toContain("Running for");
  const end = JSON.parse(written["trace.jsonl"]!.trimEnd().split("\n").at(-1)!) as object;
  expect(end).toMatchObject({
    refused: [
      {
        object: "ResourceQuota shop/compute",
        message,
        runs: 1,
        runsWithoutPods: 1,
        slots: 0,
        workloads: ["shop/report"],
        first: "2026-01-05T01:00:00.000Z",
      },
    ],
  });
  // The quota's own place, not that of the CronJob.
  expect(written["check.sarif"]).toMatch(/ResourceQuota shop\/compute: no pod created[^}]*}[^]*?"startLine": 8/);
});

test("Jobs that a quota refuses are skipped slots, and the quota is the cause", async () => {
  const manifests = [NAMESPACE, quota(`{ count/jobs.batch: "0" }`), cronJob("report", "0 * * * *", "{}")];
  const { stdout } = await run(manifests);
  expect(highlightsOf(stdout)).toMatch(
    /^ResourceQuota shop\/compute: no Job created for 12 slots of shop\/report: exceeded quota: compute, /,
  );
  expect(stdout).toMatch(/12 skipped until 01-05 12:00: no Job created: exceeded quota: compute,/);
  expect(stdout).toContain("12 skipped\n");
});

test("a run whose pods were refused at first keeps its outcome, and the cause is counted", async () => {
  const slow = cronJob("slow", "0 1 * * *", "{}").replace(
    "template:\n",
    "template:\n        metadata: { annotations: { sim.kubewright.dev/duration: 2h } }\n",
  );
  const manifests = [NAMESPACE, quota(`{ pods: "1" }`), slow, cronJob("quick", "0 2 * * *", "{}")];
  const { stdout } = await run(manifests);
  expect(highlightsOf(stdout)).toMatch(/^ResourceQuota shop\/compute: pods of 1 run refused of shop\/quick: exceeded/);
  expect(stdout).toMatch(/01-05 02:00 .*Complete in 1h/);
});

test("a policy that refuses pods is the cause, too", async () => {
  const policy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: no-busybox }
spec:
  matchConstraints:
    resourceRules: [{ apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods] }]
  validations: [{ expression: "false", message: use our image }]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: all }
spec: { policyName: no-busybox, validationActions: [Deny] }
`;
  const { stdout } = await run([NAMESPACE, policy, cronJob("report", "0 * * * *", "{}")]);
  expect(highlightsOf(stdout)).toMatch(
    /^ValidatingAdmissionPolicy no-busybox: no pod created for 1 run of shop\/report: .*use our image/,
  );
});

test("pods that fit on no node come before what follows from it", async () => {
  const scenario = `apiVersion: sim.kubewright.dev/v1\nkind: Scenario\nmanifests: [all.yaml]\nnodes: [{ name: small, count: 1, cpu: "1" }]\n`;
  const { stdout } = await kubewright(
    ["run", "--scenario", "s.yaml", "--start", "2026-01-05T00:30:00Z", "--for", "12h"],
    {
      files: {
        "s.yaml": scenario,
        "all.yaml": [NAMESPACE, cronJob("report", "0 * * * *", `{ requests: { cpu: "2" } }`)].join("---\n"),
      },
    },
  );
  expect(highlightsOf(stdout)).toMatch(
    /^shop\/report: 1 run waited for a node: 0\/1 nodes are available: 1 Insufficient cpu/,
  );
  expect(stdout).toMatch(/no pod scheduled: 0\/1 nodes are available: 1 Insufficient cpu\.; waiting for 11h30m/);
});

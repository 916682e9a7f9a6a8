import { expect, test } from "vitest";

import { kubewright } from "../../test/memory-io.js";

const files = {
  "train.yaml": `
apiVersion: batch/v1
kind: Job
metadata: { name: train }
spec:
  parallelism: 2
  completions: 2
  template:
    spec:
      restartPolicy: Never
      nodeSelector: { pool: gpu }
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms: [{ matchExpressions: [{ key: zone, operator: In, values: [a, b] }] }]
      containers: [{ name: c, image: busybox, resources: { limits: { nvidia.com/gpu: 1 } } }]
`,
  "two-nodes.yaml": `
apiVersion: sim.kubewright.dev/v1
kind: Scenario
nodes: [{ name: small, count: 2 }]
`,
};

test("a node is added for pods that fit on no node, and the output says so", async () => {
  const { code, stdout } = await kubewright(["run", "train.yaml", "--for", "10m"], { files });
  expect(code).toBe(0);
  expect(stdout).toMatch(/train .*Complete in 11s \(2 ok\)/);
  expect(stdout).toContain(
    "Nodes were added for pods that fit on no node. Name your nodes in the nodes of a scenario.\n" +
      "  other-node-1: pool=gpu, zone=a, nvidia.com/gpu, for Job default/train\n",
  );
});

test("with given nodes such pods wait, and the summary and --runs say for what", async () => {
  const { code, stdout, written } = await kubewright(
    ["run", "train.yaml", "--scenario", "two-nodes.yaml", "--for", "10m", "--runs", "runs.jsonl"],
    { files },
  );
  expect(code).toBe(0);
  const message = "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.";
  expect(stdout).not.toContain("Nodes were added");
  expect(stdout.replaceAll(/\s+/g, " ")).toContain(`default/train: 1 run waited for a node: ${message}`);
  expect(stdout).toMatch(/no pod scheduled: 0\/2 nodes are available[^;]*; waiting for 10m/);
  expect(JSON.parse(written["runs.jsonl"]!)).toMatchObject({ outcome: "Running", unschedulable: message });
});

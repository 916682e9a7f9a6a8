import type { PodSpec } from "@kubewright/api";
import { expect, test } from "vitest";

import { type AddedNode, nodesFor } from "./matching-nodes.js";
import { defaultNodes } from "./nodes.js";

function added(spec: Partial<PodSpec>, count = 1, others: readonly Partial<PodSpec>[] = []): AddedNode[] {
  const templates = [spec, ...others].map((each, index) => ({
    owner: `Job default/job-${index}`,
    spec: { containers: [{ name: "c", image: "i" }], ...each },
    count,
  }));
  return nodesFor(templates, defaultNodes);
}

const asking = (requests: Record<string, string>): PodSpec["containers"] => [
  { name: "c", image: "i", resources: { requests } },
];

function requiring(...matchExpressions: { key: string; operator: string; values?: string[] }[]): Partial<PodSpec> {
  const nodeSelector = { nodeSelectorTerms: [{ matchExpressions }] };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: nodeSelector } } };
}

test("pods that fit on a default node add none, for any tolerations and preferences", () => {
  expect(added({})).toEqual([]);
  expect(added({ containers: asking({ cpu: "16", memory: "64Gi" }), tolerations: [{ operator: "Exists" }] })).toEqual(
    [],
  );
  expect(added({ nodeSelector: { "kubernetes.io/os": "linux" } })).toEqual([]);
  expect(added({ schedulerName: "batch", nodeSelector: { pool: "a" } })).toEqual([]);
});

test("a node selector gets a node with its labels, which workloads of the same labels share", () => {
  const selecting = { nodeSelector: { pool: "batch" } };
  expect(added(selecting, 2, [selecting])).toEqual([
    {
      shape: { name: "other-node-1", cpu: "16", memory: "64Gi", pods: 110, labels: { pool: "batch" } },
      owners: ["Job default/job-0", "Job default/job-1"],
      needs: ["pool=batch"],
    },
  ]);
});

test("pods larger than any node, or with another resource, get a node with room for as many as run at a time", () => {
  expect(added({ containers: asking({ cpu: "32", memory: "1Gi", "nvidia.com/gpu": "2" }) }, 4)).toMatchObject([
    {
      shape: { cpu: "128000m", memory: "64Gi", resources: { "nvidia.com/gpu": "8" } },
      needs: ["cpu", "nvidia.com/gpu"],
    },
  ]);
  const limited = [{ name: "c", image: "i", resources: { limits: { "google.com/tpu": "4" } } }];
  expect(added({ containers: limited })).toMatchObject([{ shape: { resources: { "google.com/tpu": "4" } } }]);
});

test("required node affinity gets a node that its first possible term takes", () => {
  const labels = (spec: Partial<PodSpec>): unknown => added(spec)[0]?.shape.labels;
  expect(labels(requiring({ key: "zone", operator: "In", values: ["a", "b"] }))).toEqual({ zone: "a" });
  expect(
    labels(
      requiring(
        { key: "zone", operator: "In", values: ["a", "b"] },
        { key: "zone", operator: "NotIn", values: ["a"] },
        { key: "gpu", operator: "Exists" },
        { key: "cores", operator: "Gt", values: ["31"] },
      ),
    ),
  ).toEqual({ zone: "b", gpu: "true", cores: "32" });
  expect(labels(requiring({ key: "spot", operator: "DoesNotExist" }))).toBeUndefined();
  expect(labels(requiring({ key: "kubernetes.io/arch", operator: "In", values: ["arm64"] }))).toEqual({
    "kubernetes.io/arch": "arm64",
  });
});

test("a node that is requested by name is added with that name", () => {
  expect(added({ nodeSelector: { "kubernetes.io/hostname": "gpu-7" } })).toMatchObject([{ shape: { name: "gpu-7" } }]);
  expect(added({ nodeName: "gpu-7" })).toMatchObject([{ shape: { name: "gpu-7" } }]);
  expect(added({ nodeName: "node-1" })).toEqual([]);
});

test("pods with contradictory constraints or invalid quantities get no node", () => {
  expect(added({ nodeSelector: { zone: "a" }, ...requiring({ key: "zone", operator: "In", values: ["b"] }) })).toEqual(
    [],
  );
  expect(added({ containers: asking({ cpu: "much" }) })).toEqual([]);
});

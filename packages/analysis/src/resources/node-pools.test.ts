import { defaultNodes } from "@kubewright/cluster";
import { nodeShapes } from "@kubewright/simulation";
import { expect, test } from "vitest";

import { NodePools } from "./node-pools.js";

test("a pool comes from a label, the scenario's group, or the size of the node", () => {
  const nodes = nodeShapes([
    { name: "labelled", count: 2, labels: { "cloud.google.com/gke-nodepool": "n2" } },
    { name: "small", count: 2, cpu: 2, memory: "8Gi" },
    { name: "lone-1", cpu: 2, memory: "8Gi" },
    { name: "lone-2", cpu: "2000m", memory: "8192Mi" },
    { name: "one-core", cpu: 1, memory: "512Mi" },
  ]);
  const pools = new NodePools({ manifests: [], scenario: { nodes } });
  expect(nodes.map(({ name }) => `${name}: ${pools.of(name)}`)).toEqual([
    "labelled-1: n2",
    "labelled-2: n2",
    "small-1: small",
    "small-2: small",
    "lone-1: 2 cores, 8Gi",
    "lone-2: 2 cores, 8Gi",
    "one-core: 1 core, 512Mi",
  ]);
});

test("without a scenario, pools include default nodes, nodes with devices, nodes of manifests, and live nodes as one pool", () => {
  const [defaultNode] = defaultNodes;
  const gpu = { ...defaultNode!, name: "gpu-1", resources: { "nvidia.com/gpu": "8" } };
  const live = {
    snapshot: { resourceVersion: "1", objects: {} },
    nodes: [{ ...defaultNode!, name: "ip-1" }],
    newestMs: 0,
    notes: [],
  };
  const own = {
    object: {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "own" },
      status: { capacity: { cpu: "4", memory: "8Gi" }, allocatable: { cpu: "3500m" } },
    },
  };
  const pools = new NodePools({ manifests: [own], nodes: [...defaultNodes, gpu], live });
  expect(["node-1", "gpu-1", "own", "ip-1", "unknown"].map((name) => pools.of(name))).toEqual([
    "16 cores, 64Gi",
    "16 cores, 64Gi, 8 nvidia.com/gpu",
    "3.5 cores, 8Gi",
    "nodes of the cluster",
    "other nodes",
  ]);
});

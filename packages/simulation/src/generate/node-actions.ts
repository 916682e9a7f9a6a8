import type { UnstructuredObject } from "@kubewright/api";

import type { ScenarioEventEntry } from "../faults/registry.js";
import type { Draw } from "./draw.js";
import { at } from "./plan-events.js";
import type { Swarm } from "./swarm.js";

/**
 * Draws a node that the cloud provider removes, and mostly recreates under the same name; a plan with one node always
 * recreates it.
 */
export function drawNodeActions(draw: Draw, swarm: Swarm, nodes: number, windowMs: number): ScenarioEventEntry[] {
  if (!swarm.has("nodes")) return [];
  const name = `node-${draw.fork("which").integer(1, nodes)}`;
  const atMs = draw.fork("at").integer(1_000, windowMs);
  const comesAgain = nodes === 1 || draw.fork("again").chance(0.6);
  return [
    at(atMs, { delete: { kind: "Node", name } }),
    ...(comesAgain ? [at(atMs + draw.fork("after").delayMs(), { apply: node(name) })] : []),
  ];
}

/** Returns a node as a kubelet registers it. */
export function node(name: string): UnstructuredObject {
  const room = { cpu: "16", memory: "64Gi", pods: "110" };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" },
    },
    status: {
      capacity: room,
      allocatable: room,
      conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }],
    },
  };
}

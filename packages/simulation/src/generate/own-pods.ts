import type { UnstructuredObject } from "@kubewright/api";

import type { Draw } from "./draw.js";
import { SHARED_LABELS, isManual } from "./selectors.js";
import type { Swarm } from "./swarm.js";
import { type Subject, type Workload, mergeWorkloads } from "./workload.js";

/** Time between two PodGC passes. */
const ROUND_MS = 20_000;

/** Draws a pod that no Job has created: on a node that does not exist, or a pod that ends; some Jobs adopt it. */
export function drawOwnPods(draw: Draw, swarm: Swarm, subjects: readonly Subject[]): Workload {
  // With a quota there might be no room for it from the start.
  if (!swarm.has("ownPods") || swarm.has("quota")) return mergeWorkloads([]);
  const adopter = subjects.find(({ manifest }) => isManual(manifest));
  const namespace = adopter?.namespace ?? "default";
  const isLost = draw.fork("lost").chance(0.5);
  const labels = adopter !== undefined && draw.fork("adopted").chance(0.6) ? SHARED_LABELS : { app: "own" };
  const name = "own-pod";
  const manifest: UnstructuredObject = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, labels },
    spec: {
      restartPolicy: "Never",
      containers: [{ name: "main", image: "registry.example.com/main:1" }],
      ...(isLost ? { nodeName: "node-gone" } : {}),
    },
  };
  const rounds = Array.from({ length: 6 }, (_, round) => Math.max(0, round * ROUND_MS - 500));
  const subject: Subject = { kind: "Pod", namespace, name, manifest, moments: rounds, indexes: 0, schedules: [] };
  return { ...mergeWorkloads([]), manifests: [manifest], subjects: [subject], endMs: 6 * ROUND_MS };
}

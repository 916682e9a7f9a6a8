import type { UnstructuredObject } from "@kubewright/api";

import type { Draw } from "./draw.js";
import type { Swarm } from "./swarm.js";
import type { Subject } from "./workload.js";

/**
 * Draws a ResourceQuota: for the initial number of Jobs and a few more, or for a number of pods that have not ended.
 */
export function drawQuotas(draw: Draw, swarm: Swarm, subjects: readonly Subject[]): UnstructuredObject[] {
  if (!swarm.has("quota")) return [];
  const own = subjects.filter(({ kind, namespace }) => kind === "Job" && namespace === "default").length;
  const isTight = swarm.has("tightQuota");
  const more = isTight ? 1 : draw.fork("more").integer(0, 2);
  const hard =
    isTight || draw.chance(0.5)
      ? { "count/jobs.batch": String(Math.max(1, own + more)) }
      : { pods: String(draw.fork("pods").integer(1, 4)) };
  return [
    { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "quota", namespace: "default" }, spec: { hard } },
  ];
}

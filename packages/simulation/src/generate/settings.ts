import type { ControllerSettings, Jitter, NodeGroup } from "../scenario/scenario-schema.js";
import type { Draw } from "./draw.js";
import { durationText } from "./duration-text.js";
import type { FaultKind } from "../faults/registry.js";
import type { Swarm } from "./swarm.js";

const LOW_LIMITS = [2, 3, 5, 500];

/**
 * Draws the settings of the controllers: whether guards that hide other bugs are on, and limits that few pods reach.
 */
export function drawControllers(draw: Draw, swarm: Swarm, replicas: number): ControllerSettings {
  const low = swarm.has("lowLimits");
  return {
    consistencyGate: !swarm.has("consistencyGateOff"),
    ...(low ? { maxUncountedPods: draw.fork("uncounted").pick(LOW_LIMITS) } : {}),
    ...(low ? { maxPodsPerSync: draw.fork("pods").pick(LOW_LIMITS) } : {}),
    ...(swarm.has("podGC") ? { terminatedPodGCThreshold: draw.fork("threshold").pick([1, 1, 3]) } : {}),
    ...(replicas > 1
      ? {
          leaseDurations: Array.from({ length: replicas }, (_, replica) =>
            durationText(draw.fork(`lease ${replica}`).pick([10_000, 15_000, 15_000, 30_000, 60_000])),
          ),
        }
      : {}),
  };
}

/** Leases are renewed every two seconds: in a simulation of days the renewals would dominate. */
const LONGEST_ELECTION_MS = 40 * 60_000;

export function drawReplicas(draw: Draw, swarm: Swarm, endMs: number): number {
  return swarm.has("replicas") && endMs <= LONGEST_ELECTION_MS ? draw.integer(2, 3) : 1;
}

/** Draws 1 to 4 nodes: `node-1` and so on. */
export function drawNodes(draw: Draw): NodeGroup {
  return { name: "node", count: draw.integer(1, 4) };
}

export function drawJitter(draw: Draw, faults: Swarm<FaultKind>): Jitter | undefined {
  if (!faults.has("jitter")) return undefined;
  const longest = ["5ms", "50ms", "500ms", "3s"] as const;
  return {
    ...(draw.fork("requests?").chance(0.7) ? { requests: draw.fork("requests").pick(longest.slice(0, 3)) } : {}),
    events: draw.fork("events").pick(longest),
  };
}

import type { ScenarioEventKind } from "../scenario/scenario-file.js";

/**
 * What may go wrong, by the name that it has in a plan; `jitter` for requests and events that take their time, `phaseFlip` for
 * a pod that leaves the phase in which it ended, which no kubelet should do.
 */
export type FaultKind = (typeof FAULT_KINDS)[number];

export const FAULT_KINDS = [
  "requestFails",
  "controllerCrashes",
  "controllerDown",
  "paused",
  "watchCut",
  "watchSilent",
  "staleCache",
  "staleList",
  "apiServerRestart",
  "apiServerDown",
  "apiServerSlow",
  "leaseLost",
  "clockJump",
  "clockSkew",
  "nodeLost",
  "nodeDrained",
  "nodeTainted",
  "jitter",
  "phaseFlip",
] as const satisfies readonly (ScenarioEventKind | "jitter" | "phaseFlip")[];

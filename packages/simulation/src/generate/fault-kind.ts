import type { ScenarioEventKind } from "../scenario/scenario-file.js";

/**
 * A kind of fault, by its name in plans. Two kinds are not scenario events: `jitter` delays requests and events;
 * `phaseFlip` moves a pod out of its terminal phase, which a correct kubelet never does.
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

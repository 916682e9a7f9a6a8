import type { Situation } from "../situation.js";

/** Indexes fail again and again, each within a limit of its own, and some of their failures do not count. */
export const failsPerIndex: Situation = {
  name: "fails per index",
  shapes: ["jobs", "indexed", "backoffLimitPerIndex", "podFailurePolicy", "failures", "mixedFailures"],
  without: ["quota", "managedBy", "suspend", "activeDeadline", "longPods", "slowPods", "successPolicy"],
  draw: () => [],
};

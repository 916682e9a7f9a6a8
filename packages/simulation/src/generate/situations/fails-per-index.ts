import type { Situation } from "../situation.js";

/** Indexes fail repeatedly, each with its own limit, and the policy ignores some of the failures. */
export const failsPerIndex: Situation = {
  name: "fails per index",
  shapes: ["jobs", "indexed", "backoffLimitPerIndex", "podFailurePolicy", "failures", "mixedFailures"],
  without: ["quota", "managedBy", "suspend", "activeDeadline", "longPods", "slowPods", "successPolicy"],
  draw: () => [],
};

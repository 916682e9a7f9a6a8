import { parseDuration } from "@kubewright/clock";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { World } from "../world.js";
import { isFromController, nameOf } from "./stored-objects.js";

/** The longest duration of a request, and the longest time between two reads of the Lease. */
const REQUEST_MS = 90_000;
const RETRY_MS = 2000;
const SLACK_MS = 10_000;

/** Upstream: client-go tools/leaderelection. */
export const oneLeader: Invariant = {
  name: "S18 one leader",
  sentence:
    "No two controller managers consider themselves leader at the same time, and no write is accepted " +
    "from one that has not led for longer than a request takes, unless it was sent before.",
  watch(world, violated): InvariantChecks {
    const ledMs = new Map<string, number>();
    const look = (): void => {
      const leaders = world.leaders();
      for (const leader of leaders) ledMs.set(leader, world.nowMs);
      if (leaders.length > 1) violated("leaders", `${leaders.join(" and ")} lead at once`);
    };
    if (!hasElection(world)) return {};
    return {
      onTick: look,
      onAnswer: look,
      onChange({ object, resource, request }) {
        look();
        if (request === undefined || request.process === "" || !isFromController(request)) return;
        if (resource.startsWith("leases") || resource.startsWith("events")) return;
        const lastMs = ledMs.get(request.process);
        // A pending request of a paused process is paused too.
        if (lastMs !== undefined && (world.nowMs - lastMs <= REQUEST_MS || request.sentMs <= lastMs)) return;
        const when = lastMs === undefined ? "has never led" : `led last ${(world.nowMs - lastMs) / 1000} s ago`;
        violated(nameOf(object, resource), `is written by ${request.component} of ${request.process}, which ${when}`);
      },
    };
  },
};

/** Upstream: client-go tools/leaderelection, its durations. */
export const failover: Invariant = {
  name: "L10 failover",
  sentence: "Without faults, some controller manager leads within a Lease's duration and two retries.",
  watch(world, violated): InvariantChecks {
    if (!hasElection(world)) return {};
    const durations = (world.plan.controllers?.leaseDurations ?? ["15s"]).map((text) => parseDuration(text) ?? 0);
    const longestMs = Math.max(...durations, 15_000) + 2 * RETRY_MS + SLACK_MS;
    let sinceMs = world.nowMs;
    const look = (): void => {
      if (world.leaders().length > 0 || world.nowMs < world.healedMs) sinceMs = world.nowMs;
    };
    return {
      onAnswer: look,
      onTick() {
        look();
        if (world.nowMs - sinceMs <= longestMs) return;
        violated("leaders", `no controller manager has led for ${(world.nowMs - sinceMs) / 1000} s`);
        sinceMs = world.nowMs;
      },
    };
  },
};

function hasElection({ plan }: World): boolean {
  return (plan.controllerManagers ?? 1) > 1 && plan.controllers?.sharding !== true;
}

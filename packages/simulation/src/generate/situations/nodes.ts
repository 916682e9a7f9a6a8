import type { HappeningEntry } from "../../scenario/scenario-file.js";
import { durationText, offsetText } from "../duration-text.js";
import { OUT_OF_SERVICE, node } from "../node-actions.js";
import type { Situation } from "../situation.js";
import { podsOf } from "../user-actions.js";
import type { Subject } from "../workload.js";
import { pickJob } from "./pick-job.js";

/** A node goes, for good or for a while, with pods that run on it. */
export const goneNode: Situation = {
  name: "gone node",
  shapes: ["jobs", "longPods", "podFailurePolicy"],
  without: ["quota", "managedBy", "suspend", "activeDeadline", "nodes", "onFailure"],
  draw(draw, ground) {
    const job = pickJob(draw, ground, rulesOfFailures);
    if (job === undefined) return [];
    const atMs = job.moments[Math.min(1, job.moments.length - 1)]! + draw.fork("after").whole(500, 20_000);
    // Pods go to the first that has room, by name.
    const name = draw.fork("first").chance(0.7) ? "node-1" : `node-${draw.fork("which").whole(1, ground.nodes)}`;
    const at = offsetText(atMs);
    const backMs = atMs + draw.fork("back").pick([500, 5_000, 30_000, 90_000, 90_000, 200_000]);
    const gone: HappeningEntry[] = [
      { at, delete: { kind: "Node", name } },
      { at: offsetText(backMs), apply: node(name) },
    ];
    const goesOnMs = draw.fork("goes on").whole(30_000, 120_000);
    const outOfService: HappeningEntry[] = [
      ...(draw.fork("lost").chance(0.7) ? [{ at, for: durationText(goesOnMs), nodeLost: name }] : []),
      {
        at: offsetText(atMs + draw.fork("tainted").whole(0, 20_000)),
        for: durationText(goesOnMs),
        nodeTainted: { ...OUT_OF_SERVICE, node: name },
      },
      { at: offsetText(atMs + draw.fork("deleted").whole(0, 40_000)), delete: podsOf(job) },
    ];
    return draw.fork("way").weighted<HappeningEntry[]>([
      [gone, 50],
      [[{ at, for: durationText(backMs - atMs + 1_000), nodeLost: name }, ...gone], 15],
      [[{ at, for: durationText(backMs - atMs + 1_000), nodeDrained: name }], 10],
      [outOfService, 25],
      // What looks after nodes may also say that pods have failed whose containers nobody can ask.
      [[{ at, patch: { ...podsOf(job), subresource: "status", with: { status: { phase: "Failed" } } } }], 25],
    ]);
  },
};

function rulesOfFailures({ manifest }: Subject): number {
  const { podFailurePolicy } = manifest["spec"] as {
    readonly podFailurePolicy?: { readonly rules: readonly object[] };
  };
  return podFailurePolicy?.rules.length ?? 0;
}

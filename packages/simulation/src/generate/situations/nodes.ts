import type { ScenarioEventEntry } from "../../faults/registry.js";
import { OUT_OF_SERVICE } from "../../faults/node-tainted.js";
import { node } from "../node-actions.js";
import { at, deletesPods, during, editsPodStatus, podsOf } from "../plan-events.js";
import type { DrawEvents } from "../situation.js";
import type { Subject } from "../workload.js";
import { ofJob, pickJob } from "./pick-job.js";

/** A node with running pods disappears, for good or for a while. */
export const lostNode = ofJob((draw, job, context) => {
  const atMs = job.moments[Math.min(1, job.moments.length - 1)]! + draw.fork("after").integer(500, 20_000);
  // The fake scheduler binds pods to the first node by name that has room.
  const name = draw.fork("first").chance(0.7) ? "node-1" : `node-${draw.fork("which").integer(1, context.nodes)}`;
  const awayMs = draw.fork("back").pick([500, 5_000, 30_000, 90_000, 90_000, 200_000]);
  const gone = [at(atMs, { delete: { kind: "Node", name } }), at(atMs + awayMs, { apply: node(name) })];
  return draw.fork("way").weighted<ScenarioEventEntry[]>([
    [gone, 50],
    [[during(atMs, awayMs + 1_000, { nodeLost: name }), ...gone], 15],
    [[during(atMs, awayMs + 1_000, { nodeDrained: name })], 10],
    // The node lifecycle controller may also mark pods Failed whose containers cannot be queried.
    [[at(atMs, editsPodStatus(job, { phase: "Failed" }))], 25],
  ]);
}, rulesOfFailures);

/** There is no node at first, and pods are deleted before there is one: only PodGC can end them. */
export const noNode = ofJob((draw, job, context) => {
  const deletedMs = draw.fork("deleted").integer(2_000, 20_000);
  const comesMs = deletedMs + draw.fork("comes").integer(0, 90_000);
  const names = Array.from({ length: context.nodes }, (_, number) => `node-${number + 1}`);
  return [
    ...names.map((name) => at(0, { delete: { kind: "Node", name } })),
    at(deletedMs, deletesPods(podsOf(job))),
    ...names.map((name) => at(comesMs, { apply: node(name) })),
  ];
});

/** A node has the out-of-service taint, whether or not it is down, while pods on it are deleted. */
export const outOfService = ofJob((draw, job) => {
  const atMs = job.moments[Math.min(1, job.moments.length - 1)]! + draw.fork("after").integer(500, 20_000);
  const forMs = draw.fork("for").integer(60_000, 240_000);
  const effect = draw.fork("effect").pick(["NoSchedule", "NoExecute"]);
  const deletedMs = atMs + draw.fork("deleted").integer(0, Math.round(forMs / 2));
  return [
    ...(draw.fork("is silent").chance(0.5) ? [during(atMs, forMs, { nodeLost: "node-1" })] : []),
    during(atMs, forMs, { nodeTainted: { node: "node-1", ...OUT_OF_SERVICE, effect } }),
    at(deletedMs, deletesPods(podsOf(job))),
  ];
});

/** A node under resource pressure evicts pods, while more pods have ended than PodGC keeps. */
export const crowdedNode: DrawEvents = (draw, context) => {
  const count = draw.fork("count").integer(1, 3);
  return Array.from({ length: count }, (_, number): ScenarioEventEntry[] => {
    const fork = draw.fork(String(number));
    const job = pickJob(fork, context);
    if (job === undefined) return [];
    const atMs = fork.fork("moment").pick(job.moments) + fork.fork("after").integer(0, 15_000);
    const status = { phase: "Failed", reason: "Evicted", message: "The node was low on resource: memory." };
    return [at(atMs, editsPodStatus(job, status))];
  }).flat();
};

function rulesOfFailures({ manifest }: Subject): number {
  const { podFailurePolicy } = manifest["spec"] as {
    readonly podFailurePolicy?: { readonly rules: readonly object[] };
  };
  return podFailurePolicy?.rules.length ?? 0;
}

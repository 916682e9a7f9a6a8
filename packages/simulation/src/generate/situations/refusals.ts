import type { ScenarioEventEntry } from "../../faults/registry.js";
import type { Draw } from "../draw.js";
import { at, deletesPods, during, edits, podsOf, refuses, target } from "../plan-events.js";
import { LOST_RESPONSES } from "../request-kinds.js";
import type { DrawEvents } from "../situation.js";
import type { Subject } from "../workload.js";
import { ofJob } from "./pick-job.js";

/** A user changes a Job, and the resulting requests of its controller are refused, or their responses lost. */
export const refusedMeanwhile = ofJob((draw, job) => {
  const atMs = draw.fork("moment").pick(job.moments.slice(0, 2)) + draw.fork("after").integer(1_500, 20_000);
  const [verb, resource] = draw.fork("request").weighted([
    [["delete", "pods"], 55],
    [["create", "pods"], 15],
    [["patch", "pods"], 15],
    [["update", "jobs/status"], 15],
  ] as const);
  const { parallelism: now = 1 } = job.manifest["spec"] as { readonly parallelism?: number };
  const act = draw.fork("act").weighted<ScenarioEventEntry>([
    [at(atMs, edits(job, { parallelism: draw.fork("fewer").integer(0, Math.max(0, now - 1)) })), 40],
    [at(atMs, edits(job, { parallelism: now + draw.fork("more").integer(1, 4) })), 15],
    [during(atMs, draw.fork("suspended").integer(1_000, 90_000), { suspend: target(job) }), 30],
    [at(atMs, deletesPods(podsOf(job))), 15],
  ]);
  return [refusals(draw.fork("refused"), verb, resource, atMs, draw.fork("n").integer(1, 3)), act];
});

/**
 * A process crashes, or a request is refused, within a series of writes of one kind: some of them take effect, others
 * do not.
 */
export const interruptedWrites = interruptedWritesOf({ status: 35, patch: 35, create: 20, delete: 10 });

/** The same when a Job has enough successes and its other pods have to be deleted. */
export const interruptedSuccess = interruptedWritesOf({ status: 40, patch: 10, create: 0, delete: 50 });

function interruptedWritesOf(shares: Readonly<Record<"status" | "patch" | "create" | "delete", number>>): DrawEvents {
  return ofJob((draw, job) => {
    const [verb, resource] = draw.fork("write").weighted<readonly [string, string]>([
      [["update", "jobs/status"], shares.status],
      [["patch", "pods"], shares.patch],
      [["create", "pods"], shares.create],
      [["delete", "pods"], shares.delete],
    ]);
    const count = draw.fork("count").integer(1, 3);
    return Array.from({ length: count }, (_, number): ScenarioEventEntry => {
      const fork = draw.fork(String(number));
      const ends = job.moments.slice(2);
      const momentMs = fork
        .fork("moment")
        .pick(verb === "create" || verb === "delete" || ends.length === 0 ? job.moments.slice(0, 2) : ends);
      const atMs = momentMs - fork.fork("before").integer(0, 1_500);
      const nth = fork.fork("nth").integer(1, 4);
      const controller = fork.fork("all").chance(0.3) ? "all" : "job-controller";
      const when = fork.fork("when").pick(["before", "after"]);
      const times = fork.fork("times").integer(1, 4);
      const failure = { nth, times, with: fork.fork("with").pick([500, 503, 429]) };
      return at(atMs, {
        for: "60s",
        ...(fork.fork("dies").chance(0.7)
          ? { controllerCrashes: { controller, verbs: [verb], resources: [resource], nth, when } }
          : refuses("job-controller", verb, resource, failure)),
      });
    });
  }, concurrentPods);
}

/** Returns the maximum number of concurrent pods of a Job. */
function concurrentPods({ manifest }: Subject): number {
  const { parallelism = 1, completions = parallelism } = manifest["spec"] as {
    readonly parallelism?: number;
    readonly completions?: number;
  };
  return Math.min(parallelism, completions);
}

/** Draws an event in which a number of the Job controller's requests fail, within 30 s. */
export function refusals(draw: Draw, verb: string, resource: string, atMs: number, times: number): ScenarioEventEntry {
  const isLost = draw.chance(0.2);
  const answer = isLost ? draw.fork("lost").pick(LOST_RESPONSES) : draw.fork("with").pick([500, 503, 429]);
  const failure = { nth: 1, times, with: answer, ...(isLost ? { effect: "kept" as const } : {}) };
  return during(atMs - 500, 30_000, refuses("job-controller", verb, resource, failure));
}

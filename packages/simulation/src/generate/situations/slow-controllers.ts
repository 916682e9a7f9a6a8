import type { ScenarioEventEntry } from "../../faults/registry.js";
import type { Draw } from "../draw.js";
import { at, during, slow, target } from "../plan-events.js";
import type { Subject } from "../workload.js";
import { ofOne } from "./pick-job.js";

/** The TTL controller is slow to delete an expired Job, which is meanwhile replaced by another Job of the same name. */
export const slowMeanwhile = ofOne("subject", isExpiring, (draw, job) => {
  const byMs = draw.fork("by").integer(4_000, 15_000);
  // The TTL expires at the last moment, and mostly earlier than the bound.
  const dueMs = Math.max(0, job.moments.at(-1)! - draw.fork("sooner").integer(0, 7_000));
  // A controller that reads the object before it acts has read it after one request, and acts after two.
  const atMs = dueMs + byMs + draw.fork("after").integer(100, byMs);
  const lag = { atMs: dueMs - draw.fork("before").integer(0, 6_000), byMs };
  return [slowness(lag, "ttl-after-finished-controller"), ...recreated(draw, job, atMs)];
});

function isExpiring({ kind, isRun, manifest }: Subject): boolean {
  return kind === "Job" && isRun !== true && hasTtl(manifest);
}

/** A controller is slow to handle a pod that no Job created; a user meanwhile deletes and recreates it. */
export const slowPodController = ofOne("subject", isPod, (draw, pod) => {
  const isLost = (pod.manifest["spec"] as { readonly nodeName?: string }).nodeName !== undefined;
  const controller = draw.fork("controller").pickBy({
    "job-controller": isLost ? 25 : 85,
    "pod-garbage-collector-controller": isLost ? 75 : 15,
  });
  const isCollected = controller !== "job-controller";
  // PodGC leaves pods on a deleted node alone for 40 s, and marks them before it deletes them; a Job handles a pod as
  // soon as it exists.
  const dueMs = draw.fork("moment").pick(isCollected ? pod.moments.slice(2, 4) : [0, 0, ...pod.moments]);
  const byMs = draw.fork("by").integer(1_000, 5_000);
  const atMs = dueMs + (isCollected ? byMs : 0) + draw.fork("after").integer(100, byMs + (isCollected ? 500 : 2_000));
  const lag = { atMs: dueMs - draw.fork("before").integer(0, 1_000), byMs };
  return [slowness(lag, controller), ...recreated(draw, pod, atMs)];
});

function isPod({ kind }: Subject): boolean {
  return kind === "Pod";
}

/** Returns an event that lasts for a few requests. */
function slowness(
  { atMs, byMs }: { readonly atMs: number; readonly byMs: number },
  controller: string,
): ScenarioEventEntry {
  return during(atMs, byMs * 3 + 9_000, slow(controller, byMs));
}

function recreated(draw: Draw, subject: Subject, atMs: number): ScenarioEventEntry[] {
  return [
    at(atMs, { delete: { ...target(subject), ...deletion(subject) } }),
    at(atMs + draw.fork("again").integer(50, 600), { apply: subject.manifest }),
  ];
}

export function hasTtl({ spec }: Subject["manifest"]): boolean {
  return (spec as { readonly ttlSecondsAfterFinished?: number }).ttlSecondsAfterFinished !== undefined;
}

function deletion({ kind }: Subject): { gracePeriodSeconds: number } | { propagation: "Background" } {
  return kind === "Pod" ? { gracePeriodSeconds: 0 } : { propagation: "Background" };
}

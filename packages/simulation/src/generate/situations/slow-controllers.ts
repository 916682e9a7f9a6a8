import type { ScenarioEventEntry } from "../../faults/registry.js";
import type { Draw } from "../draw.js";
import { durationText, offsetText } from "../duration-text.js";
import type { DrawEvents } from "../situation.js";
import { target } from "../user-actions.js";
import type { Subject } from "../workload.js";

/** The TTL controller is slow to delete an expired Job, which is meanwhile replaced by another Job of the same name. */
export const slowMeanwhile: DrawEvents = (draw, { subjects }) => {
  const expiring = subjects.filter(({ kind, isRun, manifest }) => kind === "Job" && isRun !== true && hasTtl(manifest));
  if (expiring.length === 0) return [];
  const job = draw.fork("subject").pick(expiring);
  const byMs = draw.fork("by").integer(4_000, 15_000);
  // The TTL expires at the last moment, and mostly earlier than the bound.
  const dueMs = Math.max(0, job.moments.at(-1)! - draw.fork("sooner").integer(0, 7_000));
  // A controller that reads the object before it acts has read it after one request, and acts after two.
  const atMs = dueMs + byMs + draw.fork("after").integer(100, byMs);
  const slow = { atMs: dueMs - draw.fork("before").integer(0, 6_000), byMs };
  return [slowness(slow, "ttl-after-finished-controller"), ...recreated(draw, job, atMs)];
};

/** A controller is slow to handle a pod that no Job created; a user meanwhile deletes and recreates it. */
export const slowPodController: DrawEvents = (draw, { subjects }) => {
  const pods = subjects.filter(({ kind }) => kind === "Pod");
  if (pods.length === 0) return [];
  const pod = draw.fork("subject").pick(pods);
  const isLost = (pod.manifest["spec"] as { readonly nodeName?: string }).nodeName !== undefined;
  const controller = draw.fork("controller").weighted([
    ["job-controller", isLost ? 25 : 85],
    ["pod-garbage-collector-controller", isLost ? 75 : 15],
  ] as const);
  const isCollected = controller !== "job-controller";
  // PodGC leaves pods on a deleted node alone for 40 s, and marks them before it deletes them; a Job handles a pod as
  // soon as it exists.
  const dueMs = draw.fork("moment").pick(isCollected ? pod.moments.slice(2, 4) : [0, 0, ...pod.moments]);
  const byMs = draw.fork("by").integer(1_000, 5_000);
  const atMs = dueMs + (isCollected ? byMs : 0) + draw.fork("after").integer(100, byMs + (isCollected ? 500 : 2_000));
  const slow = { atMs: dueMs - draw.fork("before").integer(0, 1_000), byMs };
  return [slowness(slow, controller), ...recreated(draw, pod, atMs)];
};

/** Returns an event that lasts for a few requests. */
function slowness(
  { atMs, byMs }: { readonly atMs: number; readonly byMs: number },
  controller: string,
): ScenarioEventEntry {
  return {
    at: offsetText(Math.max(0, atMs)),
    for: durationText(byMs * 3 + 9_000),
    apiServerSlow: { by: durationText(byMs), components: [controller] },
  };
}

function recreated(draw: Draw, subject: Subject, atMs: number): ScenarioEventEntry[] {
  return [
    { at: offsetText(atMs), delete: { ...target(subject), ...deletion(subject) } },
    { at: offsetText(atMs + draw.fork("again").integer(50, 600)), apply: subject.manifest },
  ];
}

export function hasTtl({ spec }: Subject["manifest"]): boolean {
  return (spec as { readonly ttlSecondsAfterFinished?: number }).ttlSecondsAfterFinished !== undefined;
}

function deletion({ kind }: Subject): { gracePeriodSeconds: number } | { propagation: "Background" } {
  return kind === "Pod" ? { gracePeriodSeconds: 0 } : { propagation: "Background" };
}

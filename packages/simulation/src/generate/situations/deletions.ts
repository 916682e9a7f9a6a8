import type { ScenarioEventEntry } from "../../faults/registry.js";
import type { Draw } from "../draw.js";
import { durationText, offsetText } from "../duration-text.js";
import type { CacheSelection } from "../../faults/draws.js";
import { outage } from "../../faults/outage.js";
import { startOfScenarioEvent } from "../event-times.js";
import { FOREIGN_FINALIZER, removeFirstFinalizerPatch } from "../jobs.js";
import { copyOf } from "../unobserved-objects.js";
import { podsOf, target } from "../user-actions.js";
import type { Subject } from "../workload.js";
import { ofJob } from "./pick-job.js";
import { refusals } from "./refusals.js";

/** Pods are deleted, and shortly after them their Job, before the controller has synced the pods. */
export const quickDeletions = ofJob((draw, job) => {
  const atMs = Math.max(500, draw.fork("moment").pick(job.moments) + draw.fork("after").integer(0, 1_500));
  const gracePeriodSeconds = draw.fork("grace").weighted([
    [0, 70],
    [1, 15],
    [undefined, 15],
  ] as const);
  const thenMs = draw.fork("then").integer(0, 1_200);
  const entries: ScenarioEventEntry[] = [
    {
      at: offsetText(atMs),
      delete: { ...podsOf(job), ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }) },
    },
    {
      at: offsetText(atMs + thenMs),
      delete: {
        ...target(job),
        propagation: draw.fork("propagation").weighted([
          ["Background", 70],
          ["Foreground", 15],
          ["Orphan", 15],
        ] as const),
      },
    },
  ];
  // Finalizer patches of the controller may fail too: a few times, or throughout the deletion and longer.
  const which = { verbs: ["patch"], resources: ["pods"] };
  if (draw.fork("held").chance(0.7))
    entries.push(
      draw.fork("for a time").chance(0.6)
        ? {
            at: offsetText(atMs - 500),
            for: durationText(500 + thenMs + draw.fork("longer").integer(100, 5_000)),
            requestFails: { components: ["job-controller"], ...which },
          }
        : refusals(draw.fork("refused"), which, atMs, draw.fork("n").integer(1, 4)),
    );
  return entries;
});

/** A Job with a foreign finalizer is deleted more than once. */
export const blockedDeletions = ofJob((draw, job) => {
  const metadata = { ...job.manifest.metadata, finalizers: [FOREIGN_FINALIZER] };
  const deleted = deletions(draw, job, draw.fork("count").integer(2, 3));
  const finalizerRemovedMs = startOfScenarioEvent(deleted.at(-1)!) + draw.fork("let go").integer(1_000, 90_000);
  return [
    { at: "+0s", apply: { ...job.manifest, metadata } },
    ...deleted,
    {
      at: offsetText(finalizerRemovedMs),
      patch: { ...target(job), type: "json", with: removeFirstFinalizerPatch() },
    },
  ];
});

/** Draws a number of deletions of a Job, with different propagation policies. */
export function deletions(draw: Draw, job: Subject, count: number): ScenarioEventEntry[] {
  let atMs = draw.fork("moment").pick(job.moments) + draw.fork("after").integer(0, 20_000);
  return Array.from({ length: count }, (_, number): ScenarioEventEntry => {
    const fork = draw.fork(`deletion ${number}`);
    if (number > 0) atMs += fork.fork("later").integer(500, 60_000);
    const propagation = fork.fork("propagation").weighted([
      ["Foreground", 60],
      ["Background", 20],
      ["Orphan", 20],
    ] as const);
    return { at: offsetText(atMs), delete: { ...target(job), propagation } };
  });
}

/**
 * An object is created and deleted while a controller cannot watch its kind: the controller observes only its
 * dependents.
 */
export const shortLivedObject = ofJob((draw, job) => {
  const cache = draw.fork("cache").weighted<CacheSelection>([
    [{ controller: "garbage-collector-controller", kinds: ["Job"] }, 60],
    [{ controller: "garbage-collector-controller", kinds: ["Pod"] }, 10],
    [{ controller: "job-controller", kinds: ["Job"] }, 10],
    [{ controller: "job-controller", kinds: ["Pod"] }, 20],
  ]);
  const fromMs = draw.fork("from").integer(500, 20_000);
  const comesMs = fromMs + draw.fork("comes").integer(100, 5_000);
  const goesMs = comesMs + draw.fork("stays").integer(1_000, 15_000);
  const forMs = goesMs - fromMs + draw.fork("goes on").integer(500, 20_000);
  const short = copyOf(job.manifest, "short-lived");
  const propagation = draw.fork("propagation").weighted([
    ["Background", 70],
    ["Orphan", 15],
    ["Foreground", 15],
  ] as const);
  return [
    ...outage(cache, forMs).map(({ afterMs = 0, ...what }) => ({ at: offsetText(fromMs + afterMs), ...what })),
    { at: offsetText(comesMs), apply: short },
    { at: offsetText(goesMs), delete: { ...target(job), name: short.metadata.name!, propagation } },
  ];
});

import type { CacheSelection } from "../../faults/draws.js";
import { outage } from "../../faults/outage.js";
import type { ScenarioEventEntry } from "../../faults/registry.js";
import type { Draw } from "../draw.js";
import { startOfScenarioEvent } from "../event-times.js";
import { eventsAt } from "../faults.js";
import {
  FOREIGN_FINALIZER,
  at,
  deletes,
  deletesPods,
  during,
  podsOf,
  refuses,
  removesFinalizer,
} from "../plan-events.js";
import { copyOf } from "../unobserved-objects.js";
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
  const propagation = draw.fork("propagation").pickBy({ Background: 70, Foreground: 15, Orphan: 15 });
  // Finalizer patches of the controller may fail too: a few times, or throughout the deletion and longer.
  const forMs = 500 + thenMs + draw.fork("longer").integer(100, 5_000);
  const isLong = draw.fork("for a time").chance(0.6);
  const refused = isLong
    ? during(atMs - 500, forMs, FINALIZERS_STAY)
    : refusals(draw.fork("refused"), "patch", "pods", atMs, draw.fork("n").integer(1, 4));
  return [
    at(atMs, deletesPods(podsOf(job), gracePeriodSeconds)),
    at(atMs + thenMs, deletes(job, propagation)),
    ...(draw.fork("held").chance(0.7) ? [refused] : []),
  ];
});

const FINALIZERS_STAY = refuses("job-controller", "patch", "pods");

/** A Job with a foreign finalizer is deleted more than once. */
export const blockedDeletions = ofJob((draw, job) => {
  const metadata = { ...job.manifest.metadata, finalizers: [FOREIGN_FINALIZER] };
  const deleted = deletions(draw, job, draw.fork("count").integer(2, 3));
  const finalizerRemovedMs = startOfScenarioEvent(deleted.at(-1)!) + draw.fork("let go").integer(1_000, 90_000);
  return [at(0, { apply: { ...job.manifest, metadata } }), ...deleted, at(finalizerRemovedMs, removesFinalizer(job))];
});

/** Draws a number of deletions of a Job, with different propagation policies. */
export function deletions(draw: Draw, job: Subject, count: number): ScenarioEventEntry[] {
  let atMs = draw.fork("moment").pick(job.moments) + draw.fork("after").integer(0, 20_000);
  return Array.from({ length: count }, (_, number): ScenarioEventEntry => {
    const fork = draw.fork(`deletion ${number}`);
    if (number > 0) atMs += fork.fork("later").integer(500, 60_000);
    return at(atMs, deletes(job, fork.fork("propagation").pickBy({ Foreground: 60, Background: 20, Orphan: 20 })));
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
  const propagation = draw.fork("propagation").pickBy({ Background: 70, Orphan: 15, Foreground: 15 });
  return [
    ...eventsAt(outage(cache, forMs), fromMs),
    at(comesMs, { apply: copyOf(job.manifest, "short-lived") }),
    at(goesMs, deletes(job, propagation, "short-lived")),
  ];
});

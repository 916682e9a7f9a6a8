import { CONTROLLER_UID_LABEL } from "@kubewright/api";

import type { ScenarioEventEntry } from "../faults/registry.js";
import type { Draw } from "./draw.js";
import { startOfScenarioEvent } from "./event-times.js";
import {
  type EventBody,
  PROPAGATIONS,
  at,
  deletes,
  deletesPods,
  during,
  edits,
  podsOf,
  target,
} from "./plan-events.js";
import { SHARED_LABELS, isManual } from "./selectors.js";
import type { Swarm } from "./swarm.js";
import type { Subject } from "./workload.js";

/**
 * Draws user actions on Jobs, CronJobs and pods: at random times, or within a second of another moment of the same
 * object.
 */
export function drawUserActions(
  draw: Draw,
  swarm: Swarm,
  subjects: readonly Subject[],
  windowMs: number,
): ScenarioEventEntry[] {
  const kinds = ACTIONS.filter(({ shape }) => swarm.has(shape));
  if (kinds.length === 0 || subjects.length === 0) return [];
  const count = draw.fork("count").weighted([
    [0, 20],
    [1, 35],
    [2, 25],
    [draw.fork("many").integer(3, 5), 20],
  ]);
  const busy = new Map<Subject, number[]>();
  const entries: ScenarioEventEntry[] = [];
  for (let number = 0; number < count; number++) {
    const fork = draw.fork(`action ${number}`);
    const subject = fork.fork("subject").pick(subjects);
    const moments = busy.get(subject) ?? [];
    busy.set(subject, moments);
    const atMs = drawMoment(fork.fork("at"), [...subject.moments, ...moments, ...moments], windowMs);
    // An object that exists only for a while, or has no owner, is deleted or recreated.
    const those =
      subject.kind === "Pod" || subject.isRun === true
        ? kinds.filter(({ drawActions }) => REPLACING.has(drawActions))
        : kinds;
    if (those.length === 0) continue;
    const { drawActions } = fork.fork("kind").pick(those);
    const actions = drawActions(fork.fork("action"), subject, atMs);
    moments.push(atMs, ...actions.map(startOfScenarioEvent));
    entries.push(...actions);
  }
  return entries;
}

/** Draws a time shortly after one of the moments, or any time. */
export function drawMoment(draw: Draw, moments: readonly number[], windowMs: number): number {
  if (moments.length === 0 || draw.fork("at random").chance(0.3)) return draw.integer(0, windowMs);
  const after = draw.fork("after").weighted([
    [draw.fork("at once").integer(0, 50), 35],
    [draw.fork("within a second").integer(51, 1_000), 45],
    [draw.fork("later").delayMs(), 20],
  ]);
  return draw.fork("moment").pick(moments) + after;
}

type DrawAction = (draw: Draw, subject: Subject, atMs: number) => readonly ScenarioEventEntry[];

interface Action {
  readonly shape: Parameters<Swarm["has"]>[0];
  readonly drawActions: DrawAction;
}

const REPLACING: ReadonlySet<DrawAction> = new Set([deleteSubject, recreate]);

const ACTIONS: readonly Action[] = [
  { shape: "userDeletes", drawActions: deletePods },
  { shape: "userDeletes", drawActions: deleteSubject },
  { shape: "userDeletes", drawActions: deletePodsThenSubject },
  { shape: "userEvicts", drawActions: evict },
  { shape: "userScales", drawActions: scale },
  { shape: "userSuspends", drawActions: suspend },
  { shape: "userEdits", drawActions: edit },
  { shape: "userRelabels", drawActions: relabelPods },
  { shape: "userRecreates", drawActions: recreate },
];

/** Returns a target for all pods of a Job, or for those of one index. */
function drawPodsOf(draw: Draw, subject: Subject): ReturnType<typeof podsOf> {
  const isOne = subject.indexes > 0 && draw.fork("one").chance(0.6);
  return podsOf(subject, isOne ? draw.fork("index").integer(0, subject.indexes - 1) : undefined);
}

/** The names of a CronJob's Jobs, and of their pods, are not known beforehand. */
function deletePods(draw: Draw, subject: Subject, atMs: number): readonly ScenarioEventEntry[] {
  if (subject.kind === "CronJob") return deleteSubject(draw, subject, atMs);
  const gracePeriodSeconds = draw.fork("grace").weighted([
    [undefined, 70],
    [0, 20],
    [1, 10],
  ]);
  return [at(atMs, deletesPods(drawPodsOf(draw, subject), gracePeriodSeconds))];
}

function deleteSubject(draw: Draw, subject: Subject, atMs: number): ScenarioEventEntry[] {
  const once = (fromMs: number, fork: string): ScenarioEventEntry =>
    at(fromMs, deletes(subject, draw.fork(fork).pick(PROPAGATIONS)));
  // A user who sees no effect repeats the deletion, with the same or another propagation policy.
  const second = draw.fork("same").chance(0.5) ? "first" : "second";
  const again = draw.fork("again").chance(0.4) ? [once(atMs + draw.fork("after").delayMs(), second)] : [];
  return [once(atMs, "first"), ...again];
}

function deletePodsThenSubject(draw: Draw, subject: Subject, atMs: number): ScenarioEventEntry[] {
  const pods = deletePods(draw.fork("pods"), subject, atMs);
  const propagation = draw.fork("propagation").pick(PROPAGATIONS);
  return [...pods, at(atMs + draw.fork("after").integer(0, 1_500), deletes(subject, propagation))];
}

function evict(draw: Draw, subject: Subject, atMs: number): ScenarioEventEntry[] {
  if (subject.kind === "CronJob") return edit(draw, subject, atMs);
  const { namespace, name: job } = subject;
  return [at(atMs, { podEvicted: { namespace, job, count: draw.fork("count").integer(1, 3) } })];
}

function scale(draw: Draw, subject: Subject, atMs: number): ScenarioEventEntry[] {
  if (subject.kind === "CronJob") return edit(draw, subject, atMs);
  const parallelism = draw.fork("parallelism").integer(0, 8);
  // Only an Indexed Job's completions may change, and only together with its parallelism.
  if (subject.indexes > 0 && draw.fork("elastic").chance(0.5)) {
    const completions = draw.fork("completions").integer(1, 8);
    return [at(atMs, edits(subject, { parallelism: completions, completions }))];
  }
  const scaled = at(atMs, edits(subject, { parallelism }));
  if (parallelism > 0) return [scaled];
  const back = edits(subject, { parallelism: draw.fork("back").integer(1, 4) });
  return [scaled, at(atMs + draw.fork("after").delayMs(), back)];
}

function suspend(draw: Draw, subject: Subject, atMs: number): ScenarioEventEntry[] {
  const forMs = draw.fork("quickly").chance(0.5) ? draw.integer(500, 3_000) : Math.max(1, draw.fork("for").delayMs());
  return [during(atMs, forMs, { suspend: target(subject) })];
}

function edit(draw: Draw, subject: Subject, atMs: number): ScenarioEventEntry[] {
  const annotate = {
    patch: { ...target(subject), with: { metadata: { annotations: { "example.com/edited": "yes" } } } },
  };
  const choices: readonly EventBody[] =
    subject.kind === "Job"
      ? [
          annotate,
          { patch: { ...target(subject), with: { metadata: { labels: { tier: "edited" } } } } },
          edits(subject, { ttlSecondsAfterFinished: draw.fork("ttl").pick([null, 0, 5, 60, 3600]) }),
          edits(subject, { activeDeadlineSeconds: draw.fork("deadline").pick([null, 5, 30, 60]) }),
          edits(subject, { backoffLimit: draw.fork("limit").pick([0, 1, 2, 6]) }),
        ]
      : [
          annotate,
          edits(subject, { schedule: draw.fork("schedule").pick(subject.schedules) }),
          edits(subject, { timeZone: draw.fork("zone").pick(["Europe/Berlin", "Asia/Kolkata", null]) }),
          edits(subject, { concurrencyPolicy: draw.fork("policy").pick(["Allow", "Forbid", "Replace"]) }),
          edits(subject, {
            successfulJobsHistoryLimit: draw.fork("history").integer(0, 2),
            failedJobsHistoryLimit: draw.fork("failures").integer(0, 2),
          }),
          edits(subject, { startingDeadlineSeconds: draw.fork("deadline").pick([null, 5, 100]) }),
        ];
  return [at(atMs, draw.fork("which").pick(choices))];
}

/**
 * Removes pods from their Job's selection, as a user who debugs a pod does, and mostly restores the labels where they
 * are known; or removes the pods' owner.
 */
export function relabelPods(draw: Draw, subject: Subject, atMs: number): ScenarioEventEntry[] {
  if (subject.kind === "CronJob") return edit(draw, subject, atMs);
  const pods = drawPodsOf(draw.fork("pods"), subject);
  const group = isManual(subject.manifest) ? SHARED_LABELS : {};
  const labels = Object.fromEntries([CONTROLLER_UID_LABEL, ...Object.keys(group)].map((key) => [key, null]));
  const patch = (metadata: object): EventBody => ({ patch: { ...pods, with: { metadata } } });
  if (draw.fork("what").chance(0.3)) return [at(atMs, patch({ ownerReferences: null }))];
  const taken = at(atMs, patch({ labels }));
  if (Object.keys(group).length === 0 || draw.fork("for good").chance(0.4)) return [taken];
  return [taken, at(atMs + draw.fork("after").delayMs(), patch({ labels: group }))];
}

/**
 * Deletes an object and recreates it under the same name: after its deletion is complete, or immediately, while it may
 * still exist.
 */
function recreate(draw: Draw, subject: Subject, atMs: number): ScenarioEventEntry[] {
  return [
    at(atMs, deletes(subject, draw.fork("propagation").pick(PROPAGATIONS))),
    at(atMs + draw.fork("after").delayMs(), { apply: subject.manifest }),
  ];
}

import type { UnstructuredObject } from "@kubewright/api";

import type { ScenarioEventEntry } from "../faults/registry.js";
import type { Draw } from "./draw.js";
import { durationText } from "./duration-text.js";
import { startOfScenarioEvent } from "./event-times.js";
import { eventsAt } from "./faults.js";
import { node } from "./node-actions.js";
import { outage } from "../faults/outage.js";
import type { Situation, SituationContext } from "./situation.js";
import { PROPAGATIONS, at, deletes, deletesPods, during, edits, podsOf, refuses, target } from "./plan-events.js";
import type { Subject } from "./workload.js";

/** A kind of object that one controller does not observe for a while. */
export interface Hidden extends Pick<Situation, "shapes" | "without"> {
  readonly weight: number;
  readonly kind: "CronJob" | "Job" | "Node" | "Pod";
  readonly controller: string;
  /** As of a situation. */
  readonly because: readonly string[];
}

const hide = (
  weight: number,
  kind: Hidden["kind"],
  controller: string,
  shapes: Hidden["shapes"],
  without: Hidden["shapes"],
  ...because: readonly string[]
): Hidden => ({ weight, kind, controller, shapes, without: ["quota", "managedBy", ...without], because });

// prettier-ignore
export const HIDDEN: readonly Hidden[] = [
  hide(22, "Pod", "job-controller", ["jobs"], [], "job-stale-pod-counted-twice", "job-tombstones-ignored"),
  hide(26, "Pod", "job-controller", ["jobs", "consistencyGateOff", "activeDeadline", "longPods", "suspend"], [],
    "job-finished-before-expectations"),
  hide(12, "Pod", "job-controller", ["jobs", "longPods"], ["suspend", "activeDeadline"], "job-tombstones-ignored"),
  hide(22, "Job", "job-controller", ["jobs", "longPods"], ["suspend", "activeDeadline"], "job-finished-forgotten",
    "job-adopt-from-cache"),
  hide(22, "Job", "cronjob-controller", ["cronJobs", "cronRuns"], [], "cron-delete-by-name"),
  hide(8, "CronJob", "cronjob-controller", ["cronJobs"], []),
  hide(14, "Job", "garbage-collector-controller", ["jobs"], [], "gc-virtual-node-stranded"),
  hide(5, "Pod", "garbage-collector-controller", ["jobs"], [], "informer-ghosts-stay"),
  hide(20, "Node", "pod-garbage-collector-controller", ["jobs", "longPods"], ["nodes", "podGC", "suspend"],
    "podgc-node-from-cache", "podgc-no-quarantine"),
  hide(5, "Pod", "pod-garbage-collector-controller", ["jobs", "podGC", "ownPods"], [], "podgc-delete-by-name"),
  hide(9, "Job", "ttl-after-finished-controller", ["jobs", "ttl"], [], "job-uid-recreated"),
];

/** One controller does not observe changes of one kind of object. */
export function unobserved(draw: Draw): Situation {
  const hidden = draw.weighted(HIDDEN.map((row) => [row, row.weight]));
  const { shapes, without } = hidden;
  return { shapes, without, draw: (fork, context) => drawUnobserved(fork, hidden, context) };
}

/**
 * Draws the start, the end and the mechanism. Events are delayed; or the watch ends and cannot be reopened for a while,
 * with or without a stale list afterwards; or the watch falls silent until it times out; or the server lags behind what
 * was already observed.
 */
function drawUnobserved(draw: Draw, hidden: Hidden, context: SituationContext): readonly ScenarioEventEntry[] {
  const subject = pickSubject(draw.fork("subject"), hidden, context);
  if (subject === undefined) return [];
  const moment = drawMomentOf(draw.fork("moment"), hidden, subject);
  const actions = drawActions(draw.fork("acts"), hidden, subject, context, moment);
  const lastMs = Math.max(moment, ...actions.map(startOfScenarioEvent));
  const fromMs = Math.max(0, moment - draw.fork("before").integer(0, 2_000));
  const lagsMs = draw.range("lags", {
    soon: [500, 5_000, 50],
    later: [5_000, 60_000, 30],
    "much later": [60_000, 400_000, 20],
  });
  // The fault may last until the object's next moment, mostly its last.
  const last = subject.moments.slice(-1);
  const dueMs =
    Math.max(0, draw.fork("due").pick([...subject.moments, ...last, ...last]) - lastMs) +
    draw.fork("after due").integer(1_000, 5_000);
  const remainingMs = draw.fork("until due").chance(0.4) ? Math.min(dueMs, 300_000) : lagsMs;
  // PodGC leaves pods of a deleted node alone for 40 s and runs every 20 s; a deadline takes up to a minute.
  const [minMs, maxMs] = hidden.kind === "Node" ? [65_000, 150_000] : [10_000, 70_000];
  const isWaitedFor = hidden.kind === "Node" || (isTimed(hidden) && draw.fork("deadline passes").chance(0.7));
  const forMs = lastMs - fromMs + (isWaitedFor ? draw.fork("rounds").integer(minMs, maxMs) : remainingMs);
  const cache = { controller: hidden.controller, kinds: [hidden.kind] };
  const lag = durationText(draw.fork("by").integer(forMs, forMs + LAG_MS));
  const cutMs = draw.fork("cut for").integer(500, forMs);
  const fault = draw.fork("way").weighted<readonly ScenarioEventEntry[]>([
    [[during(fromMs, forMs, { staleCache: { kind: hidden.kind, controller: hidden.controller } })], 40],
    [eventsAt(outage(cache, forMs), fromMs), 40],
    [[during(fromMs, SILENCE_MS, { watchSilent: cache })], 12],
    [
      [
        during(fromMs, forMs + LAG_MS, { staleList: { ...cache, by: lag } }),
        ...eventsAt(outage(cache, cutMs, false), fromMs),
      ],
      20,
    ],
  ]);
  // A live read of the missing node may fail too.
  const isRefused = hidden.kind === "Node" && draw.fork("refused").chance(0.3);
  const refused = isRefused ? [during(fromMs, forMs, refuses(hidden.controller, "get", "nodes"))] : [];
  return [...refused, ...fault, ...actions];
}

function drawMomentOf(draw: Draw, hidden: Hidden, { moments, isRun }: Subject): number {
  const { kind, controller } = hidden;
  // Before the TTL expires, which mostly is earlier than the bound.
  if (controller === "ttl-after-finished-controller" && draw.fork("expires").chance(0.7))
    return Math.max(0, moments.at(-1)! - draw.fork("sooner").integer(0, 15_000));
  if (isRun === true) {
    // Mostly when the Job has ended and is still stored.
    const end = draw.chance(0.7) ? moments.at(-1)! : draw.fork("which").pick(moments);
    return end + draw.fork("after").integer(500, 15_000);
  }
  // A controller that no longer observes the Job may still observe its pods, which have to run by then.
  if (kind === "Job" && controller === "job-controller" && draw.fork("runs").chance(0.7))
    return (moments[1] ?? 0) + draw.fork("after").integer(2_500, 20_000);
  // A node must exist before its pods. For a deadline, the start of the pods must not be observed.
  const isFirst = kind === "Node" || (isTimed(hidden) && draw.fork("first").chance(0.75));
  const those = isFirst ? moments.slice(0, 2) : moments;
  return draw.fork("which").pick(those) + (draw.fork("at once").chance(0.4) ? 0 : draw.fork("after").integer(0, 3_000));
}

/** Longer than the client waits for an event: a watch is asked to end after 5 to 10 min. */
const SILENCE_MS = 13 * 60_000;
/** Maximum lag of a server. */
const LAG_MS = 240_000;

function pickSubject(draw: Draw, hidden: Hidden, { subjects }: SituationContext): Subject | undefined {
  const { kind, controller } = hidden;
  const isRunOf = controller === "cronjob-controller" && kind === "Job";
  const those = subjects.filter(
    (subject) =>
      (subject.kind === (kind === "CronJob" ? "CronJob" : "Job") && (subject.isRun === true) === isRunOf) ||
      (kind === "Pod" && subject.kind === "Pod"),
  );
  const due = isTimed(hidden) ? those.filter(({ manifest }) => hasDeadline(manifest)) : [];
  return those.length === 0 ? undefined : draw.pick(due.length === 0 ? those : due);
}

/** Reports whether the situation is about a Job's active deadline. */
function isTimed({ shapes }: Hidden): boolean {
  return shapes.includes("activeDeadline");
}

function hasDeadline({ spec }: UnstructuredObject): boolean {
  return (spec as { readonly activeDeadlineSeconds?: number }).activeDeadlineSeconds !== undefined;
}

/** Draws user actions on objects of that kind meanwhile, possibly none. */
function drawActions(
  draw: Draw,
  hidden: Hidden,
  subject: Subject,
  { nodes }: SituationContext,
  fromMs: number,
): readonly ScenarioEventEntry[] {
  const { kind, controller } = hidden;
  // An object that is deleted with its owner is not observed by the controller; one that is left behind is.
  const isOwn = controller === "job-controller";
  const propagation =
    isOwn && draw.fork("left behind").chance(0.6) ? "Orphan" : draw.fork("propagation").pick(PROPAGATIONS);
  const removed = at(fromMs, deletes(subject, propagation));
  const soonMs = (name: string): number => draw.fork(name).integer(100, 3_000);
  const againFrom = (atMs: number): readonly ScenarioEventEntry[] => [
    at(atMs, {
      delete: { ...target(subject), ...(subject.kind === "Pod" ? { gracePeriodSeconds: 0 } : { propagation }) },
    }),
    at(atMs + soonMs("again"), { apply: subject.manifest }),
  ];
  const again = againFrom(fromMs);
  if (kind === "Node") {
    // The fake scheduler binds pods to the first node by name that has room.
    const name = draw.fork("node").weighted([
      [NEW_NODE, 70],
      ["node-1", 15],
      [`node-${draw.fork("which").integer(1, nodes)}`, 15],
    ]);
    const gone = name === NEW_NODE ? [] : [at(fromMs, { delete: { kind: "Node", name } })];
    const backMs = fromMs + draw.fork("back").integer(0, 5_000);
    // A later pod is bound to this node.
    const late = at(backMs + soonMs("late"), { apply: copyOf(subject.manifest, "late") });
    return [...gone, at(backMs, { apply: node(name) }), ...(draw.fork("anew").chance(0.8) ? [late] : [])];
  }
  if (subject.kind === "Pod") return again;
  if (kind === "Pod") {
    const podsGone = at(fromMs, deletesPods(podsOf(subject), draw.fork("grace").chance(0.5) ? 0 : undefined));
    const { parallelism: now = 1 } = subject.manifest["spec"] as { readonly parallelism?: number };
    const pause = draw.range("pause", { "short pause": [500, 5_000, 60], "long pause": [5_000, 90_000, 40] });
    const parallelism = draw.fork("fewer").integer(0, Math.max(0, now - 1));
    // The deadline may pass before the pods are observed: the Job's own, or one that the user sets now.
    const timed = isTimed(hidden);
    const deadline = { activeDeadlineSeconds: draw.fork("deadline").integer(3, 30) };
    return draw.fork("act").weighted<readonly ScenarioEventEntry[]>([
      [[], timed ? 40 : 20],
      [[at(fromMs, edits(subject, deadline))], timed ? 60 : 0],
      [[podsGone], 25],
      [[removed], 25],
      // The controller itself deletes pods and has to create others later.
      [[during(fromMs, pause, { suspend: target(subject) })], 20],
      [[at(fromMs, edits(subject, { parallelism })), at(fromMs + pause, edits(subject, { parallelism: now }))], 15],
      [[podsGone, at(fromMs + soonMs("then"), deletes(subject, propagation))], 15],
    ]);
  }
  if (subject.isRun === true) {
    const cronJob = { kind: "CronJob", namespace: subject.namespace, name: subject.name.replace(/-\d+$/, "") } as const;
    const none = { successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0 };
    const clearedMs = fromMs + soonMs("again") + soonMs("cleared");
    const clearance = at(clearedMs, { patch: { ...cronJob, with: { spec: none } } });
    return draw.fork("what").weighted([
      [[...again, clearance], 65],
      [again, 25],
      [[], 10],
    ]);
  }
  const edited = at(fromMs, edits(subject, drawEdit(draw.fork("edit"), subject)));
  if (controller === "cronjob-controller")
    return draw.fork("act").weighted<readonly ScenarioEventEntry[]>([
      [again, 50],
      [[edited], 50],
    ]);
  return draw.fork("act").weighted<readonly ScenarioEventEntry[]>([
    [[removed], isOwn ? 45 : 30],
    [again, 25],
    // The pods only wait for their finalizers to be removed, and no further event follows.
    [[at(fromMs, deletesPods(podsOf(subject), 0)), ...againFrom(fromMs + 50)], isOwn ? 25 : 0],
    [[edited], 20],
    // The object is created and deleted without being observed; its dependents are observed.
    [
      [
        at(fromMs, { apply: copyOf(subject.manifest, "short-lived") }),
        at(fromMs + 500 + soonMs("goes"), deletes(subject, "Background", "short-lived")),
      ],
      isOwn ? 15 : 30,
    ],
  ]);
}

/** Draws an edit that changes the behaviour of a Job or CronJob. */
function drawEdit(draw: Draw, { kind, schedules }: Subject): object {
  return kind === "CronJob"
    ? draw.pick([
        { suspend: true },
        { schedule: draw.fork("schedule").pick(schedules) },
        { concurrencyPolicy: draw.fork("policy").pick(["Allow", "Forbid", "Replace"]) },
      ])
    : draw.pick([
        { ttlSecondsAfterFinished: draw.fork("ttl").pick([null, 7_200]) },
        { activeDeadlineSeconds: draw.fork("deadline").pick([5, 30]) },
        { suspend: true },
      ]);
}

const NEW_NODE = "fresh-node";

/** Returns the object with another name, without its finalizers. */
export function copyOf(manifest: UnstructuredObject, name: string): UnstructuredObject {
  const { finalizers: _finalizers, ...metadata } = manifest.metadata;
  return { ...manifest, metadata: { ...metadata, name } };
}

import type { ScenarioEventEntry, ScenarioEventMap } from "../scenario/scenario-file.js";
import type { Draw } from "./draw.js";
import { durationText, offsetText } from "./duration-text.js";
import type { FaultKind } from "./fault-kind.js";
import { type FaultTargets, LOST_RESPONSES, type RequestKind, isWrite, refusals, selection } from "./request-kinds.js";
import { startOfScenarioEvent } from "./event-times.js";
import { OUT_OF_SERVICE } from "./node-actions.js";
import type { Swarm } from "./swarm.js";
import { drawMoment } from "./user-actions.js";
import type { Subject } from "./workload.js";

/** What faults can refer to. */
export interface FaultContext {
  readonly faults: Swarm<FaultKind>;
  readonly subjects: readonly Subject[];
  /** Latest start of a fault, in milliseconds from the plan's start. */
  readonly windowMs: number;
  readonly nodes: number;
  readonly replicas: number;
  readonly targets: FaultTargets;
}

/** Fraction of a kind's requests that fail. */
const FAILURE_RATES = [0, 0.01, 0.05, 0.2];
/** Maximum failures per kind of request, so that a plan stays readable. */
const MAX_FAILURES = 8;
const MAX_REQUESTS = 80;

/**
 * Draws faults with a small probability for every request of each kind, and a few faults of the other kinds at any
 * time.
 */
export function drawBackgroundFaults(draw: Draw, context: FaultContext): ScenarioEventEntry[] {
  const { faults } = context;
  const entries: ScenarioEventEntry[] = [];
  if (faults.has("requestFails"))
    for (const kind of [...context.targets.writes, ...context.targets.otherRequests]) {
      const fork = draw.fork(`${kind.component} ${kind.verbs.join()} ${kind.resources.join()}`);
      const share = fork.fork("share").pick(FAILURE_RATES);
      if (share === 0) continue;
      let nth = 0;
      for (let failure = 0; failure < MAX_FAILURES; failure++) {
        nth +=
          1 + Math.floor(Math.log(1 - fork.fork(`gap ${failure}`).integer(0, 9_999) / 10_000) / Math.log(1 - share));
        if (nth > MAX_REQUESTS) break;
        entries.push(requestFailure(fork.fork(`failure ${failure}`), kind, { nth, times: 1 }, context.windowMs));
      }
    }
  for (const [kind, make] of FAULT_GENERATORS) {
    if (!faults.has(kind)) continue;
    const fork = draw.fork(kind);
    const count = fork.fork("count").integer(1, 2);
    for (let number = 0; number < count; number++) {
      const one = fork.fork(String(number));
      const atMs = drawMoment(one.fork("at"), momentsOf(context), context.windowMs);
      entries.push(...eventsAt(make(one.fork("what"), context), atMs));
    }
  }
  return entries;
}

/** Draws one to three faults, each at the n-th write of a kind, before or after the write takes effect. */
export function drawTargetedFaults(draw: Draw, context: FaultContext): ScenarioEventEntry[] {
  const { faults, windowMs } = context;
  const count = draw.fork("count").weighted([
    [1, 50],
    [2, 30],
    [3, 20],
  ]);
  const entries: ScenarioEventEntry[] = [];
  for (let number = 0; number < count; number++) {
    const fork = draw.fork(`fault ${number}`);
    const kind = fork.fork("write").pick(relevantWrites(context));
    const nth = fork.fork("nth").weighted([
      [1, 40],
      [2, 20],
      [3, 12],
      [fork.fork("later").integer(4, 12), 28],
    ]);
    const ways = (["requestFails", "controllerCrashes"] as const).filter((way) => faults.has(way));
    if (ways.length > 0 && fork.fork("at a write").chance(0.75)) {
      const way = fork.fork("way").pick(ways);
      if (way === "requestFails") {
        const times = fork.fork("times").weighted([
          [1, 75],
          [fork.fork("some").integer(2, 4), 25],
        ]);
        entries.push(requestFailure(fork.fork("failure"), kind, { nth, times }, windowMs));
      } else
        entries.push({
          at: "+0s",
          for: durationText(windowMs),
          controllerCrashes: drawCrash(fork.fork("crash"), kind, nth),
        });
      continue;
    }
    const others = FAULT_GENERATORS.filter(([other]) => faults.has(other));
    if (others.length === 0) continue;
    const [, make] = fork.fork("other").pick(others);
    const atMs = drawMoment(fork.fork("at"), momentsOf(context), windowMs);
    entries.push(...eventsAt(make(fork.fork("what"), context), atMs));
  }
  return entries;
}

/** Draws faults around a user action: the affected controller has a stale cache, or its requests are slow. */
export function drawFaultsAroundUsers(
  draw: Draw,
  context: FaultContext,
  users: readonly ScenarioEventEntry[],
): ScenarioEventEntry[] {
  const { faults } = context;
  const ways = (["staleCache", "apiServerSlow"] as const).filter((way) => faults.has(way));
  const actions = users.flatMap((entry) => {
    const { kind } =
      entry.delete ?? entry.patch ?? entry.suspend ?? (typeof entry.apply === "object" ? entry.apply : {});
    const caches = context.targets.caches.filter((cache) => cache.kind === kind);
    return caches.length === 0 ? [] : [{ caches, atMs: startOfScenarioEvent(entry) }];
  });
  if (ways.length === 0 || actions.length === 0 || draw.chance(0.4)) return [];
  const { caches, atMs } = draw.fork("act").pick(actions);
  const { kind, controller } = draw.fork("cache").pick(caches);
  const at = offsetText(Math.max(0, atMs - draw.fork("before").integer(0, 1_000)));
  return draw.fork("way").pick(ways) === "staleCache"
    ? [{ at, ...forDelay(draw), staleCache: { kind, controller } }]
    : [
        {
          at,
          for: durationText(draw.fork("slow for").integer(1_000, 30_000)),
          apiServerSlow: { by: durationText(draw.fork("by").integer(200, 3_000)), components: [controller] },
        },
      ];
}

/**
 * Draws a succeeded pod that turns Failed while its end is recorded and the Job controller has not removed its
 * finalizer.
 */
export function drawPhaseFlip(draw: Draw, { subjects }: FaultContext): ScenarioEventEntry[] {
  const jobs = subjects.filter(({ kind }) => kind === "Job");
  if (jobs.length === 0) return [];
  const job = draw.fork("job").pick(jobs);
  const end = draw.fork("end").pick(job.moments);
  return [
    {
      at: "+0s",
      for: durationText(end + 30_000),
      requestFails: {
        components: ["job-controller"],
        verbs: ["patch"],
        resources: ["pods"],
        nth: 1,
        times: draw.fork("times").integer(1, 4),
      },
    },
    {
      at: offsetText(end + draw.fork("after").integer(1_000, 4_000)),
      patch: {
        kind: "Pod",
        namespace: job.namespace,
        labels: { "batch.kubernetes.io/job-name": job.name },
        subresource: "status",
        with: { status: { phase: "Failed" } },
      },
    },
  ];
}

function momentsOf({ subjects }: FaultContext): readonly number[] {
  return subjects.flatMap(({ moments }) => moments);
}

/** Returns the writes of controllers that have something to write in this plan. */
function relevantWrites({ subjects, targets }: FaultContext): readonly RequestKind[] {
  const hasCronJobs = subjects.some(({ kind }) => kind === "CronJob");
  return targets.writes.filter(({ component }) => hasCronJobs || component !== "cronjob-controller");
}

function requestFailure(
  draw: Draw,
  kind: RequestKind,
  when: Pick<ScenarioEventMap["requestFails"], "nth" | "times">,
  windowMs: number,
): ScenarioEventEntry {
  const isLost = isWrite(kind) && draw.fork("lost").chance(0.4);
  const answer = isLost ? draw.fork("lost answer").pick(LOST_RESPONSES) : draw.fork("answer").pick(refusals(kind));
  return {
    at: "+0s",
    for: durationText(windowMs),
    requestFails: { ...selection(kind), ...when, with: answer, ...(isLost ? { effect: "kept" } : {}) },
  };
}

function drawCrash(draw: Draw, kind: RequestKind, nth: number): ScenarioEventMap["controllerCrashes"] {
  const { components: _components, ...which } = selection(kind);
  const restartAfter = draw.fork("restart").weighted([
    [undefined, 60],
    [draw.fork("soon").integer(0, 500), 20],
    [draw.fork("later").delayMs(), 20],
  ]);
  return {
    controller: draw.fork("all").chance(0.3) ? "all" : kind.component,
    ...which,
    nth,
    when: draw.fork("when").pick(["before", "after"]),
    ...(restartAfter === undefined ? {} : { restartAfter: durationText(restartAfter) }),
  };
}

/** Events of one fault; `afterMs` delays an event relative to the first. */
export type TimedEvents = readonly (Omit<ScenarioEventEntry, "at"> & { readonly afterMs?: number })[];

function eventsAt(timed: TimedEvents, atMs: number): ScenarioEventEntry[] {
  return timed.map(({ afterMs = 0, ...what }) => ({ at: offsetText(atMs + afterMs), ...what }));
}

function forDelay(draw: Draw): { readonly for: string } {
  return { for: durationText(Math.max(1, draw.fork("for").delayMs())) };
}

export interface CacheSelection {
  readonly controller: string;
  readonly kinds: readonly string[];
}

function drawCache(draw: Draw, { targets }: FaultContext): CacheSelection {
  const { kind, controller } = draw.fork("cache").pick(targets.caches);
  return { controller, kinds: [kind] };
}

function managerOf(draw: Draw, { replicas }: FaultContext): string {
  return `controller-manager-${draw.fork("manager").integer(1, replicas)}`;
}

function nodeOf(draw: Draw, { nodes }: FaultContext): string {
  return `node-${draw.fork("node").integer(1, nodes)}`;
}

/** Generators for each kind of fault, except for those at a certain request. */
const FAULT_GENERATORS: readonly (readonly [FaultKind, (draw: Draw, context: FaultContext) => TimedEvents])[] = [
  ["requestFails", (draw, context) => [drawQuotaRefusal(draw, context)]],
  [
    "controllerDown",
    (draw, context) => [
      {
        ...forDelay(draw),
        controllerDown: draw.fork("all").chance(0.5) ? "all" : draw.fork("which").pick(context.targets.controllers),
      },
    ],
  ],
  ["paused", (draw, context) => [{ ...forDelay(draw), paused: managerOf(draw, context) }]],
  [
    "watchCut",
    (draw, context) =>
      draw.fork("outage").chance(0.6) ? drawOutage(draw, drawCache(draw, context)) : [drawWatchCut(draw, context)],
  ],
  ["watchSilent", (draw, context) => [{ ...forDelay(draw), watchSilent: drawCache(draw, context) }]],
  [
    "staleCache",
    (draw, context) => [{ ...forDelay(draw), staleCache: draw.fork("cache").pick(context.targets.caches) }],
  ],
  ["staleList", drawStaleList],
  ["apiServerRestart", () => [{ apiServerRestart: true }]],
  [
    "apiServerDown",
    (draw, context) => [
      {
        for: durationText(
          draw.fork("for").weighted([
            [draw.fork("short").integer(500, 3_000), 60],
            [draw.fork("long").integer(10_000, 90_000), 40],
          ]),
        ),
        apiServerDown: draw.fork("all").chance(0.5)
          ? "all"
          : [draw.fork("who").pick([...context.targets.controllers, "kubelet"])],
      },
    ],
  ],
  [
    "apiServerSlow",
    (draw, context) => [
      {
        ...forDelay(draw),
        apiServerSlow: {
          by: durationText(
            draw.fork("by").weighted([
              [draw.fork("short").integer(500, 3_000), 70],
              [draw.fork("long").integer(10_000, 20_000), 30],
            ]),
          ),
          ...(draw.fork("all").chance(0.3)
            ? {}
            : { components: [draw.fork("who").pick([...context.targets.controllers, "kubelet"])] }),
        },
      },
    ],
  ],
  [
    "leaseLost",
    (draw, { replicas }) =>
      replicas < 2 ? [] : [{ for: durationText(draw.fork("for").integer(12, 60) * 1_000), leaseLost: true }],
  ],
  ["clockJump", (draw) => [{ clockJump: drawClockJump(draw) }]],
  [
    "clockSkew",
    (draw, context) => [
      {
        ...forDelay(draw),
        clockSkew: { controllerManager: managerOf(draw, context), by: drawClockJump(draw) },
      },
    ],
  ],
  [
    "nodeLost",
    (draw, context) => [
      {
        for: durationText(draw.fork("for").pick([20, 60, 120, 400]) * 1_000),
        nodeLost: nodeOf(draw, context),
      },
    ],
  ],
  [
    "nodeDrained",
    (draw, context) => [
      { for: durationText(draw.fork("for").integer(1, 90) * 1_000), nodeDrained: nodeOf(draw, context) },
    ],
  ],
  [
    "nodeTainted",
    (draw, context) => [
      {
        for: durationText(draw.fork("for").integer(1, 120) * 1_000),
        nodeTainted: {
          node: nodeOf(draw, context),
          ...draw.fork("taint").pick([OUT_OF_SERVICE, { key: "example.com/maintenance", effect: "NoExecute" }]),
        },
      },
    ],
  ],
];

/** Watches end and are reopened immediately. */
function drawWatchCut(draw: Draw, context: FaultContext): TimedEvents[number] {
  return {
    watchCut: {
      ...(draw.fork("all").chance(0.2) ? {} : drawCache(draw, context)),
      compacted: draw.fork("compacted").chance(0.6),
    },
  };
}

/**
 * Watches end and cannot be reopened for a while; then the missed versions are compacted. The controller lists again,
 * and objects that were deleted meanwhile are missing from the list.
 */
export function outage(cache: CacheSelection, forMs: number, isForgotten = true): TimedEvents {
  const { controller, kinds } = cache;
  const resources = kinds.map((kind) => `${kind.toLowerCase()}s`);
  return [
    {
      for: durationText(forMs),
      requestFails: { components: [controller], verbs: ["list", "watch"], resources, with: 503 },
    },
    { watchCut: { ...cache, compacted: false } },
    ...(isForgotten ? [{ afterMs: forMs, watchCut: { ...cache, compacted: true } }] : []),
  ];
}

function drawOutage(draw: Draw, cache: CacheSelection, isForgotten = true): TimedEvents {
  const forMs = draw.fork("outage for").weighted([
    [draw.fork("short outage").integer(500, 3_000), 40],
    [draw.fork("long outage").integer(5_000, 90_000), 60],
  ]);
  return outage(cache, forMs, isForgotten);
}

/**
 * Makes lists stale. Controllers rarely list again on their own, so most of these faults include an outage. The missed
 * versions are not compacted: a server that has compacted them cannot serve them.
 */
function drawStaleList(draw: Draw, context: FaultContext): TimedEvents {
  const cache = drawCache(draw, context);
  const byMs = Math.max(1, draw.fork("by").delayMs());
  const relists = draw.fork("relists").chance(0.8) ? drawOutage(draw.fork("relist"), cache, false) : [];
  const lengthMs = Math.max(0, ...relists.map(({ afterMs = 0 }) => afterMs)) + draw.fork("for").delayMs();
  return [{ for: durationText(Math.max(1, lengthMs)), staleList: { ...cache, by: durationText(byMs) } }, ...relists];
}

/** Simulates a full quota: the API server refuses Jobs or pods beyond some number. */
function drawQuotaRefusal(draw: Draw, { windowMs }: FaultContext): TimedEvents[number] {
  const resource = draw.fork("resource").pick(["pods", "jobs"]);
  return {
    for: durationText(draw.fork("for").integer(10_000, Math.max(10_000, windowMs))),
    requestFails: {
      components: [resource === "pods" ? "job-controller" : "cronjob-controller"],
      verbs: ["create"],
      resources: [resource],
      with: 403,
      whileAtLeast: draw.fork("least").integer(1, 4),
    },
  };
}

function drawClockJump(draw: Draw): string {
  const sign = draw.fork("sign").pick(["+", "-"]);
  return `${sign}${durationText(
    Math.max(
      1_000,
      draw.fork("by").weighted([
        [draw.fork("some").delayMs(), 70],
        [draw.fork("hours").integer(1, 3) * 3_600_000, 30],
      ]),
    ),
  )}`;
}

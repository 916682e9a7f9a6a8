import type { HappeningEntry, Happenings } from "../scenario/scenario-file.js";
import type { Draw } from "./draw.js";
import { durationText, offsetText } from "./duration-text.js";
import type { FaultKind } from "./fault-kind.js";
import { type Cast, LOST_ANSWERS, type RequestKind, isWrite, refusals, selection } from "./request-kinds.js";
import { startOfHappening } from "./happening-times.js";
import { OUT_OF_SERVICE } from "./node-actions.js";
import type { Swarm } from "./swarm.js";
import { drawMoment } from "./user-actions.js";
import type { Subject } from "./workload.js";

/** What faults may be about. */
export interface FaultGround {
  readonly faults: Swarm<FaultKind>;
  readonly subjects: readonly Subject[];
  /** Until when a fault may begin, in milliseconds from the start. */
  readonly windowMs: number;
  readonly nodes: number;
  readonly replicas: number;
  readonly cast: Cast;
}

/** In how many requests of a kind something goes wrong. */
const SHARES = [0, 0.01, 0.05, 0.2];
/** Of one kind of request, so that a plan stays legible. */
const MOST_FAILURES = 8;
const MOST_REQUESTS = 80;

/** Each request of a kind with some small probability, and a few faults of the other kinds, at any time. */
export function drawBackground(draw: Draw, ground: FaultGround): HappeningEntry[] {
  const { faults } = ground;
  const entries: HappeningEntry[] = [];
  if (faults.has("requestFails"))
    for (const kind of [...ground.cast.writes, ...ground.cast.otherRequests]) {
      const lots = draw.fork(`${kind.component} ${kind.verbs.join()} ${kind.resources.join()}`);
      const share = lots.fork("share").pick(SHARES);
      if (share === 0) continue;
      let nth = 0;
      for (let failure = 0; failure < MOST_FAILURES; failure++) {
        nth += 1 + Math.floor(Math.log(1 - lots.fork(`gap ${failure}`).whole(0, 9_999) / 10_000) / Math.log(1 - share));
        if (nth > MOST_REQUESTS) break;
        entries.push(requestFailure(lots.fork(`failure ${failure}`), kind, { nth, times: 1 }, ground.windowMs));
      }
    }
  for (const [kind, make] of ENTRIES) {
    if (!faults.has(kind)) continue;
    const lots = draw.fork(kind);
    const count = lots.fork("count").whole(1, 2);
    for (let number = 0; number < count; number++) {
      const one = lots.fork(String(number));
      const atMs = drawMoment(one.fork("at"), momentsOf(ground), ground.windowMs);
      entries.push(...placed(make(one.fork("what"), ground), atMs));
    }
  }
  return entries;
}

/** One to three faults, each at the n-th write of a kind, before or after it took effect. */
export function drawAimed(draw: Draw, ground: FaultGround): HappeningEntry[] {
  const { faults, windowMs } = ground;
  const count = draw.fork("count").weighted([
    [1, 50],
    [2, 30],
    [3, 20],
  ]);
  const entries: HappeningEntry[] = [];
  for (let number = 0; number < count; number++) {
    const lots = draw.fork(`fault ${number}`);
    const kind = lots.fork("write").pick(writesFor(ground));
    const nth = lots.fork("nth").weighted([
      [1, 40],
      [2, 20],
      [3, 12],
      [lots.fork("later").whole(4, 12), 28],
    ]);
    const ways = (["requestFails", "controllerCrashes"] as const).filter((way) => faults.has(way));
    if (ways.length > 0 && lots.fork("at a write").chance(0.75)) {
      const way = lots.fork("way").pick(ways);
      if (way === "requestFails") {
        const times = lots.fork("times").weighted([
          [1, 75],
          [lots.fork("some").whole(2, 4), 25],
        ]);
        entries.push(requestFailure(lots.fork("failure"), kind, { nth, times }, windowMs));
      } else
        entries.push({
          at: "+0s",
          for: durationText(windowMs),
          controllerCrashes: crash(lots.fork("crash"), kind, nth),
        });
      continue;
    }
    const others = ENTRIES.filter(([other]) => faults.has(other));
    if (others.length === 0) continue;
    const [, make] = lots.fork("other").pick(others);
    const atMs = drawMoment(lots.fork("at"), momentsOf(ground), windowMs);
    entries.push(...placed(make(lots.fork("what"), ground), atMs));
  }
  return entries;
}

/** Right when users do something to an object: who acts upon it does not see that yet, or is slow about what was begun before. */
export function drawAround(draw: Draw, ground: FaultGround, users: readonly HappeningEntry[]): HappeningEntry[] {
  const { faults } = ground;
  const ways = (["staleCache", "apiServerSlow"] as const).filter((way) => faults.has(way));
  const acts = users.flatMap((entry) => {
    const { kind } =
      entry.delete ?? entry.patch ?? entry.suspend ?? (typeof entry.apply === "object" ? entry.apply : {});
    const caches = ground.cast.caches.filter((cache) => cache.kind === kind);
    return caches.length === 0 ? [] : [{ caches, atMs: startOfHappening(entry) }];
  });
  if (ways.length === 0 || acts.length === 0 || draw.chance(0.4)) return [];
  const { caches, atMs } = draw.fork("act").pick(acts);
  const { kind, controller } = draw.fork("cache").pick(caches);
  const at = offsetText(Math.max(0, atMs - draw.fork("before").whole(0, 1_000)));
  return draw.fork("way").pick(ways) === "staleCache"
    ? [{ at, ...forDelay(draw), staleCache: { kind, controller } }]
    : [
        {
          at,
          for: durationText(draw.fork("slow for").whole(1_000, 30_000)),
          apiServerSlow: { by: durationText(draw.fork("by").whole(200, 3_000)), components: [controller] },
        },
      ];
}

/** A pod that has succeeded is found failed, while its end is recorded and the Job controller has not let go of it. */
export function drawPhaseFlip(draw: Draw, { subjects }: FaultGround): HappeningEntry[] {
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
        times: draw.fork("times").whole(1, 4),
      },
    },
    {
      at: offsetText(end + draw.fork("after").whole(1_000, 4_000)),
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

function momentsOf({ subjects }: FaultGround): readonly number[] {
  return subjects.flatMap(({ moments }) => moments);
}

/** Writes of controllers that have something to write. */
function writesFor({ subjects, cast }: FaultGround): readonly RequestKind[] {
  const hasCronJobs = subjects.some(({ kind }) => kind === "CronJob");
  return cast.writes.filter(({ component }) => hasCronJobs || component !== "cronjob-controller");
}

function requestFailure(
  draw: Draw,
  kind: RequestKind,
  when: Pick<Happenings["requestFails"], "nth" | "times">,
  windowMs: number,
): HappeningEntry {
  const isLost = isWrite(kind) && draw.fork("lost").chance(0.4);
  const answer = isLost ? draw.fork("lost answer").pick(LOST_ANSWERS) : draw.fork("answer").pick(refusals(kind));
  return {
    at: "+0s",
    for: durationText(windowMs),
    requestFails: { ...selection(kind), ...when, with: answer, ...(isLost ? { effect: "kept" } : {}) },
  };
}

function crash(draw: Draw, kind: RequestKind, nth: number): Happenings["controllerCrashes"] {
  const { components: _components, ...which } = selection(kind);
  const restartAfter = draw.fork("restart").weighted([
    [undefined, 60],
    [draw.fork("soon").whole(0, 500), 20],
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

/** One that takes others along with it begins them so much later. */
export type Made = readonly (Omit<HappeningEntry, "at"> & { readonly afterMs?: number })[];

function placed(made: Made, atMs: number): HappeningEntry[] {
  return made.map(({ afterMs = 0, ...what }) => ({ at: offsetText(atMs + afterMs), ...what }));
}

function forDelay(draw: Draw): { readonly for: string } {
  return { for: durationText(Math.max(1, draw.fork("for").delayMs())) };
}

export interface OneCache {
  readonly controller: string;
  readonly kinds: readonly string[];
}

function oneCache(draw: Draw, { cast }: FaultGround): OneCache {
  const { kind, controller } = draw.fork("cache").pick(cast.caches);
  return { controller, kinds: [kind] };
}

function managerOf(draw: Draw, { replicas }: FaultGround): string {
  return `controller-manager-${draw.fork("manager").whole(1, replicas)}`;
}

function nodeOf(draw: Draw, { nodes }: FaultGround): string {
  return `node-${draw.fork("node").whole(1, nodes)}`;
}

/** How each kind of fault is drawn, but for those at a certain request. */
const ENTRIES: readonly (readonly [FaultKind, (draw: Draw, ground: FaultGround) => Made])[] = [
  ["requestFails", (draw, ground) => [quota(draw, ground)]],
  [
    "controllerDown",
    (draw, ground) => [
      {
        ...forDelay(draw),
        controllerDown: draw.fork("all").chance(0.5) ? "all" : draw.fork("which").pick(ground.cast.controllers),
      },
    ],
  ],
  ["paused", (draw, ground) => [{ ...forDelay(draw), paused: managerOf(draw, ground) }]],
  [
    "watchCut",
    (draw, ground) =>
      draw.fork("outage").chance(0.6) ? drawOutage(draw, oneCache(draw, ground)) : [cut(draw, ground)],
  ],
  ["watchSilent", (draw, ground) => [{ ...forDelay(draw), watchSilent: oneCache(draw, ground) }]],
  ["staleCache", (draw, ground) => [{ ...forDelay(draw), staleCache: draw.fork("cache").pick(ground.cast.caches) }]],
  ["staleList", staleLists],
  ["apiServerRestart", () => [{ apiServerRestart: true }]],
  [
    "apiServerDown",
    (draw, ground) => [
      {
        for: durationText(
          draw.fork("for").weighted([
            [draw.fork("short").whole(500, 3_000), 60],
            [draw.fork("long").whole(10_000, 90_000), 40],
          ]),
        ),
        apiServerDown: draw.fork("all").chance(0.5)
          ? "all"
          : [draw.fork("who").pick([...ground.cast.controllers, "kubelet"])],
      },
    ],
  ],
  [
    "apiServerSlow",
    (draw, ground) => [
      {
        ...forDelay(draw),
        apiServerSlow: {
          by: durationText(
            draw.fork("by").weighted([
              [draw.fork("short").whole(500, 3_000), 70],
              [draw.fork("long").whole(10_000, 20_000), 30],
            ]),
          ),
          ...(draw.fork("all").chance(0.3)
            ? {}
            : { components: [draw.fork("who").pick([...ground.cast.controllers, "kubelet"])] }),
        },
      },
    ],
  ],
  [
    "leaseLost",
    (draw, { replicas }) =>
      replicas < 2 ? [] : [{ for: durationText(draw.fork("for").whole(12, 60) * 1_000), leaseLost: true }],
  ],
  ["clockJump", (draw) => [{ clockJump: jump(draw) }]],
  [
    "clockSkew",
    (draw, ground) => [
      {
        ...forDelay(draw),
        clockSkew: { controllerManager: managerOf(draw, ground), by: jump(draw) },
      },
    ],
  ],
  [
    "nodeLost",
    (draw, ground) => [
      {
        for: durationText(draw.fork("for").pick([20, 60, 120, 400]) * 1_000),
        nodeLost: nodeOf(draw, ground),
      },
    ],
  ],
  [
    "nodeDrained",
    (draw, ground) => [{ for: durationText(draw.fork("for").whole(1, 90) * 1_000), nodeDrained: nodeOf(draw, ground) }],
  ],
  [
    "nodeTainted",
    (draw, ground) => [
      {
        for: durationText(draw.fork("for").whole(1, 120) * 1_000),
        nodeTainted: {
          node: nodeOf(draw, ground),
          ...draw.fork("taint").pick([OUT_OF_SERVICE, { key: "example.com/maintenance", effect: "NoExecute" }]),
        },
      },
    ],
  ],
];

/** Watches end and are opened again at once. */
function cut(draw: Draw, ground: FaultGround): Made[number] {
  return {
    watchCut: {
      ...(draw.fork("all").chance(0.2) ? {} : oneCache(draw, ground)),
      compacted: draw.fork("compacted").chance(0.6),
    },
  };
}

/**
 * Watches end and cannot be opened again for a while, after which what happened meanwhile is forgotten: everything is listed
 * anew, and what has gone is missing from the list.
 */
export function outage(cache: OneCache, forMs: number, isForgotten = true): Made {
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

function drawOutage(draw: Draw, cache: OneCache, isForgotten = true): Made {
  const forMs = draw.fork("outage for").weighted([
    [draw.fork("short outage").whole(500, 3_000), 40],
    [draw.fork("long outage").whole(5_000, 90_000), 60],
  ]);
  return outage(cache, forMs, isForgotten);
}

/**
 * What is listed is old; nobody lists again who need not, and so there is mostly an outage that makes them. What was stored is not
 * forgotten: a server that does not know it any more cannot show it.
 */
function staleLists(draw: Draw, ground: FaultGround): Made {
  const cache = oneCache(draw, ground);
  const byMs = Math.max(1, draw.fork("by").delayMs());
  const relists = draw.fork("relists").chance(0.8) ? drawOutage(draw.fork("relist"), cache, false) : [];
  const lengthMs = Math.max(0, ...relists.map(({ afterMs = 0 }) => afterMs)) + draw.fork("for").delayMs();
  return [{ for: durationText(Math.max(1, lengthMs)), staleList: { ...cache, by: durationText(byMs) } }, ...relists];
}

/** A quota, as long as it is full: Jobs or pods beyond some number are refused. */
function quota(draw: Draw, { windowMs }: FaultGround): Made[number] {
  const resource = draw.fork("resource").pick(["pods", "jobs"]);
  return {
    for: durationText(draw.fork("for").whole(10_000, Math.max(10_000, windowMs))),
    requestFails: {
      components: [resource === "pods" ? "job-controller" : "cronjob-controller"],
      verbs: ["create"],
      resources: [resource],
      with: 403,
      whileAtLeast: draw.fork("least").whole(1, 4),
    },
  };
}

function jump(draw: Draw): string {
  const sign = draw.fork("sign").pick(["+", "-"]);
  return `${sign}${durationText(
    Math.max(
      1_000,
      draw.fork("by").weighted([
        [draw.fork("some").delayMs(), 70],
        [draw.fork("hours").whole(1, 3) * 3_600_000, 30],
      ]),
    ),
  )}`;
}

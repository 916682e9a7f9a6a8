import type { HappeningEntry } from "../scenario/scenario-file.js";
import type { Draw } from "./draw.js";
import { durationText, offsetText } from "./duration-text.js";
import { type OneCache, outage } from "./faults.js";
import { node } from "./node-actions.js";
import { startOfHappening } from "./happening-times.js";
import { type Owner, configMap, referenceTo } from "./ownership.js";
import { FOREIGN_FINALIZER, dropFirstFinalizer } from "./jobs.js";
import { LOST_ANSWERS } from "./request-kinds.js";
import type { Shape } from "./shape.js";
import type { Situation, SituationGround } from "./situation.js";
import { HIDDEN, copyOf, drawUnseen } from "./unseen.js";
import { PROPAGATIONS, podsOf, target } from "./user-actions.js";
import type { Subject } from "./workload.js";

/** One of them, each as often as its weight says. */
export function drawSituation(draw: Draw): Situation {
  return draw.weighted<(draw: Draw) => Situation>([
    [unseen, 56],
    [() => cameAndWent, 10],
    [() => quickDeletions, 19],
    [() => refusedMeanwhile, 14],
    [() => slowMeanwhile, 12],
    [() => slowAboutPods, 14],
    [() => cutShort, 10],
    [steppedClock, 13],
    [wokenEarly, 14],
    [() => goneNode, 15],
    [() => movedOwner, 6],
    [() => ownedInCircle, 5],
    [() => heldDeletions, 4],
    [() => takenName, 9],
    [() => missedSlots, 7],
    [() => fullQuota, 7],
    [() => lostLease, 10],
    [() => changedEnd, 12],
  ])(draw.fork("which"));
}

/** One controller does not see what becomes of one kind of object. */
function unseen(draw: Draw): Situation {
  const hidden = draw.weighted(HIDDEN);
  return {
    name: "unseen",
    shapes: hidden.shapes,
    without: hidden.without ?? [],
    draw: (lots, ground) => drawUnseen(lots, hidden, ground),
  };
}

/** Pods are deleted, and right after that what they belong to, before anybody has looked at them. */
const quickDeletions: Situation = {
  name: "quick deletions",
  shapes: ["jobs"],
  without: ["quota", "managedBy"],
  draw(draw, ground) {
    const job = pickJob(draw, ground);
    if (job === undefined) return [];
    const atMs = Math.max(500, draw.fork("moment").pick(job.moments) + draw.fork("after").whole(0, 1_500));
    const gracePeriodSeconds = draw.fork("grace").weighted([
      [0, 70],
      [1, 15],
      [undefined, 15],
    ] as const);
    const thenMs = draw.fork("then").whole(0, 1_200);
    const entries: HappeningEntry[] = [
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
    // What looks at them may also be kept from letting go of them: a few times, or until then and longer.
    const which = { verbs: ["patch"], resources: ["pods"] };
    if (draw.fork("held").chance(0.7))
      entries.push(
        draw.fork("for a time").chance(0.6)
          ? {
              at: offsetText(atMs - 500),
              for: durationText(500 + thenMs + draw.fork("longer").whole(100, 5_000)),
              requestFails: { components: ["job-controller"], ...which },
            }
          : refusals(draw.fork("refused"), which, atMs, draw.fork("n").whole(1, 4)),
      );
    return entries;
  },
};

/** Users want something else of a Job, and what its controller then does is refused, or its answer lost. */
const refusedMeanwhile: Situation = {
  name: "refused meanwhile",
  shapes: ["jobs", "longPods"],
  without: ["quota", "managedBy", "activeDeadline"],
  draw(draw, ground) {
    const job = pickJob(draw, ground);
    if (job === undefined) return [];
    const atMs = draw.fork("moment").pick(job.moments.slice(0, 2)) + draw.fork("after").whole(1_500, 20_000);
    const [verb, resource] = draw.fork("request").weighted([
      [["delete", "pods"], 55],
      [["create", "pods"], 15],
      [["patch", "pods"], 15],
      [["update", "jobs/status"], 15],
    ] as const);
    const patch = (spec: object): Omit<HappeningEntry, "at"> => ({ patch: { ...target(job), with: { spec } } });
    const { parallelism: now = 1 } = job.manifest["spec"] as { readonly parallelism?: number };
    const act = draw.fork("act").weighted<Omit<HappeningEntry, "at">>([
      [patch({ parallelism: draw.fork("fewer").whole(0, Math.max(0, now - 1)) }), 40],
      [patch({ parallelism: now + draw.fork("more").whole(1, 4) }), 15],
      [{ for: durationText(draw.fork("suspended").whole(1_000, 90_000)), suspend: target(job) }, 30],
      [{ delete: podsOf(job) }, 15],
    ]);
    return [
      refusals(draw.fork("refused"), { verbs: [verb], resources: [resource] }, atMs, draw.fork("n").whole(1, 3)),
      { at: offsetText(atMs), ...act },
    ];
  },
};

/** The TTL controller is slow about a Job whose time is over, which meanwhile makes room for another of its name. */
const slowMeanwhile: Situation = {
  name: "slow meanwhile",
  shapes: ["jobs", "ttl"],
  without: ["quota", "managedBy", "foreignFinalizers", "failures", "suspend"],
  draw(draw, { subjects }) {
    const expiring = subjects.filter(
      ({ kind, isRun, manifest }) => kind === "Job" && isRun !== true && hasTtl(manifest),
    );
    if (expiring.length === 0) return [];
    const job = draw.fork("subject").pick(expiring);
    const byMs = draw.fork("by").whole(4_000, 15_000);
    // A Job's time to live is over last, and mostly sooner than can be said.
    const dueMs = Math.max(0, job.moments.at(-1)! - draw.fork("sooner").whole(0, 7_000));
    // Who looks once more before it acts has done so after one request, and acts after two.
    const atMs = dueMs + byMs + draw.fork("after").whole(100, byMs);
    const slow = { atMs: dueMs - draw.fork("before").whole(0, 6_000), byMs };
    return [slowness(slow, "ttl-after-finished-controller"), ...madeAgain(draw, job, atMs)];
  },
};

/** A controller is slow about a pod that nobody but the user looks after, who meanwhile makes it again. */
const slowAboutPods: Situation = {
  name: "slow about pods",
  shapes: ["jobs", "ownPods", "overlappingSelectors"],
  without: ["quota", "managedBy", "foreignFinalizers", "failures", "suspend"],
  draw(draw, { subjects }) {
    const pods = subjects.filter(({ kind }) => kind === "Pod");
    if (pods.length === 0) return [];
    const pod = draw.fork("subject").pick(pods);
    const isLost = (pod.manifest["spec"] as { readonly nodeName?: string }).nodeName !== undefined;
    const controller = draw.fork("controller").weighted([
      ["job-controller", isLost ? 25 : 85],
      ["pod-garbage-collector-controller", isLost ? 75 : 15],
    ] as const);
    const isCollected = controller !== "job-controller";
    // What is on a node that is gone is let be for 40 s, and marked before it goes; a Job looks at a pod as soon as it is there.
    const dueMs = draw.fork("moment").pick(isCollected ? pod.moments.slice(2, 4) : [0, 0, ...pod.moments]);
    const byMs = draw.fork("by").whole(1_000, 5_000);
    const atMs = dueMs + (isCollected ? byMs : 0) + draw.fork("after").whole(100, byMs + (isCollected ? 500 : 2_000));
    const slow = { atMs: dueMs - draw.fork("before").whole(0, 1_000), byMs };
    return [slowness(slow, controller), ...madeAgain(draw, pod, atMs)];
  },
};

/** For as long as some requests take. */
function slowness(
  { atMs, byMs }: { readonly atMs: number; readonly byMs: number },
  controller: string,
): HappeningEntry {
  return {
    at: offsetText(Math.max(0, atMs)),
    for: durationText(byMs * 3 + 9_000),
    apiServerSlow: { by: durationText(byMs), components: [controller] },
  };
}

function madeAgain(draw: Draw, subject: Subject, atMs: number): HappeningEntry[] {
  return [
    { at: offsetText(atMs), delete: { ...target(subject), ...deletion(subject) } },
    { at: offsetText(atMs + draw.fork("again").whole(50, 600)), apply: subject.manifest },
  ];
}

function hasTtl({ spec }: Subject["manifest"]): boolean {
  return (spec as { readonly ttlSecondsAfterFinished?: number }).ttlSecondsAfterFinished !== undefined;
}

/** Somebody else's Job has the name that a CronJob's next one is to have. */
const takenName: Situation = {
  name: "taken name",
  shapes: ["cronJobs", "cronRuns"],
  without: ["quota", "suspend"],
  draw(draw, { subjects }) {
    const runs = subjects.filter(({ isRun }) => isRun === true);
    if (runs.length === 0) return [];
    const run = draw.fork("run").pick(runs);
    const atMs = Math.max(0, run.moments[1]! - draw.fork("before").whole(0, 20_000));
    const goes = draw.fork("goes").chance(0.3);
    return [
      { at: offsetText(atMs), apply: run.manifest },
      ...(goes
        ? [
            {
              at: offsetText(atMs + 20_000 + draw.fork("later").delayMs()),
              delete: { ...target(run), propagation: draw.fork("propagation").pick(PROPAGATIONS) },
            },
          ]
        : []),
    ];
  },
};

/** Nobody starts the slots of a CronJob for a while, and its slots are not evenly spaced. */
const missedSlots: Situation = {
  name: "missed slots",
  shapes: ["cronJobs", "unevenSchedules"],
  without: ["quota", "suspend", "relativeSchedules"],
  draw(draw, { subjects }) {
    const cronJobs = subjects.filter(({ kind }) => kind === "CronJob");
    if (cronJobs.length === 0) return [];
    const cronJob = draw.fork("cron job").pick(cronJobs);
    const firstMs = draw.fork("from").pick(cronJob.moments);
    const atMs = Math.max(0, firstMs - draw.fork("before").whole(100, 20_000));
    const lengthMs = draw.fork("length").whole(150, 900) * 1_000;
    const length = { at: offsetText(atMs), for: durationText(lengthMs) };
    return [
      draw.fork("way").weighted<HappeningEntry>([
        [{ ...length, suspend: target(cronJob) }, 50],
        [{ ...length, controllerDown: draw.fork("all").chance(0.5) ? "all" : "cronjob-controller" }, 50],
      ]),
    ];
  },
};

/** A CronJob has just as much room as it takes when its old Jobs go in time. */
const fullQuota: Situation = {
  name: "full quota",
  shapes: ["cronJobs", "quota", "tightQuota", "tightHistory"],
  without: ["suspend", "managedBy", "ttl"],
  draw: () => [],
};

/** Who leads cannot tell that it does, or stands still, for about as long as others wait. */
const lostLease: Situation = {
  name: "lost lease",
  shapes: ["replicas"],
  without: ["cronJobs"],
  draw(draw, { replicas, windowMs }) {
    if (replicas < 2) return [];
    const count = draw.fork("count").whole(1, 3);
    return Array.from({ length: count }, (_, number): HappeningEntry => {
      const lots = draw.fork(`loss ${number}`);
      const at = offsetText(lots.fork("at").whole(0, windowMs));
      const length = durationText(lots.fork("for").whole(8, 75) * 1_000);
      // The first of them is there first, and leads as a rule.
      const which = lots.fork("which").weighted([
        [1, 60],
        [lots.fork("any").whole(1, replicas), 40],
      ]);
      return lots.fork("way").chance(0.5)
        ? { at, for: length, leaseLost: true }
        : { at, for: length, paused: `controller-manager-${which}` };
    });
  },
};

/** A pod that has ended is found to have ended otherwise, while its end is recorded and the Job controller has not let go of it. */
const changedEnd: Situation = {
  name: "changed end",
  shapes: ["jobs"],
  without: ["quota", "managedBy", "suspend", "slowPods"],
  draw(draw, ground) {
    const job = pickJob(draw, ground);
    if (job === undefined) return [];
    // When its first pods end, or later ones; of a Job whose run tells of no end, when it began.
    const ends = job.moments.filter((_, index) => index >= 2 && index % 2 === 0);
    const endMs = draw.fork("end").pick(ends.length === 0 ? job.moments.slice(-1) : [...ends.slice(0, 1), ...ends]);
    return [
      {
        at: offsetText(Math.max(0, endMs - 1_000)),
        for: durationText(draw.fork("for").whole(10_000, 40_000)),
        requestFails: { components: ["job-controller"], verbs: ["patch"], resources: ["pods"] },
      },
      {
        at: offsetText(endMs + draw.fork("after").whole(1_500, 8_000)),
        patch: {
          ...podsOf(job),
          subresource: "status",
          with: { status: { phase: draw.fork("phase").chance(0.7) ? "Failed" : "Succeeded" } },
        },
      },
    ];
  },
};

/** An object comes and goes while a controller cannot watch its kind: that is never seen, and what it has left behind is. */
const cameAndWent: Situation = {
  name: "came and went",
  shapes: ["jobs"],
  without: ["quota", "managedBy", "foreignFinalizers", "suspend"],
  draw(draw, ground) {
    const job = pickJob(draw, ground);
    if (job === undefined) return [];
    const cache = draw.fork("cache").weighted<OneCache>([
      [{ controller: "garbage-collector-controller", kinds: ["Job"] }, 60],
      [{ controller: "garbage-collector-controller", kinds: ["Pod"] }, 10],
      [{ controller: "job-controller", kinds: ["Job"] }, 10],
      [{ controller: "job-controller", kinds: ["Pod"] }, 20],
    ]);
    const fromMs = draw.fork("from").whole(500, 20_000);
    const comesMs = fromMs + draw.fork("comes").whole(100, 5_000);
    const goesMs = comesMs + draw.fork("stays").whole(1_000, 15_000);
    const forMs = goesMs - fromMs + draw.fork("goes on").whole(500, 20_000);
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
  },
};

/** A process dies, or is refused, amid a row of writes of one kind: some of them are done, others are not, and what is recorded is. */
const cutShort: Situation = {
  name: "cut short",
  shapes: ["jobs", "manyPods", "lowLimits"],
  without: ["quota", "managedBy", "slowPods", "longPods"],
  draw(draw, ground) {
    const job = pickJob(draw, ground, podsAtOnce);
    if (job === undefined) return [];
    const [verb, resource] = draw.fork("write").weighted([
      [["update", "jobs/status"], 35],
      [["patch", "pods"], 35],
      [["create", "pods"], 20],
      [["delete", "pods"], 10],
    ] as const);
    const which = { verbs: [verb], resources: [resource] };
    const count = draw.fork("count").whole(1, 3);
    return Array.from({ length: count }, (_, number): HappeningEntry => {
      const lots = draw.fork(String(number));
      const ends = job.moments.slice(2);
      const momentMs = lots
        .fork("moment")
        .pick(verb === "create" || ends.length === 0 ? job.moments.slice(0, 2) : ends);
      const window = { at: offsetText(Math.max(0, momentMs - lots.fork("before").whole(0, 1_500))), for: "60s" };
      const nth = lots.fork("nth").whole(1, 4);
      return lots.fork("dies").chance(0.7)
        ? {
            ...window,
            controllerCrashes: {
              controller: lots.fork("all").chance(0.3) ? "all" : "job-controller",
              ...which,
              nth,
              when: lots.fork("when").pick(["before", "after"]),
            },
          }
        : {
            ...window,
            requestFails: {
              components: ["job-controller"],
              ...which,
              nth,
              times: lots.fork("times").whole(1, 4),
              with: lots.fork("with").pick([500, 503, 429]),
            },
          };
    });
  },
};

/** How many pods a Job has at once. */
function podsAtOnce({ manifest }: Subject): number {
  const { parallelism = 1, completions = parallelism } = manifest["spec"] as {
    readonly parallelism?: number;
    readonly completions?: number;
  };
  return Math.min(parallelism, completions);
}

/** What controllers wait for: a time that follows from what an object says. */
interface Wait {
  readonly kind: "CronJob" | "Job";
  readonly shapes: readonly Shape[];
}

function drawWait(draw: Draw): Wait {
  return draw.weighted<Wait>([
    [{ kind: "CronJob", shapes: ["cronJobs", "relativeSchedules"] }, 50],
    [{ kind: "Job", shapes: ["jobs", "failures"] }, 15],
    [{ kind: "Job", shapes: ["jobs", "activeDeadline", "longPods"] }, 10],
    [{ kind: "Job", shapes: ["jobs", "ttl"] }, 35],
  ]);
}

/** A time at which something of that kind is waited for. */
function drawWaiting(draw: Draw, { kind, shapes }: Wait, { subjects }: SituationGround): number | undefined {
  const those = subjects.filter((subject) => subject.kind === kind && subject.isRun !== true);
  const expiring = shapes.includes("ttl") ? those.filter(({ manifest }) => hasTtl(manifest)) : [];
  const candidates = (expiring.length > 0 ? expiring : those).map(({ moments }) => moments.toSorted((a, b) => a - b));
  if (candidates.length === 0) return undefined;
  // Mostly the longest wait of all is for what comes last.
  const longest = Math.max(...candidates.map(lastGapMs));
  const isLast = kind === "Job" && draw.fork("last").chance(0.7);
  const moments = draw
    .fork("subject")
    .pick(isLast ? candidates.filter((each) => lastGapMs(each) === longest) : candidates);
  const index = isLast ? Math.max(0, moments.length - 2) : draw.fork("which").whole(0, moments.length - 1);
  const fromMs = moments[index]!;
  const gapMs = Math.min(300_000, (moments[index + 1] ?? fromMs + 60_000) - fromMs);
  return fromMs + draw.fork("after").whole(0, Math.max(1_000, gapMs));
}

function lastGapMs(moments: readonly number[]): number {
  return moments.at(-1)! - (moments.at(-2) ?? 0);
}

/** A clock is set while a controller waits for a time, or was wrong all along and is right again. */
function steppedClock(draw: Draw): Situation {
  const wait = drawWait(draw.fork("wait"));
  return {
    name: "stepped clock",
    shapes: wait.shapes,
    without: ["quota", "managedBy"],
    draw(lots, ground) {
      const atMs = drawWaiting(lots.fork("moment"), wait, ground);
      if (atMs === undefined) return [];
      const lengthMs = lots.fork("by").weighted([
        [lots.fork("seconds").whole(1, 10) * 1_000, 15],
        [lots.fork("minutes").whole(10, 300) * 1_000, 50],
        [lots.fork("hours").whole(1, 3) * 3_600_000, 35],
      ]);
      const by = `${lots.fork("back").chance(0.65) ? "-" : "+"}${durationText(lengthMs)}`;
      const at = offsetText(atMs);
      return lots.fork("for good").chance(0.6)
        ? [{ at, clockJump: by }]
        : [
            {
              at,
              for: durationText(lots.fork("for").whole(5, 300) * 1_000),
              clockSkew: { controllerManager: `controller-manager-${lots.fork("who").whole(1, ground.replicas)}`, by },
            },
          ];
    },
  };
}

/** Something has a controller look again before the time that it waits for: an edit that changes nothing, or a start anew. */
function wokenEarly(draw: Draw): Situation {
  const wait = drawWait(draw.fork("wait"));
  return {
    name: "woken early",
    shapes: wait.shapes,
    without: ["quota", "managedBy", "suspend"],
    draw(lots, ground) {
      const count = lots.fork("count").whole(1, 4);
      return Array.from({ length: count }, (_, number) => number).flatMap((number): HappeningEntry[] => {
        const one = lots.fork(String(number));
        const atMs = drawWaiting(one, wait, ground);
        if (atMs === undefined) return [];
        const subjects = ground.subjects.filter(({ kind, isRun }) => kind === wait.kind && isRun !== true);
        const annotations = { "example.com/looked-at": String(number) };
        const at = offsetText(atMs);
        return one.fork("starts anew").chance(0.6)
          ? [{ at, for: durationText(one.fork("down").whole(500, 5_000)), controllerDown: "all" }]
          : subjects.map((subject) => ({ at, patch: { ...target(subject), with: { metadata: { annotations } } } }));
      });
    },
  };
}

/** What an owner leaves behind gets another owner, or none, while the garbage collector is about it. */
const movedOwner: Situation = {
  name: "moved owner",
  shapes: ["jobs"],
  without: ["quota", "managedBy", "foreignFinalizers"],
  draw(draw, ground) {
    const job = pickJob(draw, ground);
    if (job === undefined) return [];
    const { namespace } = job;
    const owner: Owner = { apiVersion: "batch/v1", kind: "Job", namespace, name: job.name };
    const heirs = ground.subjects.filter(
      (each) => each.kind === "Job" && each.isRun !== true && each !== job && each.namespace === namespace,
    );
    const heir = heirs.length > 0 && draw.fork("heir").chance(0.5) ? [{ ...owner, name: heirs[0]!.name }] : [];
    // It may keep the former owner beside the other.
    const after = draw.fork("beside").chance(0.3) && heir.length > 0 ? [owner, ...heir] : heir;
    const atMs = draw.fork("at").whole(2_000, 30_000);
    const byMs = draw.fork("by").whole(500, 8_000);
    const movedMs = atMs + draw.fork("moved").whole(0, 3 * byMs);
    return [
      { at: "+0s", apply: configMap(namespace, "left-behind", [owner]) },
      {
        at: offsetText(atMs - draw.fork("before").whole(0, 1_000)),
        for: durationText(byMs * 4),
        apiServerSlow: { by: durationText(byMs), components: ["garbage-collector-controller"] },
      },
      { at: offsetText(atMs), delete: { ...target(job), propagation: draw.fork("propagation").pick(PROPAGATIONS) } },
      { at: offsetText(movedMs), apply: configMap(namespace, "left-behind", after) },
    ];
  },
};

/** A Job and what it owns own each other, and it is deleted: each waits for the other. */
const ownedInCircle: Situation = {
  name: "owned in a circle",
  shapes: ["jobs"],
  without: ["quota", "managedBy", "ownership", "foreignFinalizers"],
  draw(draw, ground) {
    const job = pickJob(draw, ground);
    if (job === undefined) return [];
    const { namespace, manifest } = job;
    const names = Array.from({ length: draw.fork("length").whole(1, 3) }, (_, number) => `circle-${number + 1}`);
    let owner: Owner = { apiVersion: "batch/v1", kind: "Job", namespace, name: job.name };
    const entries: HappeningEntry[] = [];
    for (const name of names) {
      entries.push({ at: "+0s", apply: configMap(namespace, name, [owner]) });
      owner = { apiVersion: "v1", kind: "ConfigMap", namespace, name };
    }
    const metadata = { ...manifest.metadata, ownerReferences: [referenceTo(owner)] };
    return [...entries, { at: "+0s", apply: { ...manifest, metadata } }, ...deletions(draw, job, 1)];
  },
};

/** A Job that somebody holds on to is deleted, and is deleted once more as it does not go. */
const heldDeletions: Situation = {
  name: "held deletions",
  shapes: ["jobs"],
  without: ["quota", "managedBy", "ownership", "foreignFinalizers"],
  draw(draw, ground) {
    const job = pickJob(draw, ground);
    if (job === undefined) return [];
    const metadata = { ...job.manifest.metadata, finalizers: [FOREIGN_FINALIZER] };
    const deleted = deletions(draw, job, draw.fork("count").whole(2, 3));
    const letGoMs = startOfHappening(deleted.at(-1)!) + draw.fork("let go").whole(1_000, 90_000);
    return [
      { at: "+0s", apply: { ...job.manifest, metadata } },
      ...deleted,
      { at: offsetText(letGoMs), patch: { ...target(job), type: "json", with: dropFirstFinalizer() } },
    ];
  },
};

/** A Job is deleted so many times, in one way or the other. */
function deletions(draw: Draw, job: Subject, count: number): HappeningEntry[] {
  let atMs = draw.fork("moment").pick(job.moments) + draw.fork("after").whole(0, 20_000);
  return Array.from({ length: count }, (_, number): HappeningEntry => {
    const lots = draw.fork(`deletion ${number}`);
    if (number > 0) atMs += lots.fork("later").whole(500, 60_000);
    const propagation = lots.fork("propagation").weighted([
      ["Foreground", 60],
      ["Background", 20],
      ["Orphan", 20],
    ] as const);
    return { at: offsetText(atMs), delete: { ...target(job), propagation } };
  });
}

/** A node goes, for good or for a while, with pods that run on it. */
const goneNode: Situation = {
  name: "gone node",
  shapes: ["jobs", "longPods", "podFailurePolicy"],
  without: ["quota", "managedBy", "suspend", "activeDeadline", "nodes", "onFailure"],
  draw(draw, ground) {
    const job = pickJob(draw, ground, rulesOfFailures);
    if (job === undefined) return [];
    const atMs = job.moments[Math.min(1, job.moments.length - 1)]! + draw.fork("after").whole(500, 20_000);
    // Pods go to the first that has room, by name.
    const name = draw.fork("first").chance(0.7) ? "node-1" : `node-${draw.fork("which").whole(1, ground.nodes)}`;
    const at = offsetText(atMs);
    const backMs = atMs + draw.fork("back").pick([500, 5_000, 30_000, 90_000, 90_000, 200_000]);
    const gone: HappeningEntry[] = [
      { at, delete: { kind: "Node", name } },
      { at: offsetText(backMs), apply: node(name) },
    ];
    return draw.fork("way").weighted<HappeningEntry[]>([
      [gone, 50],
      [[{ at, for: durationText(backMs - atMs + 1_000), nodeLost: name }, ...gone], 15],
      [[{ at, for: durationText(backMs - atMs + 1_000), nodeDrained: name }], 10],
      // What looks after nodes may also say that pods have failed whose containers nobody can ask.
      [[{ at, patch: { ...podsOf(job), subresource: "status", with: { status: { phase: "Failed" } } } }], 25],
    ]);
  },
};

function rulesOfFailures({ manifest }: Subject): number {
  const { podFailurePolicy } = manifest["spec"] as {
    readonly podFailurePolicy?: { readonly rules: readonly object[] };
  };
  return podFailurePolicy?.rules.length ?? 0;
}

/** One of them; mostly the first of those of which there is most, where that matters. */
function pickJob(
  draw: Draw,
  { subjects }: SituationGround,
  sizeOf: (job: Subject) => number = () => 0,
): Subject | undefined {
  const jobs = subjects.filter(({ kind, isRun }) => kind === "Job" && isRun !== true);
  if (jobs.length === 0) return undefined;
  const most = Math.max(...jobs.map(sizeOf));
  return draw.fork("job").pick(draw.fork("any").chance(0.3) ? jobs : jobs.filter((job) => sizeOf(job) === most));
}

function deletion({ kind }: Subject): { gracePeriodSeconds: number } | { propagation: "Background" } {
  return kind === "Pod" ? { gracePeriodSeconds: 0 } : { propagation: "Background" };
}

/** So many requests of the Job controller go wrong from then on, and within half a minute. */
function refusals(
  draw: Draw,
  which: { readonly verbs: readonly string[]; readonly resources: readonly string[] },
  atMs: number,
  times: number,
): HappeningEntry {
  const isLost = draw.chance(0.2);
  return {
    at: offsetText(Math.max(0, atMs - 500)),
    for: "30s",
    requestFails: {
      components: ["job-controller"],
      ...which,
      nth: 1,
      times,
      with: isLost ? draw.fork("lost").pick(LOST_ANSWERS) : draw.fork("with").pick([500, 503, 429]),
      ...(isLost ? { effect: "kept" } : {}),
    },
  };
}

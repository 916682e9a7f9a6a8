import type { HappeningEntry } from "../scenario/scenario-file.js";
import type { Draw } from "./draw.js";
import { durationText, offsetText } from "./duration-text.js";
import { LOST_ANSWERS } from "./request-kinds.js";
import { HIDDEN, drawUnseen } from "./unseen.js";
import type { Situation, SituationGround } from "./situation.js";
import { PROPAGATIONS, podsOf, target } from "./user-actions.js";
import type { Subject } from "./workload.js";

/** One of them, each as often as its weight says. */
export function drawSituation(draw: Draw): Situation {
  return draw.weighted<(draw: Draw) => Situation>([
    [unseen, 50],
    [() => quickDeletions, 10],
    [() => refusedMeanwhile, 10],
    [() => slowMeanwhile, 13],
    [() => takenName, 5],
    [() => missedSlots, 7],
    [() => fullQuota, 5],
    [() => lostLease, 10],
    [() => changedEnd, 5],
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
      [0, 60],
      [1, 20],
      [undefined, 20],
    ] as const);
    const entries: HappeningEntry[] = [
      {
        at: offsetText(atMs),
        delete: { ...podsOf(job), ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }) },
      },
      {
        at: offsetText(atMs + draw.fork("then").whole(0, 1_200)),
        delete: { ...target(job), propagation: draw.fork("propagation").pick(PROPAGATIONS) },
      },
    ];
    // What looks at them may also be kept from letting go of them until then, and longer.
    if (draw.fork("held").chance(0.3))
      entries.push(
        refusals(draw.fork("refused"), { verbs: ["patch"], resources: ["pods"] }, atMs, draw.fork("n").whole(1, 4)),
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
    const atMs = draw.fork("moment").pick(job.moments.slice(0, 3)) + draw.fork("after").whole(500, 10_000);
    const [verb, resource] = draw.fork("request").weighted([
      [["delete", "pods"], 50],
      [["create", "pods"], 20],
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

/** A controller is slow about an object which meanwhile makes room for another of its name. */
const slowMeanwhile: Situation = {
  name: "slow meanwhile",
  shapes: ["jobs", "ttl", "ownPods", "overlappingSelectors"],
  without: ["quota", "managedBy", "foreignFinalizers", "failures", "suspend"],
  draw(draw, { subjects }) {
    const expiring = subjects.filter(
      ({ kind, isRun, manifest }) => kind === "Job" && isRun !== true && hasTtl(manifest),
    );
    const pods = subjects.filter(({ kind }) => kind === "Pod");
    const those = draw.fork("kind").chance(0.65) && expiring.length > 0 ? expiring : pods;
    if (those.length === 0) return [];
    const subject = draw.fork("subject").pick(those);
    const byMs = draw.fork("by").whole(1_000, 5_000);
    const isPod = subject.kind === "Pod";
    // A Job's time to live is over last; a pod is looked at as soon as it is there.
    const dueMs = isPod ? draw.fork("moment").pick([0, 0, ...subject.moments]) : subject.moments.at(-1)!;
    const atMs = dueMs + draw.fork("after").whole(100, (isPod ? 1 : 2) * byMs + 2_000);
    const controller = isPod
      ? draw.fork("controller").pick(["job-controller", "job-controller", "pod-garbage-collector-controller"])
      : "ttl-after-finished-controller";
    return [
      {
        at: offsetText(Math.max(0, dueMs - draw.fork("before").whole(0, 1_000))),
        for: durationText(byMs * 3 + 3_000),
        apiServerSlow: { by: durationText(byMs), components: [controller] },
      },
      { at: offsetText(atMs), delete: { ...target(subject), ...deletion(subject) } },
      { at: offsetText(atMs + draw.fork("again").whole(50, 600)), apply: subject.manifest },
    ];
  },
};

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
  without: ["quota", "suspend"],
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

/** A pod that has succeeded is found failed, while its end is recorded and the Job controller has not let go of it. */
const changedEnd: Situation = {
  name: "changed end",
  shapes: ["jobs"],
  without: ["quota", "managedBy", "suspend", "slowPods"],
  draw(draw, ground) {
    const job = pickJob(draw, ground);
    if (job === undefined) return [];
    // Of a Job whose run tells of no end, when it began.
    const ends = job.moments.length > 2 ? job.moments.slice(2) : job.moments.slice(-1);
    if (ends.length === 0) return [];
    const endMs = draw.fork("end").pick([...ends.slice(0, 1), ...ends]);
    return [
      {
        at: "+0s",
        for: durationText(endMs + 30_000),
        requestFails: {
          components: ["job-controller"],
          verbs: ["patch"],
          resources: ["pods"],
          nth: 1,
          times: draw.fork("times").whole(3, 12),
        },
      },
      {
        at: offsetText(endMs + draw.fork("after").whole(1_000, 5_000)),
        patch: { ...podsOf(job), subresource: "status", with: { status: { phase: "Failed" } } },
      },
    ];
  },
};

function pickJob(draw: Draw, { subjects }: SituationGround): Subject | undefined {
  const jobs = subjects.filter(({ kind, isRun }) => kind === "Job" && isRun !== true);
  return jobs.length === 0 ? undefined : draw.fork("job").pick(jobs);
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

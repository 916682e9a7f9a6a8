import { forDelay } from "../faults/draws.js";
import type { EventDefinition, GenerateContext, TimedEvent } from "../faults/event-definition.js";
import { FAULT_KINDS, type FaultKind, type ScenarioEventEntry, definitionOf } from "../faults/registry.js";
import { drawFailure } from "../faults/request-fails.js";
import type { Draw } from "./draw.js";
import { durationText, offsetText } from "./duration-text.js";
import { startOfScenarioEvent } from "./event-times.js";
import { at, during, editsPodStatus, refuses, slow } from "./plan-events.js";
import type { RequestKind } from "./request-kinds.js";
import type { Swarm } from "./swarm.js";
import { drawMoment } from "./user-actions.js";
import type { Subject } from "./workload.js";

/** What faults can refer to. */
export interface FaultContext extends GenerateContext {
  readonly faults: Swarm<FaultKind>;
  readonly subjects: readonly Subject[];
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
  const whole = wholeWindow(context);
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
        const value = drawFailure(fork.fork(`failure ${failure}`), kind, nth, 1);
        entries.push({ ...whole, requestFails: value });
      }
    }
  for (const [kind, generate] of generatorsOf(faults)) {
    const fork = draw.fork(kind);
    const count = fork.fork("count").integer(1, 2);
    for (let number = 0; number < count; number++) {
      const one = fork.fork(String(number));
      const atMs = drawMoment(one.fork("at"), momentsOf(context), context.windowMs);
      entries.push(...eventsAt(generate(one.fork("what"), context), atMs));
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
    const ways = FAULT_KINDS.filter((way) => faults.has(way) && definitionOf(way)?.generateAtRequest !== undefined);
    if (ways.length > 0 && fork.fork("at a write").chance(0.75)) {
      const way = fork.fork("way").pick(ways);
      entries.push({ ...wholeWindow(context), [way]: definitionOf(way)?.generateAtRequest?.(fork, kind, nth) });
      continue;
    }
    const others = generatorsOf(faults);
    if (others.length === 0) continue;
    const [, generate] = fork.fork("other").pick(others);
    const atMs = drawMoment(fork.fork("at"), momentsOf(context), windowMs);
    entries.push(...eventsAt(generate(fork.fork("what"), context), atMs));
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
  const fromMs = atMs - draw.fork("before").integer(0, 1_000);
  return draw.fork("way").pick(ways) === "staleCache"
    ? [at(fromMs, { ...forDelay(draw), staleCache: { kind, controller } })]
    : [
        during(
          fromMs,
          draw.fork("slow for").integer(1_000, 30_000),
          slow(controller, draw.fork("by").integer(200, 3_000)),
        ),
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
  const refused = refuses("job-controller", "patch", "pods", { nth: 1, times: draw.fork("times").integer(1, 4) });
  return [
    during(0, end + 30_000, refused),
    at(end + draw.fork("after").integer(1_000, 4_000), editsPodStatus(job, { phase: "Failed" })),
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

/** Returns the times of a fault at a certain request. */
function wholeWindow({ windowMs }: FaultContext): { readonly at: string; readonly for: string } {
  return { at: "+0s", for: durationText(windowMs) };
}

/** Returns the generators of the faults at no certain request. */
function generatorsOf(faults: Swarm<FaultKind>): (readonly [FaultKind, Generate])[] {
  return FAULT_KINDS.flatMap((kind) => {
    const { generate } = definitionOf(kind) ?? {};
    return generate === undefined || !faults.has(kind) ? [] : [[kind, generate] as const];
  });
}

type Generate = NonNullable<EventDefinition<unknown>["generate"]>;

/** Returns the events of a fault at a time. The kinds and the values belong together by construction. */
export function eventsAt(timed: readonly TimedEvent[], atMs: number): ScenarioEventEntry[] {
  return timed.map(({ afterMs = 0, ...what }) => ({ at: offsetText(atMs + afterMs), ...what }));
}

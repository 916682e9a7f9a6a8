import { type Random, SimulatedClock, StuckError, seededRandom, silentLogger } from "@kubewright/clock";
import { type ControllerName, type FaultyClusterOptions, createFaultyCluster } from "@kubewright/cluster";

import { checkPlan } from "./check-plan.js";
import { createObjects, isPrerequisite } from "./create-objects.js";
import type { FaultPlan } from "./fault-plan.js";
import { definitionOf } from "./faults/registry.js";
import type { Invariant, InvariantViolation } from "./invariant.js";
import { Observer, type RunRecord } from "./observer.js";
import type { Outcome } from "./outcome.js";
import { type SimulatedController, toOtherController } from "./simulated-controller.js";
import { nodeShapes } from "./scenario/check-scenario.js";
import { clockSettings, clusterSettings } from "./scenario/cluster-settings.js";
import { ScenarioEventRunner } from "./scenario/scenario-event-runner.js";
import { type ScenarioEvent, scenarioEventsOf } from "./scenario/scenario-event.js";
import { durationOf, timeOf } from "./scenario/scenario-times.js";
import { withWorkloads } from "./scenario/workload-annotations.js";
import { settledObjects } from "./settled.js";

export interface RunPlanOptions {
  /** Invariants to check. Default: none. */
  readonly invariants?: readonly Invariant[];
  /** Controllers that are not part of Kubernetes, by the name that plans use. */
  readonly controllers?: Readonly<Record<string, SimulatedController>> | undefined;
  /** Kubernetes' controllers to run. Default: all. */
  readonly builtIn?: readonly ControllerName[] | undefined;
  /** Whether to stop soon after the first violation. Default: false. */
  readonly stopAtFirstViolation?: boolean;
  /** Called with every record, synchronously. */
  readonly onRecord?: (record: RunRecord) => void;
  /** Whether to deep-freeze everything stored, to find controllers that modify shared objects. Default: false. */
  readonly freeze?: boolean;
  readonly signal?: AbortSignal;
}

/** Interval between ticks; in plans of many hours a fraction of the duration, one of `TICKS`. */
const TICK_MS = 5_000;
const TICKS = 4_000;
/** More than any burst of work needs. */
const MAX_CALLS_PER_INSTANT = 30_000;
/** The minimum watch timeout of Kubernetes. */
const SHORTEST_WATCH_MS = 300_000;
/** Violated when virtual time does not advance. */
const LIVELOCK = "L7 no livelock";

/**
 * Runs a plan from its start to its end on a new cluster, in virtual time. Equal plans with equal controllers have
 * equal outcomes.
 *
 * @throws PlanError for a plan that cannot be run: the API server refuses an object, or a controller is unknown.
 * @throws The error of an invariant's check or of `onRecord`.
 */
export async function runPlan(plan: FaultPlan, options: RunPlanOptions = {}): Promise<Outcome> {
  const { signal, stopAtFirstViolation = false } = options;
  checkPlan(plan, Object.keys(options.controllers ?? {}));
  const startMs = timeOf(plan.start);
  const durationMs = durationOf(plan.for);
  const random = seededRandom(plan.seed);
  const clock = new SimulatedClock(startMs, {
    maxCallsPerInstant: MAX_CALLS_PER_INSTANT,
    ...clockSettings(plan, random),
  });
  const entries = plan.events ?? [];
  const workloads = plan.workloads ?? [];
  const events = scenarioEventsOf(entries, {
    startMs,
    objectsOf: (index) => {
      const applied = entries[index]?.apply;
      return applied === undefined || typeof applied === "string"
        ? []
        : withWorkloads([{ object: applied }], workloads);
    },
    placeOf: (index) => `events[${index}]`,
  });
  const observer = new Observer({
    plan,
    clock,
    healedMs: healedMs(events, startMs + durationMs),
    invariants: options.invariants ?? [],
    onRecord: options.onRecord,
  });
  const cluster = createFaultyCluster(clusterOptions(plan, options, { clock, random, observer }));
  observer.observe(cluster);
  const stop = new AbortController();
  let failure: { readonly error: unknown } | undefined;
  let isStuck = false;
  const manifests = withWorkloads(
    plan.manifests.map((object) => ({ object })),
    workloads,
  ).map(({ object }) => object);
  const user = cluster.client("user");
  // Prerequisites exist before any component starts.
  await drive(clock, createObjects(user, manifests.filter(isPrerequisite), clock));
  await clock.advance(0);
  const running = cluster.run(stop.signal).catch((error: unknown) => (failure = { error }));
  try {
    await drive(clock, cluster.ready(stop.signal));
    const eventRunner = new ScenarioEventRunner({
      cluster,
      clock,
      onNote: ({ message }) => observer.note(message),
      onPhase: (index, kind, phase) => observer.scenarioEvent({ index, kind, phase }),
      // The runner has reported it as a note.
      onProblem: () => {},
      signal: stop.signal,
    });
    eventRunner.begin(events);
    const rest = manifests.filter((object) => !isPrerequisite(object));
    await drive(clock, createObjects(user, rest, clock));
    eventRunner.schedule(events);
    const endMs = durationMs;
    const tickMs = Math.max(TICK_MS, Math.ceil(durationMs / TICKS));
    while (clock.monotonic() < endMs) {
      await clock.advance(Math.min(tickMs, endMs - clock.monotonic()));
      if (clock.isStuck || failure !== undefined || signal?.aborted === true) break;
      observer.tick();
      if (observer.failure !== undefined) break;
      if (stopAtFirstViolation && observer.violations.length > 0) break;
    }
  } catch (error) {
    if (!(error instanceof StuckError)) throw error;
  } finally {
    isStuck = clock.isStuck;
    if (!isStuck) {
      if (failure !== undefined) observer.failed(failure.error);
      else if (clock.monotonic() >= durationMs) observer.rest();
    }
    observer.close();
    clock.clearStuck();
    stop.abort();
  }
  const violations = isStuck ? [...observer.violations, stuck(clock.now(), plan)] : observer.violations;
  const outcome = {
    violations,
    covered: observer.covered,
    hash: observer.hash,
    settled: settledObjects(observer.mirror),
    figures: observer.figures,
  };
  const hasEnded = await stopsOnAbort(clock, running);
  if (observer.failure !== undefined) throw observer.failure.error;
  return hasEnded ? outcome : { ...outcome, violations: [...violations, notStopped(clock.now(), plan)] };
}

function clusterOptions(
  plan: FaultPlan,
  { controllers = {}, builtIn, freeze = false }: RunPlanOptions,
  { clock, random, observer }: { readonly clock: SimulatedClock; readonly random: Random; readonly observer: Observer },
): FaultyClusterOptions {
  const { nodes, timeZone, controllerManagers } = plan;
  const others = Object.entries(controllers).map(([name, controller]) => [name, toOtherController(controller)]);
  const kinds = kindsOf(plan);
  const silences = (plan.events ?? []).some(({ watchSilent }) => watchSilent !== undefined);
  const applies = (plan.events ?? []).some(({ apply }) => apply !== undefined);
  return {
    clock,
    random,
    freeze,
    // Controller errors are reported as thrown, without the log.
    logger: silentLogger,
    // Only server-side apply uses managedFields.
    trackFields: applies || others.length > 0,
    ...(builtIn === undefined ? {} : { controllers: builtIn }),
    // Without silent watches, no watch has to time out.
    ...(silences ? { watchTimeoutMs: SHORTEST_WATCH_MS } : {}),
    ...(nodes === undefined ? {} : { nodes: nodeShapes(nodes) }),
    localTimeZone: timeZone ?? "UTC",
    replicas: controllerManagers ?? 1,
    ...clusterSettings(plan, random),
    // Events are not needed here, and are a fifth of all requests.
    recordsEvents: false,
    ...(others.length > 0 ? {} : { garbageCollectorIgnores: ({ kind }) => !kinds.has(kind) }),
    others: Object.fromEntries(others) as NonNullable<FaultyClusterOptions["others"]>,
    onDecision: (decision, sender) => observer.decision(decision, sender),
    onInformer: (informer, definition, sender) => observer.caches.add(informer, definition, sender),
    onFailure: (error, sender) => observer.thrown(error, sender.component),
  };
}

/** Returns the kinds that may have owners or dependents: watching every kind would take longer than most runs. */
function kindsOf({ manifests, events = [] }: FaultPlan): ReadonlySet<string> {
  const kinds = new Set(["CronJob", "Job", "Node", "Pod"]);
  for (const { kind } of manifests) if (kind !== undefined) kinds.add(kind);
  for (const { apply } of events) if (typeof apply === "object" && apply.kind !== undefined) kinds.add(apply.kind);
  return kinds;
}

/** Returns when all faults are over. */
function healedMs(events: readonly ScenarioEvent[], endMs: number): number {
  let latestMs = 0;
  for (const { kind, value, atMs, untilMs, overMs } of events) {
    const lasts = definitionOf(kind).lasts === "untilTheEnd";
    const restartMs = kind === "controllerCrashes" ? durationOf(value.restartAfter ?? "1s") : 0;
    latestMs = Math.max(latestMs, (untilMs ?? overMs ?? (lasts ? endMs : atMs)) + restartMs);
  }
  return latestMs;
}

function stuck(atMs: number, plan: FaultPlan): InvariantViolation {
  const message = `virtual time does not advance: more than ${MAX_CALLS_PER_INSTANT} calls of the clock at one instant`;
  return { invariant: LIVELOCK, subject: plan.name ?? `seed ${plan.seed}`, message, atMs };
}

function notStopped(atMs: number, plan: FaultPlan): InvariantViolation {
  const message = "does not stop when it is aborted: it waits for something that never happens";
  return { invariant: LIVELOCK, subject: plan.name ?? `seed ${plan.seed}`, message, atMs };
}

/** More turns than a stopping cluster needs once no timer is left. */
const IDLE_TURNS = 1_000;

/** Reports whether an aborted cluster stops, while timers remain that it may wait for. */
async function stopsOnAbort(clock: SimulatedClock, running: Promise<unknown>): Promise<boolean> {
  let hasEnded = false;
  void running.then(() => (hasEnded = true));
  let idle = 0;
  for (await clock.settle(); !hasEnded && idle < IDLE_TURNS && !clock.isStuck; await clock.settle()) {
    const waitMs = clock.nextTimerInMs;
    if (waitMs === undefined) idle++;
    else await clock.advance(waitMs);
  }
  return hasEnded;
}

/** Awaits work on the cluster without advancing virtual time, except to timers that the work waits for. */
async function drive<T>(clock: SimulatedClock, work: Promise<T>): Promise<T> {
  let settled = false;
  const watched = work.finally(() => (settled = true));
  watched.catch(() => {});
  for (await clock.settle(); !settled; await clock.settle()) {
    const waitMs = clock.nextTimerInMs;
    if (waitMs === undefined || clock.isStuck) break;
    await clock.advance(waitMs);
  }
  return watched;
}

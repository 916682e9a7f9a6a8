import { type KubernetesVersion, NEWEST_VERSION } from "@kubewright/api";
import { SimulatedClock, seededRandom, silentLogger } from "@kubewright/clock";
import { type ClusterOptions, createCluster, createFaultyCluster, defaultNodes } from "@kubewright/cluster";
import type { InformerFactory } from "@kubewright/informer";
import { ScenarioEventRunner, clockSettings, clusterSettings } from "@kubewright/simulation";

import { isoTime } from "../time/iso-time.js";
import { type CreateOptions, type CreateOutcome, createManifests } from "../input/create-manifests.js";
import { type LiveState, isLive } from "../input/live-state.js";
import type { Manifest } from "../input/manifest.js";
import { startFlag } from "../input/run-start.js";
import { versionName } from "../input/kubernetes-version.js";
import { Recorder } from "./recorder.js";
import type { Scenario } from "../scenario/scenario.js";
import type { TraceHeader, TraceRecord } from "./trace.js";
import { UserError } from "../errors/user-error.js";

export interface SimulationOptions extends Pick<CreateOptions, "validate" | "strict"> {
  readonly manifests: readonly Manifest[];
  readonly startMs: number;
  readonly durationMs: number;
  readonly seed: number;
  /** Name of the segment that is simulated. Each name has its own random source. Default: the whole input. */
  readonly segment?: string;
  /** Release of Kubernetes to simulate. Default: the newest. */
  readonly kubernetesVersion?: KubernetesVersion;
  readonly timeZoneData: string;
  /**
   * Called with every record when it occurs. The simulation regularly awaits it, so that a slow writer slows the
   * simulation.
   */
  readonly emit: (record: TraceRecord) => void;
  /** Called once before the cluster runs, to add handlers to its informers. */
  readonly follow?: (informers: InformerFactory) => void;
  /**
   * Called with the outcome of the manifests' creation, before time passes. Default: a refused manifest ends the
   * simulation.
   */
  readonly onCreated?: (outcome: CreateOutcome) => void;
  /** Called between slices of virtual time, and awaited. */
  readonly onProgress?: (elapsedMs: number) => Promise<void> | void;
  /**
   * Whether everything except Jobs and Pods is created a second before the start, so that a slot at the start is a run.
   * Default: true, unless there is live state.
   */
  readonly createsBeforeStart?: boolean;
  /** Stops the simulation early. */
  readonly signal?: AbortSignal;
  readonly nodes?: ClusterOptions["nodes"];
  /** Time zone of CronJobs without `timeZone`. Default: the scenario's, or UTC. */
  readonly localTimeZone?: string;
  /**
   * State to start the cluster from. It contains the live objects among the manifests, which are therefore not created.
   */
  readonly live?: LiveState;
  /**
   * Events and settings of a scenario. If it needs them, the cluster has components that can fail individually, which
   * takes more time.
   */
  readonly scenario?: Pick<Scenario, "events" | "controllerManagers" | "controllers" | "jitter" | "timeZone" | "nodes">;
  /** Called with events that were refused. Default: ignored. */
  readonly onProblem?: (message: string) => void;
  /** Deep-freezes everything stored, to find components that write to shared objects. For tests. */
  readonly freeze?: boolean;
}

/**
 * Simulates manifests on an embedded cluster in virtual time.
 *
 * The window has its start and excludes its end. Jobs and Pods are created at its start.
 *
 * Equal options and equal time-zone data give equal records in equal order.
 *
 * @throws UserError when the API server refuses a manifest and `onCreated` is absent.
 */
export async function simulate(options: SimulationOptions): Promise<void> {
  const { startMs, durationMs, seed, emit, signal } = options;
  const { scenario } = options;
  const random =
    options.segment === undefined ? seededRandom(seed) : seededRandom(seed).fork(`part/${options.segment}`);
  const { live, localTimeZone = scenario?.timeZone ?? "UTC", createsBeforeStart = live === undefined } = options;
  const creationMs = createsBeforeStart ? secondBefore(startMs) : startMs;
  const clock = new SimulatedClock(
    creationMs,
    scenario === undefined ? {} : clockSettings(settingsOf(scenario), random),
  );
  const recorder = new Recorder({ clock, emit });
  const { kubernetesVersion = NEWEST_VERSION } = options;
  const shapes = scenario?.nodes ?? options.nodes;
  const nodes = live === undefined ? shapes : [...(shapes ?? defaultNodes), ...live.nodes];
  const clusterOptions: ClusterOptions = {
    clock,
    random,
    kubernetesVersion,
    // Controllers that fail and retry are part of the simulation. Decisions and events report them.
    logger: silentLogger,
    onDecision: (decision) => recorder.decision(decision),
    freeze: options.freeze ?? false,
    // No trace record contains managedFields, and no other client reads them.
    trackFields: false,
    ...(nodes === undefined ? {} : { nodes }),
    // The source cluster has already reported earlier slots.
    ...(live === undefined ? {} : { restore: live.snapshot, missedSince: startMs }),
    localTimeZone,
  };
  const faulty =
    scenario !== undefined && isFaulty(scenario)
      ? createFaultyCluster({
          ...clusterOptions,
          ...clusterSettings(settingsOf(scenario), random),
          trackFields: true,
          replicas: scenario.controllerManagers,
        })
      : undefined;
  // Watches that no fault interrupts need neither a bookmark each minute nor a long history.
  const cluster = faulty ?? createCluster({ ...clusterOptions, bookmarkIntervalMs: SLICE_MS, historyLimit: 64 });
  recorder.follow(cluster.informers);
  options.follow?.(cluster.informers);
  emit(traceHeader({ ...options, localTimeZone }));

  const stop = new AbortController();
  let failure: { error: unknown } | undefined;
  let elapsedMs = 0;
  const running = cluster.run(stop.signal).catch((error: unknown) => (failure = { error }));
  try {
    await driveClock(clock, cluster.ready(stop.signal));
    const { onProblem = () => {} } = options;
    const scenarioEvents = scenario?.events ?? [];
    const eventRunner =
      faulty === undefined
        ? undefined
        : new ScenarioEventRunner({
            cluster: faulty,
            clock,
            startMs,
            onNote: (note) => emit({ type: "scenarioEvent", ...note }),
            onProblem,
            signal: stop.signal,
          });
    (options.onCreated ?? throwProblems)(
      await driveClock(
        clock,
        createManifests(
          cluster.client("kubewright"),
          live === undefined ? options.manifests : options.manifests.filter(({ object }) => !isLive(object)),
          {
            ...options,
            clock,
            beforeJobs: async () => {
              await clock.sleep(startMs - clock.now());
              eventRunner?.begin(scenarioEvents);
            },
          },
        ),
      ),
    );
    eventRunner?.schedule(scenarioEvents);
    while (elapsedMs < durationMs && failure === undefined && !signal?.aborted) {
      elapsedMs = Math.min(elapsedMs + SLICE_MS, durationMs);
      const untilMs = startMs + elapsedMs - (elapsedMs === durationMs ? 1 : 0);
      // Delayed requests may have created the objects after the start.
      await clock.advance(Math.max(0, untilMs - clock.now()));
      await options.onProgress?.(elapsedMs);
    }
  } finally {
    stop.abort();
    await driveClock(clock, running);
  }
  if (failure !== undefined) throw failure.error;
  emit({ type: "end", at: isoTime(startMs + elapsedMs) });
}

/** Returns the last whole second before a time. Objects have creation times in whole seconds. */
function secondBefore(timeMs: number): number {
  return Math.ceil(timeMs / 1000) * 1000 - 1000;
}

/** Returns the first record of a trace. */
export function traceHeader({
  startMs,
  durationMs,
  seed,
  timeZoneData,
  kubernetesVersion = NEWEST_VERSION,
  scenario,
  localTimeZone = scenario?.timeZone ?? "UTC",
}: Pick<
  SimulationOptions,
  "startMs" | "durationMs" | "seed" | "timeZoneData" | "kubernetesVersion" | "scenario" | "localTimeZone"
>): TraceHeader {
  return {
    type: "header",
    traceVersion: 1,
    kubernetes: `v${versionName(kubernetesVersion)}`,
    seed,
    start: isoTime(startMs),
    repeat: startFlag(startMs),
    end: isoTime(startMs + durationMs),
    timeZoneData,
    ...(localTimeZone === "UTC" ? {} : { localTimeZone }),
  };
}

type SimulatedScenario = NonNullable<SimulationOptions["scenario"]>;

/** Returns whether the scenario needs a faulty cluster. */
function isFaulty({ events: scenarioEvents, controllerManagers, controllers, jitter }: SimulatedScenario): boolean {
  return scenarioEvents.length > 0 || controllerManagers > 1 || controllers !== undefined || jitter !== undefined;
}

function settingsOf({ controllers, jitter }: SimulatedScenario): Parameters<typeof clusterSettings>[0] {
  return { ...(controllers === undefined ? {} : { controllers }), ...(jitter === undefined ? {} : { jitter }) };
}

function throwProblems({ problems }: CreateOutcome): void {
  if (problems.length > 0) throw new UserError(problems.map(({ message }) => message).join("\n"));
}

/** Virtual time between two calls of `onProgress`. */
export const SLICE_MS = 3_600_000;

/**
 * Awaits work on the cluster while virtual time is paused. Advances time only when the work itself waits for a timer.
 */
async function driveClock<T>(clock: SimulatedClock, work: Promise<T>): Promise<T> {
  let settled = false;
  const tracked = work.finally(() => (settled = true));
  tracked.catch(() => {});
  for (await clock.settle(); !settled; await clock.settle()) {
    const waitMs = clock.nextTimerInMs;
    if (waitMs === undefined) break;
    await clock.advance(waitMs);
  }
  return tracked;
}

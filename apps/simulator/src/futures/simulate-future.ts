import { NodePools } from "../node-pools.js";
import { type PlainSimulation, plainSimulation, simulationOf } from "../plain-simulation.js";
import type { RunInput } from "../run-input.js";
import type { Selection } from "../selection.js";
import { type SimulationOptions, simulate } from "../simulation.js";
import { Timeline } from "../timeline/timeline.js";
import { type CurvePlan, type FutureCurves, LoadCurveFollower } from "./load-curve.js";
import type { Incident } from "./incident.js";
import { type GroupFuture, IncidentCounter } from "./incident-counter.js";
import type { NodeSize } from "./node-size.js";
import { type NodesNeeded, NodesNeededFollower } from "./nodes-needed.js";
import { type Peaks, PodPeaks } from "./pod-peaks.js";
import { RefusalFollower, type Refusals } from "./refusals.js";

/** What every future of a set has in common. Plain data, so that it can be handed to another thread. */
export interface FuturePlan extends PlainSimulation {
  /** What to count. */
  readonly incidents: readonly Incident[];
  /** Whose pods at once to tell. */
  readonly selections: readonly Selection[];
  /** Of which nodes to tell how many it takes. */
  readonly nodeSizes: readonly NodeSize[];
  /** Of which steps of time to tell how much there was at once. Absent: of none. */
  readonly curves?: CurvePlan;
}

/** What is to be played again and again. */
export function futurePlan(
  input: RunInput,
  {
    timeZoneData,
    incidents,
    selections,
    nodeSizes,
    curves,
  }: Pick<FuturePlan, "timeZoneData" | "incidents" | "selections" | "nodeSizes" | "curves">,
): FuturePlan {
  return {
    ...plainSimulation({ ...input, timeZoneData }),
    incidents,
    selections,
    nodeSizes,
    ...(curves === undefined ? {} : { curves }),
  };
}

/** What one seed made of it. Plain data. */
export interface FutureSummary {
  readonly seed: number;
  readonly groups: readonly GroupFuture[];
  readonly peaks: Peaks;
  readonly refusals: Refusals;
  /** Of each size that was asked for. */
  readonly nodesNeeded: readonly NodesNeeded[];
  /** Where they were asked for. */
  readonly curves?: FutureCurves;
}

/** The simulation of one seed. Manifests that the API server refuses are left out. */
export function futureSimulation(plan: FuturePlan, seed: number): Omit<SimulationOptions, "emit"> {
  return { ...simulationOf(plan), seed };
}

/**
 * Plays one future and counts what goes wrong in it.
 *
 * @param signal - Ends it early: what is told then is not worth anything.
 */
export async function simulateFuture(
  plan: FuturePlan,
  seed: number,
  onProgress?: (share: number) => void,
  signal?: AbortSignal,
): Promise<FutureSummary> {
  const { incidents, selections, nodeSizes, startMs, durationMs } = plan;
  const counter = new IncidentCounter(incidents);
  const timeline = new Timeline({ maxRows: 0, maxPods: 0, listener: counter });
  const pods = new PodPeaks(selections, new NodePools(plan));
  const refusals = new RefusalFollower();
  const followers = nodeSizes.map((size) => new NodesNeededFollower(size));
  const curves = plan.curves === undefined ? undefined : new LoadCurveFollower(plan.curves);
  await simulate({
    ...futureSimulation(plan, seed),
    ...(signal === undefined ? {} : { signal }),
    emit: (record) => {
      timeline.add(record);
      pods.add(record);
      refusals.add(record);
      for (const follower of followers) follower.add(record);
      curves?.add(record);
    },
    ...(onProgress === undefined ? {} : { onProgress: throttled(durationMs, onProgress) }),
  });
  return {
    seed,
    groups: counter.groups(startMs + durationMs),
    peaks: pods.peaks,
    refusals: refusals.refusals,
    nodesNeeded: followers.map(({ needed }) => needed),
    ...(curves === undefined ? {} : { curves: curves.curves(startMs + durationMs) }),
  };
}

const STEPS = 100;

/** However long it is, it tells of so many steps at most. */
function throttled(durationMs: number, onProgress: (share: number) => void): (elapsedMs: number) => void {
  let lastStep = 0;
  return (elapsedMs) => {
    const step = Math.floor((elapsedMs / durationMs) * STEPS);
    if (step === lastStep) return;
    lastStep = step;
    onProgress(elapsedMs / durationMs);
  };
}

import { NodePools } from "../resources/node-pools.js";
import { type PlainSimulation, plainSimulation, simulationOf } from "../run/plain-simulation.js";
import type { RunInput } from "../input/run-input.js";
import type { Selection } from "../input/selection.js";
import { type SimulationOptions, simulate } from "../run/simulation.js";
import { Timeline } from "../timeline/timeline.js";
import { type CurvePlan, type FutureCurves, LoadCurveFollower } from "./load-curve.js";
import type { Incident } from "./incident.js";
import { type GroupFuture, IncidentCounter } from "./incident-counter.js";
import type { NodeSize } from "./node-size.js";
import { type NodesNeeded, NodesNeededFollower } from "./nodes-needed.js";
import { type Peaks, PodPeaks } from "./pod-peaks.js";
import { RefusalFollower, type Refusals } from "./refusals.js";

/** The common input of all seeds. Plain data, so that it can be sent to another thread. */
export interface FuturePlan extends PlainSimulation {
  /** Incidents to count. */
  readonly incidents: readonly Incident[];
  /** Selections whose concurrent pods are counted. */
  readonly selections: readonly Selection[];
  /** Sizes for which the number of needed nodes is computed. */
  readonly nodeSizes: readonly NodeSize[];
  /** Time steps and groups of the load curves. Absent: no curves. */
  readonly curves?: CurvePlan;
}

/** Builds the common input of all seeds. */
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

/** The results of one seed. Plain data. */
export interface FutureSummary {
  readonly seed: number;
  readonly groups: readonly GroupFuture[];
  readonly peaks: Peaks;
  readonly refusals: Refusals;
  /** One entry for each requested size. */
  readonly nodesNeeded: readonly NodesNeeded[];
  /** Absent when no curves were requested. */
  readonly curves?: FutureCurves;
}

/** Returns the simulation of one seed. Manifests that the API server refuses are omitted. */
export function futureSimulation(plan: FuturePlan, seed: number): Omit<SimulationOptions, "emit"> {
  return { ...simulationOf(plan), seed };
}

/**
 * Simulates one seed and counts its incidents.
 *
 * @param signal - Stops the simulation early: the result must then be discarded.
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

/** Limits the number of progress reports to {@link STEPS}, for any duration. */
function throttled(durationMs: number, onProgress: (share: number) => void): (elapsedMs: number) => void {
  let lastStep = 0;
  return (elapsedMs) => {
    const step = Math.floor((elapsedMs / durationMs) * STEPS);
    if (step === lastStep) return;
    lastStep = step;
    onProgress(elapsedMs / durationMs);
  };
}

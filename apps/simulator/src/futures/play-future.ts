import { type Manifest, manifestAt } from "../input/manifest.js";
import { NodePools } from "../node-pools.js";
import type { RunInput } from "../run-input.js";
import type { Happening, Scenario } from "../scenario/scenario.js";
import type { Selection } from "../selection.js";
import { type SimulationOptions, simulate } from "../simulation.js";
import { Timeline } from "../timeline/timeline.js";
import type { Mishap } from "./mishap.js";
import { type GroupFuture, MishapCounter } from "./mishap-counter.js";
import type { NodeSize } from "./node-size.js";
import { type NodesNeeded, NodesNeededFollower } from "./nodes-needed.js";
import { type Peaks, PodPeaks } from "./pod-peaks.js";
import { RefusalFollower, type Refusals } from "./refusals.js";

/** What every future of a set has in common. Plain data, so that it can be handed to another thread. */
export interface FuturePlan extends Pick<
  SimulationOptions,
  | "startMs"
  | "durationMs"
  | "kubernetesVersion"
  | "timeZoneData"
  | "nodes"
  | "localTimeZone"
  | "live"
  | "validate"
  | "strict"
> {
  readonly manifests: readonly PlainManifest[];
  readonly scenario?: Omit<NonNullable<SimulationOptions["scenario"]>, "happenings"> & {
    readonly happenings: readonly PlainHappening[];
  };
  /** What to count. */
  readonly mishaps: readonly Mishap[];
  /** Whose pods at once to tell. */
  readonly selections: readonly Selection[];
  /** Of which nodes to tell how many it takes. */
  readonly nodeSizes: readonly NodeSize[];
}

type PlainManifest = Pick<Manifest, "object" | "source">;
type PlainHappening = Omit<Happening, "objects"> & { readonly objects: readonly PlainManifest[] };

/** What is to be played again and again. */
export function futurePlan(
  input: RunInput,
  {
    timeZoneData,
    mishaps,
    selections,
    nodeSizes,
  }: Pick<FuturePlan, "timeZoneData" | "mishaps" | "selections" | "nodeSizes">,
): FuturePlan {
  const { startMs, durationMs, kubernetesVersion, nodes, localTimeZone, live, validate, strict, scenario } = input;
  return {
    startMs,
    durationMs,
    kubernetesVersion,
    timeZoneData,
    validate,
    strict,
    mishaps,
    selections,
    nodeSizes,
    manifests: input.manifests.map(plain),
    ...(nodes === undefined ? {} : { nodes }),
    ...(localTimeZone === undefined ? {} : { localTimeZone }),
    ...(live === undefined ? {} : { live }),
    ...(scenario === undefined ? {} : { scenario: plainScenario(scenario) }),
  };
}

function plain({ object, source }: PlainManifest): PlainManifest {
  return { object, source };
}

function plainScenario({ happenings, controllerManagers, timeZone, nodes }: Scenario): FuturePlan["scenario"] & object {
  return {
    controllerManagers,
    timeZone,
    nodes,
    happenings: happenings.map((happening) => ({ ...happening, objects: happening.objects.map(plain) })),
  };
}

function manifestOf({ object, source }: PlainManifest): Manifest {
  return manifestAt(object, source);
}

/** What one seed made of it. Plain data. */
export interface FutureSummary {
  readonly seed: number;
  readonly groups: readonly GroupFuture[];
  readonly peaks: Peaks;
  readonly refusals: Refusals;
  /** Of each size that was asked for. */
  readonly nodesNeeded: readonly NodesNeeded[];
}

/** Plays one future and counts what goes wrong in it. Manifests that the API server refuses are left out. */
export async function playFuture(plan: FuturePlan, seed: number): Promise<FutureSummary> {
  const { mishaps, selections, nodeSizes, manifests, scenario, ...options } = plan;
  const counter = new MishapCounter(mishaps);
  const timeline = new Timeline({ maxRows: 0, maxPods: 0, listener: counter });
  const pods = new PodPeaks(selections, new NodePools(plan));
  const refusals = new RefusalFollower();
  const followers = nodeSizes.map((size) => new NodesNeededFollower(size));
  await simulate({
    ...options,
    manifests: manifests.map(manifestOf),
    ...(scenario === undefined ? {} : { scenario: { ...scenario, happenings: scenario.happenings.map(happeningOf) } }),
    seed,
    emit: (record) => {
      timeline.add(record);
      pods.add(record);
      refusals.add(record);
      for (const follower of followers) follower.add(record);
    },
    onCreated: () => {},
  });
  return {
    seed,
    groups: counter.groups(plan.startMs + plan.durationMs),
    peaks: pods.peaks,
    refusals: refusals.refusals,
    nodesNeeded: followers.map(({ needed }) => needed),
  };
}

function happeningOf({ objects, ...happening }: PlainHappening): Happening {
  return { ...happening, objects: objects.map(manifestOf) } as Happening;
}

import { type Manifest, manifestAt } from "../input/manifest.js";
import type { ScenarioEvent, Scenario } from "../scenario/scenario.js";
import type { SimulationOptions } from "./simulation.js";

/** The input of a simulation without the seed. Plain data, so that it can be sent to another thread. */
export interface PlainSimulation extends Pick<
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
  | "createsBeforeStart"
> {
  readonly manifests: readonly PlainManifest[];
  readonly scenario?: Omit<NonNullable<SimulationOptions["scenario"]>, "events"> & {
    readonly scenarioEvents: readonly PlainScenarioEvent[];
  };
}

type PlainManifest = Pick<Manifest, "object" | "source">;
type PlainScenarioEvent = Omit<ScenarioEvent, "objects"> & { readonly objects: readonly PlainManifest[] };

type SimulationInput = Omit<PlainSimulation, "manifests" | "scenario"> & {
  readonly manifests: readonly Manifest[];
  readonly scenario?: SimulatedScenario;
};

type SimulatedScenario = Pick<
  Scenario,
  "controllerManagers" | "controllers" | "jitter" | "timeZone" | "nodes" | "events"
>;

/** Removes everything that is not plain data: the places of fields in the text. */
export function plainSimulation(input: SimulationInput): PlainSimulation {
  const { startMs, durationMs, kubernetesVersion, timeZoneData, validate, strict, manifests } = input;
  const { nodes, localTimeZone, live, scenario, createsBeforeStart } = input;
  return {
    startMs,
    durationMs,
    timeZoneData,
    ...(kubernetesVersion === undefined ? {} : { kubernetesVersion }),
    ...(validate === undefined ? {} : { validate }),
    ...(strict === undefined ? {} : { strict }),
    manifests: manifests.map(plainManifest),
    ...(nodes === undefined ? {} : { nodes }),
    ...(localTimeZone === undefined ? {} : { localTimeZone }),
    ...(live === undefined ? {} : { live }),
    ...(createsBeforeStart === undefined ? {} : { createsBeforeStart }),
    ...(scenario === undefined ? {} : { scenario: plainScenario(scenario) }),
  };
}

/** Converts it back into simulation options, without the seed. Manifests that the API server refuses are omitted. */
export function simulationOf({
  manifests,
  scenario,
  ...options
}: PlainSimulation): Omit<SimulationOptions, "emit" | "seed"> {
  return {
    ...options,
    manifests: manifests.map(manifestOf),
    ...(scenario === undefined
      ? {}
      : { scenario: { ...scenario, events: scenario.scenarioEvents.map(scenarioEventOf) } }),
    onCreated: () => {},
  };
}

function plainManifest({ object, source }: PlainManifest): PlainManifest {
  return { object, source };
}

function plainScenario({
  events: scenarioEvents,
  ...scenario
}: SimulatedScenario): NonNullable<PlainSimulation["scenario"]> {
  const { controllerManagers, controllers, jitter, timeZone, nodes } = scenario;
  return {
    controllerManagers,
    controllers,
    jitter,
    timeZone,
    nodes,
    scenarioEvents: scenarioEvents.map((scenarioEvent) => ({
      ...scenarioEvent,
      objects: scenarioEvent.objects.map(plainManifest),
    })),
  };
}

function manifestOf({ object, source }: PlainManifest): Manifest {
  return manifestAt(object, source);
}

function scenarioEventOf({ objects, ...scenarioEvent }: PlainScenarioEvent): ScenarioEvent {
  return { ...scenarioEvent, objects: objects.map(manifestOf) } as ScenarioEvent;
}

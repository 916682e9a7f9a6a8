import { type Manifest, manifestAt } from "./input/manifest.js";
import type { Happening, Scenario } from "./scenario/scenario.js";
import type { SimulationOptions } from "./simulation.js";

/** What is to be simulated, whatever the seed. Plain data, so that it can be handed to another thread. */
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
> {
  readonly manifests: readonly PlainManifest[];
  readonly scenario?: Omit<NonNullable<SimulationOptions["scenario"]>, "happenings"> & {
    readonly happenings: readonly PlainHappening[];
  };
}

type PlainManifest = Pick<Manifest, "object" | "source">;
type PlainHappening = Omit<Happening, "objects"> & { readonly objects: readonly PlainManifest[] };

type Simulated = Omit<PlainSimulation, "manifests" | "scenario"> & {
  readonly manifests: readonly Manifest[];
  readonly scenario?: PlayedScenario;
};

type PlayedScenario = Pick<
  Scenario,
  "controllerManagers" | "controllers" | "jitter" | "timeZone" | "nodes" | "happenings"
>;

/** Without what is no data: the places of fields in the text. */
export function plainSimulation(input: Simulated): PlainSimulation {
  const { startMs, durationMs, kubernetesVersion, timeZoneData, validate, strict, manifests } = input;
  const { nodes, localTimeZone, live, scenario } = input;
  return {
    startMs,
    durationMs,
    timeZoneData,
    ...(kubernetesVersion === undefined ? {} : { kubernetesVersion }),
    ...(validate === undefined ? {} : { validate }),
    ...(strict === undefined ? {} : { strict }),
    manifests: manifests.map(plain),
    ...(nodes === undefined ? {} : { nodes }),
    ...(localTimeZone === undefined ? {} : { localTimeZone }),
    ...(live === undefined ? {} : { live }),
    ...(scenario === undefined ? {} : { scenario: plainScenario(scenario) }),
  };
}

/** To be simulated with a seed. Manifests that the API server refuses are left out. */
export function simulationOf({
  manifests,
  scenario,
  ...options
}: PlainSimulation): Omit<SimulationOptions, "emit" | "seed"> {
  return {
    ...options,
    manifests: manifests.map(manifestOf),
    ...(scenario === undefined ? {} : { scenario: { ...scenario, happenings: scenario.happenings.map(happeningOf) } }),
    onCreated: () => {},
  };
}

function plain({ object, source }: PlainManifest): PlainManifest {
  return { object, source };
}

function plainScenario({ happenings, ...scenario }: PlayedScenario): NonNullable<PlainSimulation["scenario"]> {
  const { controllerManagers, controllers, jitter, timeZone, nodes } = scenario;
  return {
    controllerManagers,
    controllers,
    jitter,
    timeZone,
    nodes,
    happenings: happenings.map((happening) => ({ ...happening, objects: happening.objects.map(plain) })),
  };
}

function manifestOf({ object, source }: PlainManifest): Manifest {
  return manifestAt(object, source);
}

function happeningOf({ objects, ...happening }: PlainHappening): Happening {
  return { ...happening, objects: objects.map(manifestOf) } as Happening;
}

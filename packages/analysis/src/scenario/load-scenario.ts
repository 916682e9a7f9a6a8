import type { UnstructuredObject } from "@kubewright/api";
import { defaultNodes } from "@kubewright/cluster";
import {
  DEFAULT_DURATION_MS,
  DEFAULT_START_MS,
  LONGEST_RUN_MS,
  type Path,
  type ScenarioProblem,
  SCENARIO_API_VERSION,
  type ScenarioFile,
  TOO_LONG,
  checkScenario,
  checkSchema,
  scenarioEventsOf,
  nodeShapes,
  pathText,
  timeOf,
  withWorkloads,
} from "@kubewright/simulation";

import { parseDuration } from "../time/duration.js";
import { type InputIo, loadAllManifests } from "../input/load-manifests.js";
import { type Manifest, manifestAt } from "../input/manifest.js";
import { UserError } from "../errors/user-error.js";
import type { Scenario } from "./scenario.js";
import { ScenarioText } from "./scenario-text.js";

/** Values from the command line, which override the file. */
export interface ScenarioOverrides {
  readonly startMs?: number | undefined;
  /** Start of a scenario without one. Default: 2026-01-01T00:00:00Z, as for fault plans. */
  readonly defaultStartMs?: number;
  readonly durationMs?: number | undefined;
  readonly seed?: number | undefined;
  /** Simulated in addition to the scenario's own. */
  readonly manifests?: readonly Manifest[];
}

/**
 * Reads a scenario file and the files that it names.
 *
 * @throws UserError with one line for each mistake: `file:line:column: path: what is wrong; hint`.
 */
export async function loadScenario(path: string, io: InputIo, overrides: ScenarioOverrides = {}): Promise<Scenario> {
  const source = new ScenarioText(await readScenarioFile(path, io), path);
  const value = source.value();
  if (value === null)
    throw new UserError(
      `${path}: is empty; a scenario begins with apiVersion: ${SCENARIO_API_VERSION} and kind: Scenario`,
    );
  if (isManifest(value))
    throw new UserError(
      `${path}: is a ${value.kind} and no scenario; give it without --scenario, or write it into the \`manifests\` of one`,
    );
  const schemaProblems = await checkSchema(value);
  if (schemaProblems.length > 0) source.throwProblems(schemaProblems);
  const file = value as ScenarioFile;

  const { defaultStartMs = DEFAULT_START_MS } = overrides;
  const timeProblems: ScenarioProblem[] = [];
  const startMs = overrides.startMs ?? (file.start === undefined ? defaultStartMs : timeOf(file.start));
  if (Number.isNaN(startMs))
    timeProblems.push({ path: ["start"], message: `${JSON.stringify(file.start)} is not a valid time` });
  const durationMs =
    overrides.durationMs ?? (file.for === undefined ? DEFAULT_DURATION_MS : parseDuration(file.for, "for"));
  if (durationMs > LONGEST_RUN_MS)
    timeProblems.push({
      path: ["for"],
      message: `${JSON.stringify(file.for)} ${TOO_LONG}`,
    });
  if (timeProblems.length > 0) source.throwProblems(timeProblems);

  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const load = async (entry: string | UnstructuredObject, at: Path): Promise<readonly Manifest[]> => {
    const place = source.place(at);
    if (typeof entry !== "string") return [manifestAt(entry, place)];
    try {
      return await loadAllManifests([entry.startsWith("/") ? entry : `${folder}${entry}`], io);
    } catch (error) {
      if (error instanceof UserError)
        throw new UserError(`${place}: ${pathText(at)}: ${error.message}`, { cause: error });
      throw error;
    }
  };
  const manifests = [...(overrides.manifests ?? [])];
  for (const [index, entry] of (file.manifests ?? []).entries())
    manifests.push(...(await load(entry, ["manifests", index])));
  const applied: (readonly Manifest[])[] = [];
  for (const [index, { apply }] of (file.events ?? []).entries())
    applied.push(apply === undefined ? [] : await load(apply, ["events", index, "apply"]));
  const objects = [...manifests, ...applied.flat()];
  if (objects.length === 0)
    source.throwProblems([
      { path: [], message: "there is nothing to simulate; add `manifests`, or name files on the command line" },
    ]);

  const nodes = file.nodes === undefined ? undefined : nodeShapes(file.nodes);
  const problems = checkScenario(file, { startMs, durationMs, objects, nodes: nodes ?? defaultNodes });
  if (problems.length > 0) source.throwProblems(problems);
  const withWorkloadAnnotations = (list: readonly Manifest[]): Manifest[] => withWorkloads(list, file.workloads ?? []);
  return {
    name: file.name ?? path.slice(folder.length).replace(/\.ya?ml$/, ""),
    description: file.description,
    startMs,
    hasDefaultStart: overrides.startMs === undefined && file.start === undefined,
    durationMs,
    seed: overrides.seed ?? file.seed ?? 1,
    timeZone: file.timeZone ?? "UTC",
    controllerManagers: file.controllerManagers ?? 1,
    controllers: file.controllers,
    jitter: file.jitter,
    nodes,
    manifests: withWorkloadAnnotations(manifests),
    events: scenarioEventsOf(file.events ?? [], {
      startMs,
      objectsOf: (index) => withWorkloadAnnotations(applied[index]!),
      placeOf: (index) => source.place(["events", index]),
    }),
  };
}

function isManifest(value: unknown): value is { kind: string } {
  const { apiVersion, kind } = (value ?? {}) as { apiVersion?: unknown; kind?: unknown };
  return (
    typeof apiVersion === "string" &&
    typeof kind === "string" &&
    apiVersion !== SCENARIO_API_VERSION &&
    kind !== "Scenario"
  );
}

async function readScenarioFile(path: string, io: Pick<InputIo, "readFile">): Promise<string> {
  try {
    return await io.readFile(path);
  } catch (error) {
    const missing = (error as { code?: string }).code === "ENOENT";
    throw new UserError(`--scenario: ${path}: ${missing ? "no such file" : (error as Error).message}`, {
      cause: error,
    });
  }
}

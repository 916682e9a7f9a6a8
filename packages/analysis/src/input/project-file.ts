import { type WorkloadEntry, checkSchema, checkWorkloadSettings, scenarioSchema } from "@kubewright/simulation";

import { ioProblem } from "./find-inputs.js";
import type { Files } from "../ports/files.js";
import { ScenarioText } from "../scenario/scenario-text.js";
import { UserError } from "../errors/user-error.js";

/** The project file of a repository, with the input of its simulation and the rules. */
export const PROJECT_FILE = ".kubewright.yaml";

/** The fields of the project file. Paths are relative to its folder. */
export interface ProjectFile {
  /** Files and folders to simulate. */
  readonly input?: readonly string[];
  readonly scenario?: string;
  readonly start?: string;
  readonly for?: string;
  readonly seed?: number;
  readonly seeds?: string;
  readonly kubernetes?: string;
  /** Durations and failure rates of containers: the path of a workloads file, or its entries. */
  readonly workloads?: string | readonly WorkloadEntry[];
  /** Rules of `--fail-on`. */
  readonly failOn?: readonly string[];
  readonly lint?: { readonly disable?: readonly string[] };
}

const texts = { type: "array", minItems: 1, items: { type: "string", minLength: 1 } } as const;
const text = { type: "string", minLength: 1 } as const;

const projectSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "kubewright project",
  type: "object",
  additionalProperties: false,
  properties: {
    input: { ...texts, title: "a list of files and folders" },
    scenario: text,
    start: text,
    for: text,
    seed: { type: "integer", minimum: 0, maximum: 4294967295 },
    seeds: { ...text, title: "a range of seeds", examples: ['"1-1000"'] },
    kubernetes: { ...text, title: "a release of Kubernetes", examples: ['"1.36"'] },
    workloads: { if: { type: "string" }, else: scenarioSchema.properties.workloads },
    failOn: { ...texts, title: "a list of rules", examples: ["[skipped]"] },
    lint: {
      type: "object",
      additionalProperties: false,
      properties: { disable: { ...texts, title: "a list of rules" } },
    },
  },
  $defs: scenarioSchema.$defs,
} as const;

/**
 * Reads the project file of the working folder.
 *
 * @returns `undefined` when there is none.
 * @throws UserError with one line for each mistake.
 */
export async function readProjectFile(io: Pick<Files, "readFile">): Promise<ProjectFile | undefined> {
  let content: string;
  try {
    content = await io.readFile(PROJECT_FILE);
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw new UserError(`${PROJECT_FILE}: ${ioProblem(error)}`, { cause: error });
  }
  const source = new ScenarioText(content, PROJECT_FILE);
  const value = source.value() ?? {};
  const problems = await checkSchema(value, projectSchema);
  if (problems.length > 0) source.throwProblems(problems);
  const file = value as ProjectFile;
  const entries = typeof file.workloads === "string" ? [] : (file.workloads ?? []);
  const invalid = entries.flatMap((entry, index) => checkWorkloadSettings(entry, ["workloads", index]));
  if (invalid.length > 0) source.throwProblems(invalid);
  return file;
}

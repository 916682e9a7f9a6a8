import { readDocument } from "./read-document.js";
import { splitDocuments } from "./split-documents.js";

/** File names of a kustomization, in kustomize's order. */
export const KUSTOMIZATION_FILES = ["kustomization.yaml", "kustomization.yml", "Kustomization"] as const;

/** The paths that a kustomization names, as written. */
export interface Kustomization {
  /** Files, folders and URLs of resources, bases, components and transformers. */
  readonly resources: readonly string[];
  /** Patches, values of generators, and other files. */
  readonly files: readonly string[];
  /** Whether only other kustomizations can include it. */
  readonly isComponent: boolean;
  /** Whether it renders Helm charts, which kustomize does only with `--enable-helm`. */
  readonly hasCharts: boolean;
}

const RESOURCE_FIELDS = ["resources", "bases", "components", "generators", "transformers", "validators"] as const;

/** Reads a kustomization file. A file that cannot be parsed names no paths: its build reports the mistake. */
export function readKustomization(text: string, file: string): Kustomization {
  const first = splitDocuments(text).find((piece) => piece.text.trim() !== "");
  const document = first === undefined ? undefined : readDocument(first, file);
  const value = document !== undefined && "value" in document && isRecord(document.value) ? document.value : {};
  const field = (name: string): readonly unknown[] => listOf(value[name]);
  const charts = [...field("helmCharts"), ...field("helmChartInflationGenerator")];
  return {
    resources: RESOURCE_FIELDS.flatMap((name) => pathsIn(field(name))),
    files: [
      ...["crds", "configurations", "patchesStrategicMerge"].flatMap((name) => pathsIn(field(name))),
      ...["patches", "patchesJson6902", "replacements"].flatMap((name) => pathsAt(field(name), "path")),
      ...pathsAt([value["openapi"]], "path"),
      ...pathsAt(charts, "valuesFile"),
      ...charts.filter(isRecord).flatMap((chart) => pathsIn(listOf(chart["additionalValuesFiles"]))),
      ...["configMapGenerator", "secretGenerator"].flatMap((name) =>
        field(name).filter(isRecord).flatMap(generatorFiles),
      ),
    ],
    isComponent: value["kind"] === "Component",
    hasCharts: charts.length > 0,
  };
}

/** Whether a path that does not exist names a Git repository or a web page, which kustomize would load. */
export function isRemote(path: string): boolean {
  return (
    /^[a-z][a-z0-9+.-]*:\/\//i.test(path) ||
    /^(git::|[\w.-]+@[\w.-]+:)/.test(path) ||
    /[?&](ref|version|submodules|timeout)=/.test(path) ||
    /^\w[\w-]*(\.[\w-]+)*\.[a-z]{2,}[/:][^/]+\/./i.test(path)
  );
}

/** `files` has `path` or `key=path`. */
function generatorFiles(generator: Record<string, unknown>): string[] {
  const files = pathsIn(listOf(generator["files"])).map((text) => text.slice(text.indexOf("=") + 1));
  return [...files, ...pathsIn(listOf(generator["envs"])), ...pathsIn([generator["env"]])];
}

function pathsAt(values: readonly unknown[], field: string): string[] {
  return values.filter(isRecord).flatMap((value) => pathsIn([value[field]]));
}

/** Entries of several lines are inline YAML. */
function pathsIn(values: readonly unknown[]): string[] {
  return values.filter((value): value is string => typeof value === "string" && value !== "" && !value.includes("\n"));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

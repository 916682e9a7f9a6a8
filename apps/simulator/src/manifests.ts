import type { UnstructuredObject } from "@kubewright/api";
import { LineCounter, parseAllDocuments } from "yaml";

import type { Io } from "./io.js";
import { UserError } from "./user-error.js";
import { checkNesting, yamlValue } from "./yaml-value.js";

/** One object of a manifest file, and where it stands. */
export interface Manifest {
  readonly object: UnstructuredObject;
  /** `examples/pi.yaml:3` */
  readonly source: string;
}

/**
 * Reads manifests from files, and from the `.yaml`, `.yml` and `.json` files of folders, but not of folders in them, in
 * order of name. A `List` is taken apart; empty documents are skipped, and so are scenarios in folders.
 *
 * @throws UserError for a missing file, text that is not YAML, a document that is not a Kubernetes object, or no object at all.
 */
export async function loadManifests(
  paths: readonly string[],
  io: Pick<Io, "readFile" | "listFolder">,
): Promise<Manifest[]> {
  const manifests: Manifest[] = [];
  for (const { file, inFolder } of await expandFolders(paths, io))
    manifests.push(...parseManifests(await read(file, io), file, { passOverScenarios: inFolder }));
  if (manifests.length === 0) throw new UserError(`${paths.join(", ")}: no Kubernetes objects found`);
  return manifests;
}

interface ManifestFile {
  readonly file: string;
  readonly inFolder: boolean;
}

async function expandFolders(paths: readonly string[], io: Pick<Io, "listFolder">): Promise<ManifestFile[]> {
  const files: ManifestFile[] = [];
  for (const path of paths) {
    const names = await explained(path, () => io.listFolder(path));
    if (names === undefined) files.push({ file: path, inFolder: false });
    else
      files.push(
        ...[...names]
          .filter((name) => /\.(ya?ml|json)$/.test(name))
          .sort()
          .map((name) => ({ file: `${path.replace(/\/+$/, "")}/${name}`, inFolder: true })),
      );
  }
  return files;
}

function read(file: string, io: Pick<Io, "readFile">): Promise<string> {
  return explained(file, () => io.readFile(file));
}

async function explained<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const code = (error as { code?: string }).code;
    const why =
      code === "ENOENT" ? "no such file or folder" : code === "EACCES" ? "permission denied" : (error as Error).message;
    throw new UserError(`${path}: ${why}`, { cause: error });
  }
}

/**
 * @param options.passOverScenarios - Whether a scenario is passed over, rather than refused as no manifest. Default false.
 * @throws UserError with file and line.
 */
export function parseManifests(text: string, file: string, { passOverScenarios = false } = {}): Manifest[] {
  checkNesting(text, file);
  const lineCounter = new LineCounter();
  const manifests: Manifest[] = [];
  for (const document of parseAllDocuments(text, { lineCounter, prettyErrors: false })) {
    const [problem] = document.errors;
    if (problem !== undefined) {
      const { line, col } = lineCounter.linePos(problem.pos[0]);
      throw new UserError(`${file}:${line}:${col}: not YAML: ${problem.message.split("\n")[0]}`);
    }
    const { contents } = document;
    if (contents === null) continue;
    const source = `${file}:${lineCounter.linePos(contents.range?.[0] ?? 0).line}`;
    const value = yamlValue(document, source);
    if (value === null) continue;
    if (isScenario(value)) {
      if (passOverScenarios) continue;
      throw new UserError(`${source}: is a scenario and no manifest; play it with --scenario ${file}`);
    }
    for (const item of isList(value) ? value.items : [value])
      manifests.push({ object: kubernetesObject(item, source), source });
  }
  return manifests;
}

function isList(value: unknown): value is { items: unknown[] } {
  return (
    isRecord(value) &&
    typeof value["kind"] === "string" &&
    value["kind"].endsWith("List") &&
    Array.isArray(value["items"])
  );
}

function isScenario(value: unknown): boolean {
  return (
    isRecord(value) && value["kind"] === "Scenario" && String(value["apiVersion"]).startsWith("sim.kubewright.dev/")
  );
}

function kubernetesObject(value: unknown, source: string): UnstructuredObject {
  if (!isRecord(value))
    throw new UserError(`${source}: not a Kubernetes object: a mapping with apiVersion, kind and metadata is expected`);
  for (const field of ["apiVersion", "kind"] as const) {
    if (typeof value[field] !== "string" || value[field] === "") throw new UserError(`${source}: ${field} is missing`);
  }
  if (!isRecord(value["metadata"])) throw new UserError(`${source}: metadata is missing`);
  return value as unknown as UnstructuredObject;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

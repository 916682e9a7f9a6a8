import type { Files } from "../ports/files.js";
import type { HostProcess } from "../ports/host-process.js";
import { InterruptedError } from "../errors/interrupted-error.js";
import { UserError } from "../errors/user-error.js";
import { firstFew } from "./first-few.js";
import { type InputSource, findInputs, ioProblem } from "./find-inputs.js";
import { type Manifest, identityOf } from "./manifest.js";
import { type ParsedManifests, parseManifests } from "./parse-manifests.js";

export type InputIo = Pick<Files, "readFile" | "listFolder" | "readStandardInput"> & Pick<HostProcess, "execute">;

/** All manifests of a command line. */
export interface LoadedManifests {
  readonly manifests: readonly Manifest[];
  /** One line for each mistake; the other manifests can be simulated. */
  readonly problems: readonly string[];
  /** One line for each item that was passed over or is odd. */
  readonly notes: readonly string[];
}

/**
 * Reads manifests from files, folders, standard input (`-`) and kustomizations. Of two manifests of one object the
 * later counts, as with `kubectl apply`.
 */
export async function loadManifests(paths: readonly string[], io: InputIo): Promise<LoadedManifests> {
  const found = await findInputs(paths, io);
  const manifests = new Map<string, Manifest>();
  const problems = [...found.problems];
  const notes = firstFew(found.notes, "more folders passed over");
  const templates: string[] = [];
  const repeated: string[] = [];
  let { passedOver } = found;
  for (const source of found.sources) {
    const parsed = await read(source, io);
    if (typeof parsed === "string") {
      problems.push(parsed);
      continue;
    }
    problems.push(...parsed.problems);
    notes.push(...parsed.warnings);
    templates.push(...parsed.templates);
    passedOver += parsed.passedOver;
    for (const manifest of parsed.manifests) {
      const { object, source: place } = manifest;
      const identity = object.metadata.name === undefined ? `at ${place}` : identityOf(object);
      const earlier = manifests.get(identity);
      if (earlier !== undefined && earlier.source !== place)
        repeated.push(
          `${place}: ${identity} stands at ${earlier.source} as well; the later one counts, as with kubectl apply`,
        );
      manifests.set(identity, manifest);
    }
  }
  notes.push(...firstFew(templates, "more files passed over that another tool must read first"));
  notes.push(...firstFew(repeated, "more objects stand twice"));
  if (passedOver > 0)
    notes.push(
      `passed over: ${passedOver} ${passedOver === 1 ? "file that is no manifest" : "files that are no manifests"}`,
    );
  return { manifests: [...manifests.values()], problems, notes };
}

/** Reads manifests for commands that require all of them to be valid. @throws UserError with every mistake. */
export async function loadAllManifests(paths: readonly string[], io: InputIo): Promise<readonly Manifest[]> {
  const { manifests, problems } = await loadManifests(paths, io);
  if (problems.length > 0) throw new UserError(problems.join("\n"));
  if (manifests.length === 0) throw new UserError(`${paths.join(", ")}: no Kubernetes objects found`);
  return manifests;
}

async function read(source: InputSource, io: InputIo): Promise<ParsedManifests | string> {
  switch (source.type) {
    case "file":
      try {
        return parseManifests(await io.readFile(source.path), source.path, { passOverOthers: !source.named });
      } catch (error) {
        if (error instanceof InterruptedError) throw error;
        return `${source.path}: ${ioProblem(error)}`;
      }
    case "standardInput":
      if (io.readStandardInput === undefined) return "-: there is no standard input here";
      try {
        return parseManifests(await io.readStandardInput(), "standard input");
      } catch (error) {
        if (error instanceof InterruptedError) throw error;
        return `standard input: ${ioProblem(error)}`;
      }
    case "kustomization":
      return build(source.folder, io);
    default:
      return source satisfies never;
  }
}

const BUILDERS = [
  ["kubectl", "kustomize"],
  ["kustomize", "build"],
] as const;

async function build(folder: string, { execute }: InputIo): Promise<ParsedManifests | string> {
  for (const [command, verb] of BUILDERS) {
    const result = await execute?.(command, [verb, folder]);
    if (result === undefined) continue;
    if (result.status === 0) return parseManifests(result.stdout, `${folder} (${command} ${verb})`);
    return `${folder}: ${command} ${verb}: ${reasonOf(result.stderr) || `ended with status ${result.status}`}`;
  }
  return `${folder}: is a kustomization, and neither kubectl nor kustomize is here to build it; run it with kustomize build ${folder} | kubewright run -`;
}

/** Returns the last line of a tool's error output, without the prefix of its logger (klog). */
function reasonOf(stderr: string): string {
  const line = stderr.trim().split("\n").at(-1) ?? "";
  const logged = /^[EF]\d{4} .* err=("(?:[^"\\]|\\.)*")$/.exec(line)?.[1];
  return logged === undefined ? line : logged.slice(1, -1).replace(/\\(["\\])/g, "$1");
}

import { UserError } from "../errors/user-error.js";
import { DeployedFolders } from "./deployed-folders.js";
import { InputFinder } from "./find-inputs.js";
import { firstFew } from "./first-few.js";
import type { InputProblem } from "./input-problem.js";
import { type Manifest, objectName } from "./manifest.js";
import { MergedManifests } from "./merged-manifests.js";
import { removedVersionText } from "./removed-versions.js";
import { type InputIo, type ReadSource, type RenderOptions, SourceReader } from "./source-reader.js";

export type { InputIo, RenderOptions };

/** All manifests of a command line. */
export interface LoadedManifests {
  readonly manifests: readonly Manifest[];
  /** One line for each mistake; the other manifests can be simulated. */
  readonly problems: readonly string[];
  /** Mistakes in CronJobs and Jobs, which cannot be simulated, and in objects that no run needs. */
  readonly mistakes: readonly InputProblem[];
  /** One line for each item that was passed over or is odd. */
  readonly notes: readonly string[];
  /** Number of files, kustomizations and standard inputs that were read. */
  readonly files: number;
}

/**
 * Reads manifests from files, folders, standard input (`-`), kustomizations, Helm charts and OpenShift templates, and
 * from the folders that Flux Kustomizations and Argo CD Applications among them deploy. Of two manifests of one object
 * the later counts, as with `kubectl apply`.
 */
export async function loadManifests(
  paths: readonly string[],
  io: InputIo,
  options: RenderOptions = {},
): Promise<LoadedManifests> {
  const finder = new InputFinder(io, options.kustomize);
  const reader = new SourceReader(io, finder, options);
  for (const path of paths) await finder.add(path);
  const deployments = new DeployedFolders(finder);
  const sources: ReadSource[] = [];
  for (let found = await finder.takeSources(); found.length > 0; found = await finder.takeSources()) {
    const read = await reader.readAll(found);
    sources.push(...read);
    await reader.reportNotRendered(sources);
    await deployments.addAll(read, sources);
  }
  const merged = new MergedManifests();
  for (const source of sources) merged.add(source, deployments.apply(source));
  const parsed = sources.map((each) => each.parsed);
  const passedOver = finder.otherFiles + parsed.reduce((sum, each) => sum + each.passedOver, 0);
  return {
    manifests: merged.manifests,
    problems: [...finder.problems, ...reader.problems, ...parsed.flatMap(({ problems }) => problems)],
    mistakes: parsed.flatMap(({ mistakes }) => mistakes),
    files: sources.length,
    notes: [
      ...(await finder.notes()),
      ...reader.notes,
      ...parsed.flatMap(({ warnings }) => warnings),
      ...firstFew(
        parsed.flatMap(({ templates }) => templates),
        "more files that another tool must read first",
      ),
      ...deployments.notes,
      ...firstFew(removedVersionNotes(merged.manifests), "more objects of removed versions"),
      ...merged.notes,
      ...(passedOver === 0
        ? []
        : [`ignored: ${passedOver} ${passedOver === 1 ? "file that is no manifest" : "files that are no manifests"}`]),
    ],
  };
}

/** Reads manifests for commands that require all of them to be valid. @throws UserError with every mistake. */
export async function loadAllManifests(paths: readonly string[], io: InputIo): Promise<readonly Manifest[]> {
  const loaded = await loadManifests(paths, io);
  const { manifests } = loaded;
  const problems = allProblems(loaded);
  if (problems.length > 0) throw new UserError(problems.join("\n"));
  if (manifests.length === 0) throw new UserError(`${paths.join(", ")}: no Kubernetes objects found`);
  return manifests;
}

function removedVersionNotes(manifests: readonly Manifest[]): string[] {
  return manifests.flatMap(({ object, place, removedVersion }) =>
    removedVersion === undefined
      ? []
      : [
          `${place(["apiVersion"])}: ${objectName(object)}: runs as ${removedVersion.stable}: ${removedVersionText(removedVersion)}`,
        ],
  );
}

/** Returns one line for each mistake, whatever its effect on a run. */
export function allProblems({ problems, mistakes }: Pick<LoadedManifests, "problems" | "mistakes">): string[] {
  return [...mistakes.map(({ message }) => message), ...problems];
}

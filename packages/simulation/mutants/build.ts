/**
 * Builds the entry module of the simulation with a known bug: `node packages/simulation/mutants/build.ts [NAME…]`.
 *
 * It bundles the sources, so that the bundle contains the mutated code regardless of earlier builds. This folder is not
 * part of the package: callers look up this module by its path, and report when it is missing.
 */
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { threadId } from "node:worker_threads";

import { type Plugin, build } from "esbuild";

import { CLIENT_MACHINERY_MUTANTS } from "./known-bugs/client-machinery.ts";
import { CRON_JOB_MUTANTS } from "./known-bugs/cronjob.ts";
import { GARBAGE_MUTANTS } from "./known-bugs/garbage.ts";
import { JOB_MUTANTS } from "./known-bugs/job.ts";
import { SHARDING_MUTANTS } from "./known-bugs/sharding.ts";
import { type Mutant, type MutantRows, mutantOf } from "./mutant.ts";

export type { Mutant, MutantNeeds, SourceChange } from "./mutant.ts";

const ROWS: MutantRows = {
  ...JOB_MUTANTS,
  ...CRON_JOB_MUTANTS,
  ...GARBAGE_MUTANTS,
  ...CLIENT_MACHINERY_MUTANTS,
  ...SHARDING_MUTANTS,
};

const here = import.meta.dirname;
const root = path.resolve(here, "../../..");
const built = path.join(here, "built");
const DEFAULT_ENTRY = "packages/simulation/src/run-plan.ts";

/** A problem of a mutant, in one line: its text no longer matches the sources, or no mutant has that name. */
export class MutantError extends Error {
  override readonly name = "MutantError";
}

/** Returns all mutants, sorted by name. */
export function listMutants(): readonly Mutant[] {
  return Object.keys(ROWS).sort().map(findMutant);
}

/**
 * Returns the path of the entry module's bundle with that bug, ready to be imported. Builds it when it is missing or
 * the sources have changed.
 *
 * @param entry - Path relative to the root of the repository.
 * @throws MutantError when the mutant does not exist or does not match the sources.
 */
export async function mutantPath(name: string, entry: string = DEFAULT_ENTRY): Promise<string> {
  return buildMutant(findMutant(name), { entry, sources: sourcesHash() });
}

/** Returns the path of the entry module's bundle without any change: a violation in it is no finding about a mutant. */
export async function unmutatedPath(entry: string = DEFAULT_ENTRY): Promise<string> {
  return buildMutant(UNMUTATED, { entry, sources: sourcesHash() });
}

const UNMUTATED: Mutant = { name: "unmutated", entry: "none", sentence: "Nothing is wrong.", changes: [] };

/**
 * Returns the mutated text of each file that the mutant changes.
 *
 * @throws MutantError when a text to be replaced does not occur exactly once.
 */
export function mutatedFiles({ name, changes }: Mutant): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const { file, find, replace } of changes) {
    const text = texts.get(file) ?? readSource(name, file);
    const count = text.split(find).length - 1;
    if (count !== 1)
      throw new MutantError(`mutant ${name}: ${file} has ${JSON.stringify(find)} ${count} times, not once`);
    texts.set(
      file,
      text.replace(find, () => replace),
    );
  }
  return texts;
}

function findMutant(name: string): Mutant {
  const row = ROWS[name];
  if (row === undefined) throw new MutantError(`there is no mutant ${JSON.stringify(name)}`);
  return mutantOf(name, row);
}

function readSource(name: string, file: string): string {
  const source = path.join(root, file);
  if (!existsSync(source)) throw new MutantError(`mutant ${name}: there is no ${file}`);
  return readFileSync(source, "utf8");
}

interface BuildInput {
  readonly entry: string;
  readonly sources: string;
}

async function buildMutant(mutant: Mutant, { entry, sources }: BuildInput): Promise<string> {
  const of = entry === DEFAULT_ENTRY ? "" : `.${entry.replaceAll("/", "-")}`;
  const outfile = path.join(built, `${mutant.name}${of}.mjs`);
  const stamp = `// ${hash(sources, entry, JSON.stringify(mutant.changes))}`;
  if (existsSync(outfile) && readFileSync(outfile, "utf8").startsWith(stamp)) return outfile;
  if (!existsSync(path.join(root, entry))) throw new MutantError(`there is no ${entry} to be built with a mutant`);
  const files = mutatedFiles(mutant);
  const bundled = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    write: false,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22",
    conditions: ["@kubewright/source"],
    external: fromRegistries(),
    banner: { js: stamp },
    metafile: true,
    logLevel: "silent",
    plugins: files.size === 0 ? [] : [mutating(files)],
  }).catch((error: Error) => {
    throw new MutantError(`mutant ${mutant.name} cannot be built: ${error.message.replaceAll("\n", " ")}`);
  });
  for (const { file } of mutant.changes)
    if (bundled.metafile.inputs[file] === undefined)
      throw new MutantError(`mutant ${mutant.name}: ${file} is no part of what ${entry} runs`);
  mkdirSync(built, { recursive: true });
  // Several processes and threads may build the same bundle concurrently; none may read a partial file.
  const unfinished = `${outfile}.${process.pid}-${threadId}`;
  writeFileSync(unfinished, bundled.outputFiles[0]!.text);
  renameSync(unfinished, outfile);
  return outfile;
}

function mutating(files: ReadonlyMap<string, string>): Plugin {
  return {
    name: "mutating",
    setup(bundling) {
      // Every matching file costs a message between the processes.
      const names = [...files.keys()].map((file) => path.basename(file).replaceAll(".", "\\."));
      bundling.onLoad({ filter: new RegExp(`(${names.join("|")})$`) }, ({ path: file }) => {
        const contents = files.get(path.relative(root, file).replaceAll(path.sep, "/"));
        return contents === undefined ? undefined : { contents, loader: "ts" };
      });
    },
  };
}

/** Returns the packages' dependencies except each other: they are imported at run time. */
function fromRegistries(): string[] {
  const manifests = globSync("packages/*/package.json", { cwd: root }).map(
    (file) => JSON.parse(readFileSync(path.join(root, file), "utf8")) as { readonly dependencies?: object },
  );
  const names = new Set(manifests.flatMap(({ dependencies = {} }) => Object.keys(dependencies)));
  return [...names].filter((name) => !name.startsWith("@kubewright/"));
}

/** Returns a hash of everything that a bundle may contain, and of this module. */
function sourcesHash(): string {
  const files = globSync("packages/*/{src/**/*.ts,test/**/*.ts,package.json}", { cwd: root })
    .filter((file) => !file.endsWith(".test.ts"))
    .sort();
  return hash(
    ...[...files, path.relative(root, import.meta.filename)].map(
      (file) => file + readFileSync(path.join(root, file), "utf8"),
    ),
  );
}

function hash(...texts: readonly string[]): string {
  const sum = createHash("sha256");
  for (const text of texts) sum.update(`${text.length} ${text}`);
  return sum.digest("hex");
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { entry: { type: "string", default: DEFAULT_ENTRY } },
  });
  const wanted = positionals.length === 0 ? listMutants() : positionals.map(findMutant);
  const sources = sourcesHash();
  const startMs = performance.now();
  const waiting = wanted.values();
  const buildThem = async (): Promise<void> => {
    for (const mutant of waiting) {
      const fromMs = performance.now();
      await buildMutant(mutant, { entry: values.entry, sources });
      console.log(`${mutant.name}: ${Math.round(performance.now() - fromMs)} ms`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, buildThem));
  console.log(`${wanted.length} mutants in ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof MutantError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

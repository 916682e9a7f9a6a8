/**
 * Packs every public package under packages/, installs all the tarballs together into an empty project, and there, one
 * file per entry point, imports it: under Node without the source condition, and under TypeScript. What only works inside
 * this checkout (a file that is not packed, a dependency not declared, a type that is not emitted) fails here.
 *
 *   node tooling/check-install.ts            all packages, which must be built
 *   node tooling/check-install.ts workqueue  only these, with the siblings they need
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, unknown>>;
}

interface Package {
  readonly manifest: Manifest;
  readonly folder: string;
}

const root = path.resolve(import.meta.dirname, "..");
const started = performance.now();
const packages = wanted(publicPackages(), process.argv.slice(2));
// Outside the checkout: its node_modules must not be found by looking upwards.
const scratch = mkdtempSync(path.join(tmpdir(), "check-install-"));
const project = path.join(scratch, "project");
const tarballs = path.join(scratch, "tarballs");
let problems: string[];
try {
  mkdirSync(project);
  mkdirSync(tarballs);
  problems = await check();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
for (const problem of problems) console.error(problem);
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(`install: ${packages.length} packages in ${seconds} s, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;

async function check(): Promise<string[]> {
  const unbuilt = packages.filter(({ folder }) => !existsSync(path.join(folder, "dist/index.d.ts")));
  if (unbuilt.length > 0) return unbuilt.map(({ manifest }) => `${manifest.name} is not built: npm run build`);
  const packed = await run(
    "npm",
    ["pack", "--silent", "--ignore-scripts", "--pack-destination", tarballs, ...packages.map(({ folder }) => folder)],
    root,
  );
  if (packed.code !== 0) return [`npm pack: ${packed.output}`];

  const files = readdirSync(tarballs).map((file) => path.join(tarballs, file));
  writeFileSync(path.join(project, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }));
  // The cache first: whoever built this checkout has everything but the tarballs already.
  const flags = ["--silent", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  const installed = await run("npm", ["install", ...flags, ...files], project);
  if (installed.code !== 0) return [`npm install: ${installed.output}`];

  const entries = packages.flatMap(({ manifest }) => entryPoints(manifest));
  for (const [index, entry] of entries.entries()) {
    const text = `import * as entry from ${JSON.stringify(entry)};\nconsole.log(Object.keys(entry).length);\n`;
    writeFileSync(path.join(project, `entry-${index}.ts`), text);
  }
  const compilerOptions = {
    target: "es2023",
    lib: ["es2024", "esnext.disposable"],
    module: "nodenext",
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
    // The one thing a TypeScript user on Node has that is not a dependency of the packages.
    types: ["node"],
    typeRoots: [path.join(root, "node_modules/@types")],
  };
  writeFileSync(path.join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const compiled = run(path.join(root, "node_modules/.bin/tsc"), ["--project", project], project);
  const imported = await inParallel(entries, async (entry, index) => {
    const { code, output } = await run(process.execPath, [`entry-${index}.ts`], project);
    return code === 0 && Number(output) >= 0 ? [] : [`node: import ${JSON.stringify(entry)}: ${output}`];
  });
  const { code, output } = await compiled;
  return [...imported.flat(), ...(code === 0 ? [] : [`tsc: ${named(output, entries)}`])];
}

function publicPackages(): Package[] {
  return readdirSync(path.join(root, "packages"))
    .map((name) => path.join(root, "packages", name))
    .filter((folder) => existsSync(path.join(folder, "package.json")))
    .map((folder) => ({
      folder,
      manifest: JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as Manifest,
    }))
    .filter(({ manifest }) => manifest.private !== true);
}

/** The packages named by their folders, and all they depend on; all without names. */
function wanted(all: readonly Package[], names: readonly string[]): readonly Package[] {
  if (names.length === 0) return all;
  const chosen = new Set<Package>();
  const choose = (found: Package | undefined): void => {
    if (found === undefined || chosen.has(found)) return;
    chosen.add(found);
    for (const name of Object.keys(found.manifest.dependencies ?? {}))
      choose(all.find(({ manifest }) => manifest.name === name));
  };
  for (const name of names) {
    const found = all.find(({ folder }) => path.basename(folder) === name);
    if (found === undefined) {
      console.error(`packages/${name} is not a public package`);
      process.exit(2);
    }
    choose(found);
  }
  return [...chosen];
}

/** What can be imported: every key of `exports` that is code. */
function entryPoints({ name, exports = {} }: Manifest): string[] {
  return Object.keys(exports)
    .filter((key) => !key.endsWith(".json") && !key.includes("*"))
    .map((key) => path.posix.join(name, key));
}

/** TypeScript's errors, with the import each is about in place of its file. */
function named(output: string, entries: readonly string[]): string {
  return output.replace(/entry-(\d+)\.ts/g, (_file, index) => entries[Number(index)]!);
}

async function inParallel<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) results[index] = await work(items[index]!, index);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return results;
}

function run(command: string, args: readonly string[], cwd: string): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.once("error", (error) => resolve({ code: 127, output: error.message }));
    child.once("close", (code) => resolve({ code: code ?? 1, output: output.trim() }));
  });
}

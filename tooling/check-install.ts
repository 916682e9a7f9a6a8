/**
 * Packs every published package and installs all tarballs together into an empty project. There it checks the packages:
 *
 * - It imports every entry point under Node, including the oldest and the newest, without the source condition.
 * - It compiles all entry points with their declarations, and a user's program, under the oldest and the newest
 *   TypeScript and each module resolution.
 * - It runs a program with a work queue, schedules, an informer and an embedded cluster. The program must print the
 *   same under every Node, Deno and Bun.
 * - It checks each package against its line of `package-budgets.json`: number of installed packages including itself;
 *   their size in kB; size of its tarball in kB.
 *
 * This detects packages that work only inside the checkout: a file that is not packed, an undeclared dependency, a type
 * that is not emitted.
 *
 *     node tooling/check-install.ts            all packages, which must be built
 *     node tooling/check-install.ts workqueue  only these, with the siblings they need
 *     node tooling/check-install.ts --sizes    also prints the sizes in the format of the budget file
 */
import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";

import { findRuntime } from "./find-runtime.ts";
import { installedSize } from "./installed-size.ts";
import { ENTRIES_WITH_PEERS, type PublicPackage, entryPoints, publicPackages, root } from "./public-packages.ts";

/** A package in the output of `npm pack --json`. */
interface Packed {
  readonly name: string;
  readonly filename: string;
  /** Size of the tarball in bytes. */
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

/** The oldest supported TypeScript. The newest is the repository's own. */
const OLDEST_TYPESCRIPT = "5.4.2";
const RESOLUTIONS = [
  { module: "node16", moduleResolution: "node16" },
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "esnext", moduleResolution: "bundler" },
];
/**
 * Entries that import a peer dependency when they load, and work only in its runtime. They are compiled, but not run.
 */
const LOADING_PEERS: ReadonlySet<string> = new Set(["@kubewright/testing/vitest"]);
const PACKED = ["package.json", "README.md", "LICENSE", "CHANGELOG.md"];
/** Tests are not packed, except those of the template, which are part of its content. */
const NOT_PACKED = /\.tsbuildinfo$|^(?!template\/).*\.test(-d)?\.ts$/;
/** A user's programs, with the packages that they need. */
const CONSUMERS: Readonly<Record<string, readonly string[]>> = {
  "consumer.ts": ["apiserver", "expectations", "informer", "workqueue"],
  "everywhere.ts": ["cluster"],
};
/** Timeout of the programs, which run for a few seconds, or a minute on a busy machine. */
const RUN_MS = 300_000;

/** Size limits of a package. Sizes are in kB of 1000 bytes. */
interface Size {
  readonly packages: number;
  readonly installed: number;
  readonly tarball: number;
}

const started = performance.now();
const packages = wanted(
  publicPackages(),
  process.argv.slice(2).filter((argument) => argument !== "--sizes"),
);
const entries = packages.flatMap(({ manifest }) => entryPoints(manifest).map(({ entry }) => entry));
/** The other runtimes, with their arguments to run a TypeScript file. */
const runtimes = (
  [
    ["node-22", []],
    ["node-26", []],
    ["deno", ["run", "--allow-all"]],
    ["bun", ["run"]],
  ] as const
).flatMap(([name, args]) => {
  const found = findRuntime(name);
  if ("path" in found) return [{ name, args, path: found.path }];
  console.log(`skipped: installed packages under ${name}: ${found.missing}`);
  return [];
});
const consumers = Object.keys(CONSUMERS).filter((file) =>
  CONSUMERS[file]!.every((name) => packages.some(({ folder }) => path.basename(folder) === name)),
);
// Outside of the checkout, so that module resolution does not find the checkout's node_modules.
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
    [
      "pack",
      "--json",
      "--silent",
      "--ignore-scripts",
      "--pack-destination",
      tarballs,
      ...packages.map(({ folder }) => folder),
    ],
    root,
  );
  if (packed.code !== 0) return [`npm pack: ${packed.output}`];
  const contents = Object.values(JSON.parse(packed.output) as Readonly<Record<string, Packed>>);

  writeFileSync(path.join(project, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }));
  // Prefers npm's cache, which contains everything except the tarballs after the build of this checkout.
  const flags = ["--silent", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  const files = contents.map(({ filename }) => path.join(tarballs, filename));
  const oldest = `typescript-oldest@npm:typescript@${OLDEST_TYPESCRIPT}`;
  const installed = await run("npm", ["install", ...flags, ...files, oldest], project);
  if (installed.code !== 0) return [`npm install: ${installed.output}`];
  return [...wrongContents(contents), ...overBudget(contents), ...(await importAll()), ...(await compileAll())];
}

function wrongContents(contents: readonly Packed[]): string[] {
  return contents.flatMap((tarball) => {
    const files = tarball.files.map((file) => file.path);
    const textOf = (file: string): string =>
      readFileSync(path.join(project, "node_modules", tarball.name, file), "utf8");
    return [
      ...PACKED.filter((file) => !files.includes(file)).map((file) => `${tarball.name} is packed without ${file}`),
      ...files.filter((file) => NOT_PACKED.test(file)).map((file) => `${tarball.name} is packed with ${file}`),
      ...files
        .filter((file) => file.endsWith(".map") && textOf(file).includes('"sourcesContent":["'))
        .map((file) => `${tarball.name}: ${file} repeats the sources that are packed beside it`),
    ];
  });
}

function overBudget(contents: readonly Packed[]): string[] {
  const budgets = JSON.parse(readFileSync(path.join(root, "tooling/package-budgets.json"), "utf8")) as Readonly<
    Record<string, Size>
  >;
  return contents.flatMap(({ name, size }) => {
    const measured: Size = { ...installedSize(project, name), tarball: Math.ceil(size / 1000) };
    if (process.argv.includes("--sizes")) console.log(`${JSON.stringify(name)}: ${JSON.stringify(measured)},`);
    const budget = budgets[name];
    if (budget === undefined) return [`${name} has no line in tooling/package-budgets.json`];
    return (["packages", "installed", "tarball"] as const)
      .filter((figure) => measured[figure] > budget[figure])
      .map((figure) => `${name}: ${figure} is ${measured[figure]}, its budget ${budget[figure]}`);
  });
}

/** Imports every entry point in a separate process, and requires all of them from one script. */
async function importAll(): Promise<string[]> {
  const wrong = await inParallel(entries, async (entry, index) => {
    const specifier = JSON.stringify(entry);
    const module = `import * as entry from ${specifier};\nconsole.log(Object.keys(entry).length);\n`;
    writeFileSync(path.join(project, `entry-${index}.ts`), module);
    if (LOADING_PEERS.has(entry)) return [];
    const { code, output } = await run(process.execPath, [`entry-${index}.ts`], project);
    return code === 0 && Number(output) >= 0 ? [] : [`node: import ${specifier}: ${output}`];
  });
  const script = entries
    .filter((entry) => !LOADING_PEERS.has(entry))
    .map((entry) => `require(${JSON.stringify(entry)});\n`);
  writeFileSync(path.join(project, "require.cjs"), script.join(""));
  return [...wrong.flat(), ...(await runUnderNodes("require.cjs"))];
}

/** Runs a file under this Node and the others. */
async function runUnderNodes(file: string): Promise<string[]> {
  const nodes = runtimes.filter(({ name }) => name.startsWith("node"));
  const wrong = await inParallel([{ name: "node", path: process.execPath }, ...nodes], async ({ name, path }) => {
    const { code, output } = await run(path, [file], project, RUN_MS);
    return code === 0 ? [] : [`${name}: ${file}: ${output}`];
  });
  return wrong.flat();
}

/** Runs a file under every runtime, and compares the output with that of this Node. */
async function compareRuntimes(file: string): Promise<string[]> {
  const here = await run(process.execPath, [file], project, RUN_MS);
  if (here.code !== 0) return [`node: ${file}: ${here.output}`];
  const wrong = await inParallel(runtimes, async ({ name, path, args }) => {
    const { code, output } = await run(path, [...args, file], project, RUN_MS);
    if (code !== 0) return [`${name}: ${file}: ${output}`];
    return output === here.output ? [] : [`${name}: ${file} printed\n${output}\nwhere Node prints\n${here.output}`];
  });
  return wrong.flat();
}

async function compileAll(): Promise<string[]> {
  const hasPeer = (entry: string): boolean => entry in ENTRIES_WITH_PEERS;
  const modules = entries.flatMap((entry, index) => (hasPeer(entry) ? [] : [`entry-${index}.ts`]));
  for (const consumer of consumers) {
    copyFileSync(path.join(root, "tooling/consumer", consumer), path.join(project, consumer));
    modules.push(consumer);
  }
  const script = entries.flatMap((entry, index) =>
    hasPeer(entry) ? [] : [`import * as entry${index} from "${entry}";\nvoid entry${index};\n`],
  );
  writeFileSync(path.join(project, "script.cts"), script.join(""));

  const oldest = path.join(project, "node_modules/typescript-oldest/bin/tsc");
  const newest = path.join(root, "node_modules/typescript/bin/tsc");
  const wrong = await inParallel(
    [oldest, newest].flatMap((tsc) => RESOLUTIONS.map((resolution) => ({ tsc, resolution }))),
    ({ tsc, resolution }) => {
      // TypeScript allows scripts to require ES modules since 5.8, under nodenext.
      const scripts = tsc === newest && resolution.module === "nodenext" ? ["script.cts"] : [];
      return compile(tsc, { ...resolution, skipLibCheck: false }, [...modules, ...scripts]);
    },
  );
  if (consumers.includes("consumer.ts")) wrong.push(await runUnderNodes("consumer.ts"));
  if (consumers.includes("everywhere.ts")) wrong.push(await compareRuntimes("everywhere.ts"));

  for (const peer of new Set(entries.filter(hasPeer).map((entry) => ENTRIES_WITH_PEERS[entry]!))) {
    mkdirSync(path.join(project, "node_modules", path.dirname(peer)), { recursive: true });
    symlinkSync(path.join(root, "node_modules", peer), path.join(project, "node_modules", peer));
  }
  const withPeers = entries.flatMap((entry, index) => (hasPeer(entry) ? [`entry-${index}.ts`] : []));
  if (withPeers.length > 0) wrong.push(await compile(newest, { module: "nodenext", skipLibCheck: true }, withPeers));
  return wrong.flat();
}

async function compile(
  tsc: string,
  options: { readonly module: string; readonly skipLibCheck: boolean },
  files: readonly string[],
): Promise<string[]> {
  const compilerOptions = {
    target: "es2022",
    strict: true,
    noEmit: true,
    // Node's types, which every TypeScript user on Node has; the packages do not depend on them.
    types: ["node"],
    typeRoots: [path.join(root, "node_modules/@types")],
    ...options,
  };
  const newest = tsc.startsWith(path.join(root, "node_modules"));
  const config = `tsconfig.${newest ? "newest" : "oldest"}.${options.module}.${options.skipLibCheck}.json`;
  writeFileSync(path.join(project, config), JSON.stringify({ compilerOptions, files }));
  const { code, output } = await run(process.execPath, [tsc, "--project", config, "--pretty", "false"], project);
  const which = `TypeScript ${newest ? "as here" : OLDEST_TYPESCRIPT}, module ${options.module}`;
  return code === 0 ? [] : [`${which}: ${named(output)}`];
}

/** Returns the packages named by their folders with all their dependencies, or all packages without names. */
function wanted(all: readonly PublicPackage[], names: readonly string[]): readonly PublicPackage[] {
  if (names.length === 0) return all;
  const chosen = new Set<PublicPackage>();
  const choose = (found: PublicPackage | undefined): void => {
    if (found === undefined || chosen.has(found)) return;
    chosen.add(found);
    for (const name of Object.keys(found.manifest.dependencies ?? {}))
      choose(all.find(({ manifest }) => manifest.name === name));
  };
  for (const name of names) {
    const found = all.find(({ folder }) => path.basename(folder) === name);
    if (found === undefined) {
      console.error(`${name} is not the folder of a public package`);
      process.exit(2);
    }
    choose(found);
  }
  return [...chosen];
}

/** Replaces file names in TypeScript's errors by the import paths. */
function named(output: string): string {
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

function run(
  command: string,
  args: readonly string[],
  cwd: string,
  timeout?: number,
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], timeout });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.once("error", (error) => resolve({ code: 127, output: error.message }));
    child.once("close", (code) => resolve({ code: code ?? 1, output: output.trim() }));
  });
}

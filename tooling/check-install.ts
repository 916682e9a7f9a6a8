/**
 * Packs every published package, installs all the tarballs together into an empty project, and there imports every entry
 * point under Node, the oldest and the newest too, without the source condition, and compiles all of them, declarations included,
 * and what a user would write, under the oldest and the newest TypeScript and each way to resolve modules. What only works
 * inside this checkout (a file that is not packed, a dependency not declared, a type that is not emitted) fails here. A program
 * of work queue, schedules, informer and embedded cluster has to print the same under every Node, Deno and Bun.
 *
 * Each also has to stay within its line of `package-budgets.json`: packages that installing it brings, itself among them; kB
 * that these take; kB of its tarball.
 *
 *   node tooling/check-install.ts            all packages, which must be built
 *   node tooling/check-install.ts workqueue  only these, with the siblings they need
 *   node tooling/check-install.ts --sizes    also prints the sizes, as the file of budgets has them
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

/** What `npm pack --json` tells of a package. */
interface Packed {
  readonly name: string;
  readonly filename: string;
  /** Of the tarball, in bytes. */
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

/** The oldest TypeScript that consumers may have; the newest is the repository's own. */
const OLDEST_TYPESCRIPT = "5.4.2";
const RESOLUTIONS = [
  { module: "node16", moduleResolution: "node16" },
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "esnext", moduleResolution: "bundler" },
];
/** Those of them that load the other package at once, and work only where it is at work: they are compiled, and not run. */
const LOADING_PEERS: ReadonlySet<string> = new Set(["@kubewright/testing/vitest"]);
const PACKED = ["package.json", "README.md", "LICENSE", "CHANGELOG.md"];
/** The tests of a template are what it is for. */
const NOT_PACKED = /\.tsbuildinfo$|^(?!template\/).*\.test(-d)?\.ts$/;
/** Programs of a user, with what has to be installed for them. */
const CONSUMERS: Readonly<Record<string, readonly string[]>> = {
  "consumer.ts": ["apiserver", "expectations", "informer", "workqueue"],
  "everywhere.ts": ["cluster"],
};
/** No program here runs for more than a few seconds, or a minute on a busy machine. */
const RUN_MS = 300_000;

/** What a package may cost whoever installs it. Sizes are in kB of 1000 bytes. */
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
/** How each other runtime runs a TypeScript file. */
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
  // The cache first: whoever built this checkout has everything but the tarballs already.
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

/** Imports every entry point, each in a process of its own, and requires all of them from one script. */
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

/** Runs a file under this Node and others. */
async function runUnderNodes(file: string): Promise<string[]> {
  const nodes = runtimes.filter(({ name }) => name.startsWith("node"));
  const wrong = await inParallel([{ name: "node", path: process.execPath }, ...nodes], async ({ name, path }) => {
    const { code, output } = await run(path, [file], project, RUN_MS);
    return code === 0 ? [] : [`${name}: ${file}: ${output}`];
  });
  return wrong.flat();
}

/** Runs a file under every runtime, and holds what it prints against this Node's. */
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
      // TypeScript lets scripts require modules since 5.8, under nodenext.
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
    // The one thing a TypeScript user on Node has that is not a dependency of the packages.
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

/** The packages named by their folders, and all they depend on; all without names. */
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

/** TypeScript's errors, with the import each is about in place of its file. */
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

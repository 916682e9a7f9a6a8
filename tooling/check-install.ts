/**
 * Packs every published package and installs all tarballs together into an empty project. There it checks the packages:
 *
 * - It imports every entry point under Node, including the oldest and the newest, without the source condition.
 * - It compiles all entry points with their declarations, and a user's program, under the oldest and the newest
 *   TypeScript and each module resolution.
 * - It runs a program with a work queue, schedules, an informer and an embedded cluster. The program must print the
 *   same under every Node, Deno and Bun.
 * - It runs the first example of every README in a folder with the packages of the README's install line only, under
 *   Node, including the oldest, Deno and Bun.
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

import { outputProblem } from "./docs/examples.ts";
import { findRuntime } from "./find-runtime.ts";
import { type FirstExample, firstExamples, installLine, linkInstalled } from "./first-examples.ts";
import { installedSize } from "./installed-size.ts";
import { type Packed, packPackages } from "./pack.ts";
import { ENTRIES_WITH_PEERS, type PublicPackage, entryPoints, publicPackages, root } from "./public-packages.ts";

/** The oldest supported TypeScript. The newest is the repository's own. */
const OLDEST_TYPESCRIPT = "5.4.2";
const RESOLUTIONS = [
  { module: "node16", moduleResolution: "node16" },
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "esnext", moduleResolution: "bundler" },
];
/** Entries that import a peer dependency when they load. They are compiled with it, but not run. */
const LOADING_PEERS: ReadonlySet<string> = new Set(["@kubewright/operator/zod", "@kubewright/testing/vitest"]);
const PACKED = ["package.json", "README.md", "LICENSE", "CHANGELOG.md"];
/** Sources and source maps are not packed, nor are tests, except those of the template, which are part of its content. */
const NOT_PACKED = /\.tsbuildinfo$|\.map$|^src\/|^(?!template\/).*\.test(-d)?\.ts$/;
/** Arguments to run an installed command with. `check-create.ts` runs the third command. */
const COMMANDS: Readonly<Record<string, { readonly bin: string; readonly args: readonly string[] }>> = {
  kubewright: { bin: "kubewright", args: ["run", "cronjob.yaml", "--for", "7d"] },
  "@kubewright/controller-manager": { bin: "kubewright-controller-manager", args: ["--version"] },
};
/** A user's programs, with the packages that they need. */
const CONSUMERS: Readonly<Record<string, readonly string[]>> = {
  "consumer.ts": ["apiserver", "expectations", "informer", "workqueue"],
  "everywhere.ts": ["cluster"],
};
const CRON_JOB = `apiVersion: batch/v1
kind: CronJob
metadata: { name: report }
spec:
  schedule: 0 3 * * *
  jobTemplate: { spec: { template: { spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] } } } }
`;
/** Runtimes that cannot run an example, with the reason. */
const NOT_UNDER: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "packages/transport-http/README.md": { bun: "Bun's own undici has no Dispatcher.dispatch" },
};
/** Programs that run without an optional peer. They print its error: one line that says what to install. */
const WITHOUT_PEERS: readonly FirstExample[] = [
  {
    file: "tooling/consumer/missing-selfsigned.ts",
    installed: ["@kubewright/operator", "@kubewright/clock"],
    text: readFileSync(path.join(root, "tooling/consumer/missing-selfsigned.ts"), "utf8"),
    expected: [
      "cannot make a certificate for webhooks without the package selfsigned: npm install selfsigned, or use the files of a certificate",
    ],
    isAll: true,
  },
];
/** Timeout of the programs, which run for a few seconds, or a minute on a busy machine. */
const RUN_MS = 300_000;

/** A runtime, with its arguments to run a TypeScript file. */
interface Runner {
  readonly name: string;
  readonly args: readonly string[];
  readonly path: string;
}

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
let problems: string[];
try {
  mkdirSync(project);
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
  const contents = packPackages(packages, scratch);
  const { examples, problems } = firstExamples(packages);

  writeFileSync(path.join(project, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }));
  // Prefers npm's cache, which contains everything except the tarballs after the build of this checkout.
  const flags = ["--silent", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  const files = contents.map(({ filename }) => path.join(scratch, "tarballs", filename));
  const ours = new Set(packages.map(({ manifest }) => manifest.name));
  const others = new Set(examples.flatMap(({ installed }) => installed).filter((name) => !ours.has(name)));
  const oldest = `typescript-oldest@npm:typescript@${OLDEST_TYPESCRIPT}`;
  const install = await run("npm", ["install", ...flags, ...files, ...others, oldest], project);
  if (install.code !== 0) return [`npm install: ${install.output}`];
  return [
    ...problems,
    ...wrongContents(contents),
    ...overBudget(contents),
    ...(await importAll()),
    ...(await runExamples(examples)),
    ...(await compileAll()),
  ];
}

function wrongContents(contents: readonly Packed[]): string[] {
  return contents.flatMap((tarball) => {
    const files = tarball.files.map((file) => file.path);
    return [
      ...PACKED.filter((file) => !files.includes(file)).map((file) => `${tarball.name} is packed without ${file}`),
      ...files.filter((file) => NOT_PACKED.test(file)).map((file) => `${tarball.name} is packed with ${file}`),
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

/** Imports every entry point, and requires all of them from one script. */
async function importAll(): Promise<string[]> {
  for (const [index, entry] of entries.entries())
    writeFileSync(path.join(project, `entry-${index}.ts`), `import * as entry from "${entry}";\nvoid entry;\n`);
  const loadable = entries.filter((entry) => !LOADING_PEERS.has(entry));
  const module = loadable.map(
    (entry) => `await import("${entry}").catch((error) => console.log("import ${entry}:", error.message));\n`,
  );
  writeFileSync(path.join(project, "import.mjs"), module.join(""));
  const { code, output } = await run(process.execPath, ["import.mjs"], project, RUN_MS);
  const wrong = code === 0 && output === "" ? [] : [`node: ${output}`];
  const script = loadable.map((entry) => `require("${entry}");\n`);
  writeFileSync(path.join(project, "require.cjs"), script.join(""));
  return [...wrong, ...(await runUnderNodes("require.cjs"))];
}

/** Runs the first examples of the READMEs, and the commands, each in a folder with its install line only. */
async function runExamples(examples: readonly FirstExample[]): Promise<string[]> {
  const folders = new Map<string, string>();
  const folderWith = (installed: readonly string[]): string => {
    const key = [...installed].sort().join();
    const folder = folders.get(key) ?? path.join(scratch, "examples", String(folders.size));
    if (!folders.has(key)) linkInstalled(project, installed, folder);
    folders.set(key, folder);
    return folder;
  };
  const everywhere: readonly Runner[] = [
    { name: "node", args: [], path: process.execPath },
    ...runtimes.filter(({ name }) => name !== "node-26"),
  ];
  const withoutPeers = WITHOUT_PEERS.filter(({ installed }) =>
    installed.every((name) => packages.some(({ manifest }) => manifest.name === name)),
  );
  const runs = [...examples, ...withoutPeers].flatMap((example, index) => {
    const folder = folderWith(example.installed);
    writeFileSync(path.join(folder, `example-${index}.ts`), example.text);
    return everywhere.map((runner) => async (): Promise<string[]> => {
      const reason = NOT_UNDER[example.file]?.[runner.name];
      if (reason !== undefined) {
        console.log(`skipped: the example of ${example.file} under ${runner.name}: ${reason}`);
        return [];
      }
      const ran = await run(runner.path, [...runner.args, `example-${index}.ts`], folder, RUN_MS);
      const problem = ran.code === 0 ? outputProblem(example, ran.stdout) : `exited with ${ran.code}: ${ran.output}`;
      return problem === undefined ? [] : [`${example.file}: the example, under ${runner.name}, ${problem}`];
    });
  });
  const commands = packages.flatMap(({ manifest: { name } }) => {
    const command = COMMANDS[name];
    if (command === undefined) return [];
    const { bin, args } = command;
    const folder = folderWith([name]);
    writeFileSync(path.join(folder, "cronjob.yaml"), CRON_JOB);
    const file = path.join(folder, "node_modules", name, "bin", `${bin}.js`);
    return everywhere
      .filter((runner) => runner.name.startsWith("node"))
      .map((runner) => async (): Promise<string[]> => {
        const { code, output } = await run(runner.path, [file, ...args], folder, RUN_MS);
        return code === 0 ? [] : [`${runner.name}: ${bin} ${args.join(" ")} exited with ${code}: ${output}`];
      });
  });
  return (await inParallel([...runs, ...commands], (work) => work())).flat();
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

/**
 * Returns the packages named by their folders, with all their dependencies and what their READMEs install; or all
 * packages without names.
 */
function wanted(all: readonly PublicPackage[], names: readonly string[]): readonly PublicPackage[] {
  if (names.length === 0) return all;
  const chosen = new Set<PublicPackage>();
  const choose = (found: PublicPackage | undefined): void => {
    if (found === undefined || chosen.has(found)) return;
    chosen.add(found);
    const { dependencies = {}, peerDependencies = {} } = found.manifest;
    const installed = installLine(readFileSync(path.join(found.folder, "README.md"), "utf8"));
    for (const name of [...Object.keys(dependencies), ...Object.keys(peerDependencies), ...installed])
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
): Promise<{ code: number; stdout: string; output: string }> {
  return new Promise((resolve) => {
    // Deno writes colours for any value of FORCE_COLOR.
    const env = { ...process.env, FORCE_COLOR: undefined, NO_COLOR: "1" };
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], timeout, env });
    let stdout = "";
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
      output += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.once("error", (error) => resolve({ code: 127, stdout, output: error.message }));
    child.once("close", (code) => resolve({ code: code ?? 1, stdout, output: output.trim() }));
  });
}

/**
 * `npm run release:rehearse`: executes all steps of a release without publishing. Uses the committed files and the
 * output of `npm run build`. Leaves the packages as tarballs in `.release/packages`, and prints the command that
 * installs them.
 *
 *     node tooling/release/rehearse.ts                   all of it
 *     node tooling/release/rehearse.ts tarballs images   only these: tarballs, packages, executable, images
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { parse } from "yaml";

import { freePort } from "../../conformance/free-port.ts";
import { ENTRIES_WITH_PEERS, entryPoints, publicPackages, root } from "../public-packages.ts";
import { takeDockerfileSteps } from "./dockerfile-steps.ts";
import { startRegistry } from "./registry.ts";
import { installCommand, packTarballs } from "./tarballs.ts";

const wanted = process.argv.slice(2);
const scratch = mkdtempSync(path.join(tmpdir(), "release-rehearsal-"));
const JOB = `apiVersion: batch/v1
kind: Job
metadata: { name: pi }
spec: { template: { spec: { restartPolicy: Never, containers: [{ name: pi, image: perl }] } } }
`;
try {
  for (const [name, rehearse] of Object.entries({ tarballs, packages, executable, images })) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const started = performance.now();
    await rehearse(path.join(scratch, name));
    console.log(`ok  ${name} in ${((performance.now() - started) / 1000).toFixed(0)} s`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** Packs the built packages of this checkout, and installs and runs them in an empty folder. */
async function tarballs(folder: string): Promise<void> {
  for (const { directory } of publicPackages())
    if (!existsSync(path.join(root, directory, "dist"))) throw new Error(`${directory} is not built: npm run build`);
  const target = path.join(root, ".release/packages");
  const files = packTarballs(root, target, run);
  const command = installCommand(target);
  mkdirSync(folder, { recursive: true });
  // The packages must not be requested from npm, where others may own their names.
  const env = {
    "npm_config_@kubewright:registry": "http://127.0.0.1:9/",
    npm_config_fetch_retries: "0",
    npm_config_prefer_offline: "true",
  };
  run("bash", ["-c", `${command} --no-audit --no-fund`], folder, env);
  const { packages } = readJson(path.join(folder, "package-lock.json")) as {
    packages: Record<string, { resolved?: string }>;
  };
  for (const { manifest } of publicPackages())
    if (!packages[`node_modules/${manifest.name}`]?.resolved?.startsWith("file:"))
      throw new Error(`${command} takes ${manifest.name} from elsewhere`);
  const help = run("npx", ["kubewright", "--help"], folder, env);
  if (!help.includes("Usage: kubewright")) throw new Error(`npx kubewright --help printed\n${help}`);
  console.log(`    ${files.length} tarballs. Install them in any folder:\n\n    ${command}\n`);
}

/**
 * Versions the packages, publishes them to a local registry, installs them in an empty folder, and runs and imports
 * them.
 */
async function packages(folder: string): Promise<void> {
  const checkout = commitOf(path.join(folder, "checkout"));
  symlinkSync(path.join(root, "node_modules"), path.join(checkout, "node_modules"));
  for (const { directory } of publicPackages()) {
    const built = path.join(root, directory, "dist");
    if (!existsSync(built)) throw new Error(`${directory} is not built: npm run build`);
    cpSync(built, path.join(checkout, directory, "dist"), { recursive: true });
  }
  const changeset = path.join(root, "node_modules/.bin/changeset");
  run(changeset, ["version"], checkout);
  const { version } = readJson(path.join(checkout, "packages/api/package.json")) as { version: string };
  for (const { directory } of publicPackages()) {
    const released = readJson(path.join(checkout, directory, "package.json")) as { name: string; version: string };
    if (released.version !== version) throw new Error(`${released.name} is ${released.version}, others are ${version}`);
    const changes = readFileSync(path.join(checkout, directory, "CHANGELOG.md"), "utf8");
    if (!changes.includes(`## ${version}\n`)) throw new Error(`${directory}/CHANGELOG.md has nothing of ${version}`);
  }
  run(process.execPath, ["tooling/published-manifest.ts"], checkout);
  const registry = await startRegistry(path.join(folder, "registry"));
  try {
    const env = { npm_config_userconfig: path.join(folder, "registry/.npmrc"), npm_config_registry: registry.url };
    run(changeset, ["publish", "--no-git-tag"], checkout, env);

    const project = path.join(folder, "project");
    mkdirSync(project);
    // `npm sbom` requires a name and a version.
    writeFileSync(
      path.join(project, "package.json"),
      JSON.stringify({ name: "empty", version: "0.0.0", private: true, type: "module" }),
    );
    const names = publicPackages().map(({ manifest }) => manifest.name);
    run("npm", ["install", "--no-audit", "--no-fund", ...names.map((name) => `${name}@${version}`)], project, env);
    const lock = JSON.stringify(readJson(path.join(project, "package-lock.json")));
    for (const name of names)
      if (!lock.includes(`"node_modules/${name}":{"version":"${version}"`)) throw new Error(`${name} is not installed`);
    writeFileSync(path.join(project, "job.yaml"), JOB);
    const timeline = run("npx", ["--no", "kubewright", "run", "job.yaml"], project, env);
    if (!timeline.includes("Complete in")) throw new Error(`npx kubewright run printed\n${timeline}`);
    run("npx", ["--no", "--", "kubewright-controller-manager", "--version"], project, env);
    const entries = publicPackages()
      .flatMap(({ manifest }) => entryPoints(manifest).map(({ entry }) => entry))
      .filter((entry) => !(entry in ENTRIES_WITH_PEERS));
    writeFileSync(path.join(project, "all.mjs"), entries.map((entry) => `await import("${entry}");\n`).join(""));
    run(process.execPath, ["all.mjs"], project);
    for (const format of ["cyclonedx", "spdx"]) {
      const bom = run("npm", ["sbom", `--sbom-format=${format}`, "--omit=dev"], project, env);
      const { components, packages } = JSON.parse(bom) as Record<"components" | "packages", { name: string }[]>;
      const listed = new Set((components ?? packages).map(({ name }) => name));
      for (const name of [...names, "undici"])
        if (!listed.has(name)) throw new Error(`the SBOM (${format}) lacks ${name}`);
    }
    console.log(
      `    ${names.length} packages of version ${version}: published, installed, run, imported, listed in an SBOM`,
    );
  } finally {
    await registry.close();
  }
}

/** Builds the executable, and runs it without access to Node and the checkout. */
async function executable(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const archives = path.join(folder, "archives");
  run(process.execPath, [path.join(root, "tooling/release/build-executable.ts"), archives], root);
  const archive = `kubewright-${process.platform}-${process.arch}.tar.gz`;
  const installed = path.join(folder, "installed");
  mkdirSync(installed);
  run("tar", ["-xzf", path.join(archives, archive), "-C", installed], folder);
  const program = path.join(installed, "kubewright");
  const env = { PATH: "/nowhere" };
  cpSync(path.join(root, "examples"), path.join(folder, "examples"), { recursive: true });
  const timeline = run(program, ["run", "examples", "--html", "report.html"], folder, env);
  if (!/^Jobs +\d+ run/m.test(timeline)) throw new Error(`kubewright run printed\n${timeline}`);
  const { version } = readJson(path.join(root, "apps/simulator/package.json")) as { version: string };
  const printed = run(program, ["--version"], folder, env).trim();
  if (printed !== version) throw new Error(`kubewright --version printed ${printed}`);

  const port = await freePort();
  await whileRunning(
    program,
    ["serve", "--port", String(port)],
    { cwd: folder, env, readyText: "kubewright is ready" },
    async () => {
      const page = await (await fetch(`http://127.0.0.1:${port}/ui/`)).text();
      if (!page.includes("<script")) throw new Error(`the page is\n${page.slice(0, 500)}`);
      const pods = await fetch(`http://127.0.0.1:${port}/api/v1/pods`);
      if (!pods.ok) throw new Error(`pods: ${pods.status}`);
    },
  );

  const krew = [path.join(root, "tooling/release/krew-manifest.ts"), version, archives, "--present"];
  const { spec } = parse(run(process.execPath, krew, root)) as {
    spec: { platforms: { uri: string; sha256: string }[] };
  };
  const [platform] = spec.platforms;
  const digest = readFileSync(path.join(archives, `${archive}.sha256`), "utf8").slice(0, 64);
  if (spec.platforms.length !== 1 || platform!.sha256 !== digest || !platform!.uri.endsWith(`/v${version}/${archive}`))
    throw new Error(`the krew manifest has ${JSON.stringify(spec.platforms)}`);
  console.log(`    ${archive} runs the examples and serves the page; the krew manifest has its digest`);
}

/** Executes the steps of the Dockerfiles, and starts the entry points of the images. */
async function images(folder: string): Promise<void> {
  const npm = (command: string, cwd: string): void => void run("bash", ["-euc", command], cwd);
  const context = commitOf(path.join(folder, "context"));
  for (const ignored of readFileSync(path.join(root, ".dockerignore"), "utf8").split("\n"))
    if (ignored !== "" && !ignored.includes("*")) rmSync(path.join(context, ignored), { recursive: true, force: true });
  for (const file of ["Dockerfile", "serve.Dockerfile"]) {
    const linted = run("npx", ["--yes", "dockerfilelint@1.8.0", path.join(root, "deploy", file)], tmpdir());
    if (!linted.includes("None found")) throw new Error(linted);
    const image = takeDockerfileSteps(path.join(root, "deploy", file), {
      context,
      scratch: path.join(folder, file),
      run: npm,
    });
    if (!/^\d+:\d+$/.test(image.user) || image.user.startsWith("0")) throw new Error(`${file} runs as ${image.user}`);
    const [, ...args] = image.entrypoint;
    const cwd = path.join(image.folder, image.workingDirectory);
    if (file === "Dockerfile") run(process.execPath, [...args, "--version"], cwd, image.environment);
    else {
      const serve = [...args, "serve", "--port", String(await freePort())];
      const options = { cwd, env: image.environment, readyText: "kubewright is ready" };
      await whileRunning(process.execPath, serve, options, async () => {});
    }
    console.log(`    deploy/${file}: no findings, its steps succeed, its entry point starts`);
  }
}

/** Clones the committed files. */
function commitOf(folder: string): string {
  run("git", ["clone", "--quiet", "--no-hardlinks", root, folder], root);
  return folder;
}

function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    timeout: 900_000,
    maxBuffer: 64 * 2 ** 20,
    env: { ...process.env, ...env },
  });
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? `exit status ${status}`}\n${stdout}${stderr}`);
}

/** Starts a program, calls `act` when the program prints its ready text, and then ends it. */
async function whileRunning(
  command: string,
  args: readonly string[],
  { cwd, env, readyText }: { cwd: string; env: Readonly<Record<string, string>>; readyText: string },
  act: () => Promise<void>,
): Promise<void> {
  const child: ChildProcess = spawn(command, args, { cwd, env: { ...process.env, ...env }, timeout: 60_000 });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  try {
    let output = "";
    const ready = new Promise<void>((resolve) => {
      for (const stream of [child.stdout!, child.stderr!])
        stream.on("data", (chunk: Buffer) => {
          output += chunk.toString();
          if (output.includes(readyText)) resolve();
        });
    });
    const code = await Promise.race([ready.then(() => undefined), exited]);
    if (code !== undefined) throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${output}`);
    await act();
  } finally {
    child.kill("SIGTERM");
    await exited;
  }
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}

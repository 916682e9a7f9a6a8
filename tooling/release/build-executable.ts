/**
 * Builds the single-file executable of `kubewright` for this platform: the command and its imports as one script,
 * inside a copy of Node, with the page's files. Needs the output of `npm run build`. Writes an archive with licences,
 * and its SHA-256, into a folder (default `.release`).
 *
 *     node tooling/release/build-executable.ts [FOLDER]
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import { type Metafile, build } from "esbuild";

import { findRuntime } from "../find-runtime.ts";
import { root } from "../public-packages.ts";

const app = path.join(root, "apps/simulator");
const target = path.resolve(process.argv[2] ?? path.join(root, ".release"));
const os = process.platform === "win32" ? "windows" : process.platform;
const name = `kubewright-${os}-${process.arch}`;
const folder = path.join(target, name);
const program = path.join(folder, process.platform === "win32" ? "kubewright.exe" : "kubewright");
const script = path.join(target, `${name}.mjs`);

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const { metafile } = await build({
  entryPoints: [path.join(app, "src/main.ts")],
  outfile: script,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node22",
  conditions: ["@kubewright/source"],
  legalComments: "none",
  logLevel: "warning",
  metafile: true,
  absWorkingDir: root,
  // Bundled CommonJS modules require Node's modules.
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(process.execPath);' },
});

const config = path.join(target, `${name}.json`);
writeFileSync(
  config,
  JSON.stringify({
    main: script,
    mainFormat: "module",
    output: program,
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    assets: {
      "package.json": path.join(app, "package.json"),
      "page.js": path.join(app, "dist/page.js"),
      "page.css": path.join(app, "dist/page.css"),
    },
  }),
);
const node = nodeThatBuilds();
run(node, ["--build-sea", config]);
// The signature of the copied Node is invalid, and macOS does not start unsigned programs.
if (process.platform === "darwin") run("codesign", ["--sign", "-", "--force", program]);
copyFileSync(path.join(root, "LICENSE"), path.join(folder, "LICENSE"));
writeFileSync(path.join(folder, "THIRD-PARTY-LICENSES"), thirdPartyLicences(metafile, node));
for (const made of [script, config]) rmSync(made);

const archive = path.join(target, `${name}.tar.gz`);
run("tar", ["-czf", archive, "-C", folder, "."]);
const sha256 = createHash("sha256").update(readFileSync(archive)).digest("hex");
writeFileSync(`${archive}.sha256`, `${sha256}  ${name}.tar.gz\n`);
console.log(`${program}\n${archive}\nsha256 ${sha256}`);

/** Returns a Node that can build executables from ES modules: 26 or newer. The repository runs on 24, which cannot. */
function nodeThatBuilds(): string {
  if (Number(process.versions.node.split(".")[0]) >= 26) return process.execPath;
  const found = findRuntime("node-26");
  if ("path" in found) return found.path;
  throw new Error(`an executable is made with Node 26 or newer, which cannot be installed here: ${found.missing}`);
}

/** Returns the licences of Node and of every bundled package. */
function thirdPartyLicences({ inputs }: Metafile, node: string): string {
  const packages = new Set(
    Object.keys(inputs).flatMap((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.slice(1) ?? []),
  );
  const texts = [...packages].sort().map((directory) => {
    const { name, version, license } = JSON.parse(
      readFileSync(path.join(root, directory, "package.json"), "utf8"),
    ) as Readonly<Record<"name" | "version" | "license", string>>;
    const files = readdirSync(path.join(root, directory)).filter((file) => /^(licen[cs]e|notice)/i.test(file));
    const text = files.map((file) => readFileSync(path.join(root, directory, file), "utf8").trim());
    return [`${name} ${version} (${license})`, ...text].join("\n\n");
  });
  // Beside the program in Node's archives; one folder up in its npm package.
  const ofNode = ["../LICENSE", "LICENSE"].map((file) => path.join(path.dirname(node), file)).find(existsSync);
  const nodes =
    ofNode === undefined ? "https://github.com/nodejs/node/blob/main/LICENSE" : readFileSync(ofNode, "utf8");
  return [...texts, `Node.js\n\n${nodes.trim()}`].join(`\n\n${"-".repeat(80)}\n\n`);
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: "utf8", timeout: 120_000 });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? stderr}`);
}

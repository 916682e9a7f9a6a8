import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import { type Metafile, type Plugin, build } from "esbuild";

import { lazyExpressions, lazySharding, withoutExternalClients } from "../../simulator/browser-plugin.ts";
import { generatedModules } from "./generated-modules.ts";

const PAGE = path.join(import.meta.dirname, "page");
/** Folder of the files with content hashes in their names, which can be cached permanently. */
const ASSETS = "assets";

/**
 * Builds the playground as static files for any web server: an `index.html`, and files with content hashes in their
 * names.
 *
 * @param outDir - Output folder, emptied first.
 */
export async function buildPlayground(outDir: string): Promise<void> {
  await rm(outDir, { recursive: true, force: true });
  await mkdir(outDir, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: PAGE,
    entryPoints: {
      first: "engine/first-worker.ts",
      playground: "main.ts",
      engine: "engine/worker.ts",
      style: "playground.css",
      icon: "icon.svg",
    },
    outdir: path.resolve(outDir, ASSETS),
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    format: "esm",
    splitting: true,
    target: "es2022",
    platform: "browser",
    conditions: ["@kubewright/source"],
    minify: true,
    legalComments: "linked",
    metafile: true,
    logLevel: "warning",
    loader: { ".yaml": "text", ".svg": "copy" },
    plugins: [generatedModules(), sharedYaml, lazyExpressions, lazySharding, withoutExternalClients],
  });
  const html = await readFile(path.join(PAGE, "index.html"), "utf8");
  const [first, script, engine] = ["engine/first-worker.ts", "main.ts", "engine/worker.ts"].map((source) =>
    builtFrom(metafile, source),
  );
  const values: Readonly<Record<string, string>> = {
    first: urlOf(first!),
    script: urlOf(script!),
    engine: urlOf(engine!),
    style: urlOf(builtFrom(metafile, "playground.css")),
    icon: urlOf(builtFrom(metafile, "icon.svg")),
    // Preloads the imports of both scripts before the scripts are parsed. Imports of the engine are excluded: a preload
    // for the page would parse them there and again in the worker.
    chunks: [...importsOf(metafile, first!, script!)]
      .map((file) => `<link rel="modulepreload" href="${urlOf(file)}" />`)
      .join("\n    "),
  };
  const filled = html.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name]!);
  await writeFile(path.join(outDir, "index.html"), filled);
  await buildServiceWorker(outDir, ["./", ...Object.keys(metafile.outputs).filter(isKept).map(urlOf)], filled);
}

/** Resolves the YAML library as the packages do, so that it is not bundled twice: the site's tools install another copy. */
const sharedYaml: Plugin = {
  name: "shared YAML library",
  setup: (builder) => {
    const resolveDir = path.join(import.meta.dirname, "../../../packages/analysis");
    builder.onResolve({ filter: /^yaml$/ }, ({ kind, pluginData }) =>
      pluginData === resolveDir ? undefined : builder.resolve("yaml", { kind, resolveDir, pluginData: resolveDir }),
    );
  },
};

async function buildServiceWorker(outDir: string, files: readonly string[], html: string): Promise<void> {
  await build({
    entryPoints: [path.join(PAGE, "offline/service-worker.ts")],
    outfile: path.join(outDir, "service-worker.js"),
    bundle: true,
    format: "iife",
    target: "es2022",
    minify: true,
    logLevel: "warning",
    define: {
      FILES: JSON.stringify(files),
      // Hash of the page and of all file names it depends on.
      VERSION: JSON.stringify(createHash("sha256").update(html).update(files.join()).digest("hex").slice(0, 16)),
    },
  });
}

function isKept(file: string): boolean {
  return !file.endsWith(".txt");
}

function urlOf(file: string): string {
  return `./${ASSETS}/${path.basename(file)}`;
}

/** Returns all static imports of files, transitively, without the files themselves. */
function importsOf({ outputs }: Metafile, ...files: readonly string[]): ReadonlySet<string> {
  const needed = new Set(files);
  for (const file of needed)
    for (const { path: imported, kind } of outputs[file]!.imports)
      if (kind === "import-statement") needed.add(imported);
  for (const file of files) needed.delete(file);
  return needed;
}

function builtFrom({ outputs }: Metafile, source: string): string {
  const found = Object.entries(outputs).find(
    ([, { entryPoint, inputs }]) => entryPoint === source || (source.endsWith(".svg") && source in inputs),
  );
  if (found === undefined) throw new Error(`the build made nothing of ${source}`);
  return found[0];
}

import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import { type Metafile, build } from "esbuild";

import { lazyExpressions, lazySharding, withoutExternalClients } from "../../simulator/browser-plugin.ts";
import { generatedModules } from "./generated-modules.ts";

const PAGE = path.join(import.meta.dirname, "page");
/** Everything that may be kept for ever, by names that tell one version from another. */
const ASSETS = "assets";

/**
 * Builds the playground into a folder, from which any web server can hand it out: an `index.html`, and beside it files whose
 * names change with what is in them.
 *
 * @param outDir - emptied first
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
    plugins: [generatedModules(), lazyExpressions, lazySharding, withoutExternalClients],
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
    // Asked for at once, and not only when what imports them is read. Those of the engine are not: what is loaded for a page is
    // read for it as well, and for its worker once more.
    chunks: [...importsOf(metafile, first!, script!)]
      .map((file) => `<link rel="modulepreload" href="${urlOf(file)}" />`)
      .join("\n    "),
  };
  const filled = html.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name]!);
  await writeFile(path.join(outDir, "index.html"), filled);
  await buildServiceWorker(outDir, ["./", ...Object.keys(metafile.outputs).filter(isKept).map(urlOf)], filled);
}

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
      // Of the page and of all names that it depends on.
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

/** All that files need before they can begin, themselves left out. */
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

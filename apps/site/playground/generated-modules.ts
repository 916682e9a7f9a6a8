import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import type { Plugin } from "esbuild";
import { build } from "tsup";

import { page, style } from "../../simulator/tsup.config.ts";
import { apiSchema } from "./api-schema.ts";

const simulator = path.resolve(import.meta.dirname, "../../simulator");

/** Plugin for generated modules. Their types are in `page/generated-modules.d.ts`. */
export function generatedModules(): Plugin {
  const make: Readonly<Record<string, () => Promise<unknown>>> = {
    schemas,
    "page-files": pageFiles,
  };
  return {
    name: "generated-modules",
    setup: (bundle) => {
      bundle.onResolve({ filter: /^playground:/ }, ({ path: name }) => ({
        path: name.slice("playground:".length),
        namespace: "made",
      }));
      bundle.onLoad({ filter: /./, namespace: "made" }, async ({ path: name }) => ({
        contents: JSON.stringify(await make[name]!()),
        loader: "json",
      }));
    },
  };
}

async function schemas(): Promise<unknown> {
  const scenario = await readFile(path.join(simulator, "scenario.schema.json"), "utf8");
  return { api: await apiSchema(), scenario: JSON.parse(scenario) as unknown };
}

/** Builds the script and the style sheet of the reports of `kubewright run --html`. */
async function pageFiles(): Promise<unknown> {
  const folder = await mkdtemp(path.join(tmpdir(), "kubewright-playground-"));
  try {
    for (const options of [page, style])
      await build({ ...options, config: false, outDir: folder, entry: fromSimulator(options.entry) });
    const [script, css] = await Promise.all(
      ["page.js", "page.css"].map((name) => readFile(path.join(folder, name), "utf8")),
    );
    return { script, style: css };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function fromSimulator(entry: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(entry).map(([name, file]) => [name, path.resolve(simulator, file)]));
}

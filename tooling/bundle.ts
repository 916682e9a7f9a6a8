/**
 * Bundles a package and the siblings that it depends on, in one process and without declarations. The JavaScript is the
 * same as that of `npm run build`, which takes several times as long.
 *
 *     node tooling/bundle.ts apps/simulator
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { type Options, build } from "tsup";

import { type Manifest, type PublicPackage, publicPackages, root } from "./public-packages.ts";

const packages = new Map(publicPackages().map((found) => [found.manifest.name, found]));
const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error("name the folder of a package, such as apps/simulator");
const { name } = JSON.parse(readFileSync(path.join(root, directory, "package.json"), "utf8")) as Manifest;
for (const { folder } of withSiblings(name)) {
  const config = (await import(pathToFileURL(path.join(folder, "tsup.config.ts")).href)) as { default: unknown };
  // tsup reads the manifest of the current folder. esbuild resolves in the folder in which it was loaded.
  process.chdir(folder);
  for (const options of [config.default].flat() as Options[])
    await build({
      ...options,
      config: false,
      esbuildOptions: (esbuild, context) => {
        esbuild.absWorkingDir = folder;
        options.esbuildOptions?.(esbuild, context);
      },
    });
}

/** Returns the package with that name and all siblings that it depends on, transitively. */
function withSiblings(name: string): readonly PublicPackage[] {
  const found = new Set([name]);
  for (const each of found)
    for (const dependency of Object.keys(packages.get(each)?.manifest.dependencies ?? {}))
      if (packages.has(dependency)) found.add(dependency);
  return [...found].flatMap((each) => packages.get(each) ?? []);
}

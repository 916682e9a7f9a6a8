/**
 * The manifest of a package as it is published: without the condition for its sources, which are not packed. In the
 * checkout the condition makes tests, type checks and bundles read the sources.
 *
 *     node tooling/published-manifest.ts  rewrites the manifests of this checkout, before `changeset publish`
 */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";

import { type Manifest, publicPackages } from "./public-packages.ts";

const SOURCE_CONDITION = "@kubewright/source";

/** Returns the published text of a manifest. */
export function publishedManifest(text: string): string {
  const manifest = JSON.parse(text) as Manifest;
  const exports = Object.fromEntries(
    Object.entries(manifest.exports ?? {}).map(([key, target]) => [key, withoutSource(target)]),
  );
  const { sideEffects } = manifest;
  const published = {
    ...manifest,
    exports,
    // A package has side effects in both, sources and output.
    ...(Array.isArray(sideEffects) ? { sideEffects: sideEffects.filter((file) => !file.startsWith("./src/")) } : {}),
  };
  return `${JSON.stringify(published, null, 2)}\n`;
}

function withoutSource(target: string | Readonly<Record<string, string>>): string | Readonly<Record<string, string>> {
  if (typeof target === "string") return target;
  const { [SOURCE_CONDITION]: _source, ...conditions } = target;
  return conditions;
}

if (process.argv[1] === import.meta.filename)
  for (const { folder } of publicPackages()) {
    const file = path.join(folder, "package.json");
    writeFileSync(file, publishedManifest(readFileSync(file, "utf8")));
  }

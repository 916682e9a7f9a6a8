import { readFile } from "node:fs/promises";
import { getAsset, isSea } from "node:sea";

/** A file that is shipped with the command: beside the built script, or as an asset of the single-file executable. */
export type OwnFile = "package.json" | "page.css" | "page.js";

export async function readOwnFile(name: OwnFile): Promise<string> {
  if (isSea()) return getAsset(name, "utf8");
  return readFile(new URL(name === "package.json" ? "../package.json" : `./${name}`, import.meta.url), "utf8");
}

/**
 * Returns the module that builds mutants (known bugs), or `undefined` in the single-file executable. The module exists
 * only in a checkout of the repository.
 */
export function mutantKitFile(): URL | undefined {
  return isSea() ? undefined : new URL("../../../packages/simulation/mutants/build.ts", import.meta.url);
}

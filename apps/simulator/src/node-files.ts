import { readFile } from "node:fs/promises";
import { getAsset, isSea } from "node:sea";

/** A file that comes with the command: beside the built script, or within the single-file executable. */
export type OwnFile = "package.json" | "page.css" | "page.js";

export async function readOwnFile(name: OwnFile): Promise<string> {
  if (isSea()) return getAsset(name, "utf8");
  return readFile(new URL(name === "package.json" ? "../package.json" : `./${name}`, import.meta.url), "utf8");
}

/** What builds known bugs, if this is a checkout of the repository: beside the workspace of the command, which holds `dist` and `src`. */
export function mutantKitFile(): URL | undefined {
  return isSea() ? undefined : new URL("../../../packages/simulation/mutants/build.ts", import.meta.url);
}

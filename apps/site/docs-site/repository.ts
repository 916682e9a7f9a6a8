import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

/** Root folder of the checkout. */
export const root = path.resolve(import.meta.dirname, "../../..");
export const REPOSITORY = "https://github.com/kubewright/kubewright";

export function readText(file: string): string {
  return readFileSync(path.join(root, file), "utf8");
}

/** Returns the URL of a file or folder in the repository, or `undefined` when it does not exist. */
export function sourceUrl(file: string): string | undefined {
  const there = path.join(root, file);
  if (!existsSync(there)) return undefined;
  return `${REPOSITORY}/${statSync(there).isDirectory() ? "tree" : "blob"}/main/${file}`;
}

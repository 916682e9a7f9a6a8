import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

/** Of the checkout. */
export const root = path.resolve(import.meta.dirname, "../../..");
export const REPOSITORY = "https://github.com/kubewright/kubewright";

export function readText(file: string): string {
  return readFileSync(path.join(root, file), "utf8");
}

/** Where a file or folder of the checkout is shown, or `undefined` where there is none of that name. */
export function sourceUrl(file: string): string | undefined {
  const there = path.join(root, file);
  if (!existsSync(there)) return undefined;
  return `${REPOSITORY}/${statSync(there).isDirectory() ? "tree" : "blob"}/main/${file}`;
}

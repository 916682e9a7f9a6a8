import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";

/**
 * The Node 22 of `tooling/node-22`, the oldest that is supported, installed when it is not there. It is a package of its
 * own, so that `node` in scripts stays the repository's. Answers why there is none, where it cannot be had.
 */
export function findNode22(): { path: string } | { missing: string } {
  const folder = path.join(import.meta.dirname, "node-22");
  const found = path.join(folder, "node_modules", `node-${process.platform}-${process.arch}`, "bin/node");
  if (existsSync(found)) return { path: found };
  const { status, stderr, error } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: folder,
    encoding: "utf8",
    timeout: 180_000,
  });
  if (existsSync(found)) return { path: found };
  const why = error?.message ?? (status === 0 ? `no package for ${process.platform} ${process.arch}` : stderr.trim());
  return { missing: why.split("\n").slice(0, 3).join(" ") };
}

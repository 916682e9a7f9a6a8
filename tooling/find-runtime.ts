import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";

/** Path of the program in each runtime's package for this platform. */
const PROGRAMS = {
  "node-22": `node-${process.platform}-${process.arch}/bin/node`,
  "node-26": `node-${process.platform}-${process.arch}/bin/node`,
  deno: `@deno/${process.platform}-${process.arch}-glibc/deno`,
  bun: `@oven/bun-${process.platform}-${process.arch === "arm64" ? "aarch64" : `${process.arch}-baseline`}/bin/bun`,
} as const;

export type Runtime = keyof typeof PROGRAMS;

/**
 * Returns the path of a JavaScript runtime: the oldest supported Node, the newest Node, Deno or Bun. Installs it when
 * it is missing. Each is a package in `tooling/runtimes`, so that `node` in scripts remains the repository's and `npm
 * ci` stays small. Returns the reason when the installation fails.
 */
export function findRuntime(name: Runtime): { path: string } | { missing: string } {
  const folder = path.join(import.meta.dirname, "runtimes", name);
  const found = path.join(folder, "node_modules", PROGRAMS[name]);
  if (existsSync(found)) return { path: found };
  const { status, stderr, error } = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: folder,
    encoding: "utf8",
    timeout: 180_000,
  });
  if (existsSync(found)) return { path: found };
  const why = error?.message ?? (status === 0 ? `no package for ${process.platform} ${process.arch}` : stderr.trim());
  return { missing: why.split("\n").slice(0, 3).join(" ") };
}

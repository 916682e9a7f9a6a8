import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import type { PublicPackage } from "./public-packages.ts";
import { publishedManifest } from "./published-manifest.ts";

/** A package in the output of `npm pack --json`. */
export interface Packed {
  readonly name: string;
  readonly filename: string;
  /** Size of the tarball in bytes. */
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

/** What npm packs whether or not the manifest names it. */
const ALWAYS = ["README.md", "LICENSE"];

/**
 * Packs built packages into tarballs with the content of a release.
 *
 * @param scratch - An empty folder. The tarballs are in its folder `tarballs`.
 * @throws Error with npm's output.
 */
export function packPackages(packages: readonly PublicPackage[], scratch: string): readonly Packed[] {
  const tarballs = path.join(scratch, "tarballs");
  mkdirSync(tarballs);
  const copies = packages.map((found) => copyPublished(found, path.join(scratch, "copies", found.directory)));
  const args = ["pack", "--json", "--silent", "--ignore-scripts", "--pack-destination", tarballs, ...copies];
  const { status, stdout, stderr } = spawnSync("npm", args, {
    cwd: scratch,
    encoding: "utf8",
    maxBuffer: 64 * 2 ** 20,
  });
  if (status !== 0) throw new Error(`npm pack: ${stdout}${stderr}`);
  return Object.values(JSON.parse(stdout) as Readonly<Record<string, Packed>>);
}

/** Copies what a package publishes. Returns the folder of the copy. */
function copyPublished({ folder, manifest }: PublicPackage, copy: string): string {
  mkdirSync(copy, { recursive: true });
  const { files = [] } = manifest;
  for (const file of new Set([...ALWAYS, ...files.filter((pattern) => !pattern.startsWith("!"))]))
    if (existsSync(path.join(folder, file)))
      cpSync(path.join(folder, file), path.join(copy, file), { recursive: true });
  const text = readFileSync(path.join(folder, "package.json"), "utf8");
  writeFileSync(path.join(copy, "package.json"), publishedManifest(text));
  return copy;
}

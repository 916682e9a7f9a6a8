import { mkdirSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";

import { publicPackages } from "../public-packages.ts";

/** Runs a program in a folder, and returns its output. @throws Error when it fails. */
export type Run = (command: string, args: readonly string[], cwd: string) => string;

/**
 * Packs every public package of a built checkout, as `npm publish` does, into a folder that contains nothing else
 * afterwards.
 *
 * @returns The names of the files.
 */
export function packTarballs(checkout: string, folder: string, run: Run): string[] {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const workspaces = publicPackages().map(({ directory }) => `--workspace=${directory}`);
  run("npm", ["pack", "--silent", "--ignore-scripts", `--pack-destination=${folder}`, ...workspaces], checkout);
  const files = readdirSync(folder);
  if (files.length !== workspaces.length)
    throw new Error(`${folder} has ${files.length} tarballs of ${workspaces.length} packages`);
  return files;
}

/**
 * Returns a shell command that installs all packages from a folder of tarballs. They satisfy each other's dependencies,
 * so npm asks its registry only for third parties.
 */
export function installCommand(folder: string): string {
  const quoted = /^[\w./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", String.raw`'\''`)}'`;
  return `npm install ${quoted}${path.posix.sep}*.tgz`;
}

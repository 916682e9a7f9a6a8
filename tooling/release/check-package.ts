/**
 * Checks the tarball of the package in this folder with publint and attw. The package must be built.
 *
 *     node ../../tooling/release/check-package.ts [OPTION-OF-ATTW…]
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";

import { packPackages } from "../pack.ts";
import { publicPackages, root } from "../public-packages.ts";

const scratch = mkdtempSync(path.join(tmpdir(), "check-package-"));
try {
  const own = publicPackages().filter(({ folder }) => folder === process.cwd());
  if (own.length === 0) throw new Error(`${process.cwd()} is not the folder of a public package`);
  const [packed] = packPackages(own, scratch);
  const tarball = path.join(scratch, "tarballs", packed!.filename);
  check("publint", ["run", tarball, "--strict"]);
  check("attw", [tarball, "--profile", "esm-only", ...process.argv.slice(2)]);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function check(program: string, args: readonly string[]): void {
  const { status } = spawnSync(path.join(root, "tooling/release/node_modules/.bin", program), args, {
    stdio: "inherit",
  });
  if (status !== 0) process.exitCode = 1;
}

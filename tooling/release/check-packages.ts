/**
 * Checks the tarball and the API reports of every published package, in one process: loading the checkers takes longer
 * than most checks. A package whose files have not changed since it passed is not checked again.
 *
 *     node tooling/release/check-packages.ts
 */
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { type PublicPackage, publicPackages, root } from "../public-packages.ts";
import { checkReports } from "./check-api.ts";
import { packageProblems } from "./check-package.ts";

/** Files of a package that the checks read. The declarations of other packages are part of the reports. */
const INPUTS = ["package.json", "README.md", "tsconfig.json", "dist/**/*.{js,css,d.ts}", "etc/*"];
const CHECKERS = ["tooling/release/{check-*.ts,package-lock.json}", "tooling/{pack,published-manifest}.ts"];
const passedFile = path.join(root, "node_modules/.cache/kubewright/checked-packages.json");

const packages = publicPackages();
const hashes = hashesOf(packages);
const passed = existsSync(passedFile) ? (JSON.parse(readFileSync(passedFile, "utf8")) as Record<string, string>) : {};
const changed = packages.filter(({ manifest: { name } }) => passed[name] !== hashes.get(name));
const problems = await packageProblems(changed);
for (const problem of [...problems.values()].flat()) console.error(problem);
const right = changed.filter((found) => checkReports(found) && problems.get(found.manifest.name)!.length === 0);
for (const { manifest } of right) passed[manifest.name] = hashes.get(manifest.name)!;
mkdirSync(path.dirname(passedFile), { recursive: true });
writeFileSync(passedFile, JSON.stringify(passed));
console.log(
  `packages: ${packages.length}, of which ${changed.length} were checked, ${changed.length - right.length} with problems`,
);
process.exitCode = right.length === changed.length ? 0 : 1;

/** Returns a hash for each package: of its files, of those of its siblings, and of the checkers. */
function hashesOf(all: readonly PublicPackage[]): ReadonlyMap<string, string> {
  const checkers = hashOf(root, CHECKERS);
  const own = new Map(all.map(({ manifest, folder }) => [manifest.name, hashOf(folder, INPUTS)]));
  const withSiblings = (name: string, known = new Set<string>()): ReadonlySet<string> => {
    const { dependencies = {}, peerDependencies = {} } = all.find(({ manifest }) => manifest.name === name)!.manifest;
    known.add(name);
    for (const each of Object.keys({ ...dependencies, ...peerDependencies }))
      if (own.has(each) && !known.has(each)) withSiblings(each, known);
    return known;
  };
  return new Map(
    all.map(({ manifest: { name } }) => {
      const sum = createHash("sha256").update(checkers);
      for (const each of [...withSiblings(name)].sort()) sum.update(own.get(each)!);
      return [name, sum.digest("hex")];
    }),
  );
}

function hashOf(folder: string, patterns: readonly string[]): string {
  const sum = createHash("sha256");
  for (const file of globSync([...patterns], { cwd: folder }).sort())
    sum.update(`${file}\n`).update(readFileSync(path.join(folder, file)));
  return sum.digest("hex");
}

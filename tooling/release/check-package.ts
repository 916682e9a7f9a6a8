/**
 * Checks tarballs of packages with publint and attw. The packages must be built.
 *
 *     node ../../tooling/release/check-package.ts  of the package in this folder
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";

import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

import { packPackages } from "../pack.ts";
import { type PublicPackage, publicPackages } from "../public-packages.ts";

/** The packages are ES modules only: other resolutions do not find them. */
const NOT_RESOLVING: readonly string[] = ["node10", "node16-cjs"];

/** Packs the packages, and returns the problems of each. */
export async function packageProblems(packages: readonly PublicPackage[]): Promise<ReadonlyMap<string, string[]>> {
  const scratch = mkdtempSync(path.join(tmpdir(), "check-package-"));
  try {
    const packed = packPackages(packages, scratch);
    const problems = new Map<string, string[]>();
    for (const found of packages) {
      const { filename } = packed.find(({ name }) => name === found.manifest.name)!;
      problems.set(found.manifest.name, await tarballProblems(path.join(scratch, "tarballs", filename), found));
    }
    return problems;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function tarballProblems(tarball: string, { manifest }: PublicPackage): Promise<string[]> {
  const bytes = new Uint8Array(readFileSync(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: bytes.buffer }, strict: true });
  // Style sheets and scripts for a page have no types.
  const withoutTypes = Object.entries(manifest.exports ?? {}).flatMap(([key, target]) =>
    typeof target === "string" && !target.endsWith(".json") ? [key.slice(2)] : [],
  );
  const analysis = await checkPackage(createPackageFromTarballData(bytes), { excludeEntrypoints: withoutTypes });
  if (!analysis.types) return [`${manifest.name}: its tarball has no types`];
  const wrong = analysis.problems.filter(
    (problem) => !("resolutionKind" in problem && NOT_RESOLVING.includes(problem.resolutionKind)),
  );
  return [
    ...messages.map((message) => `${manifest.name}: publint: ${formatMessage(message, pkg, { color: false })}`),
    ...wrong.map((problem) => `${manifest.name}: attw: ${JSON.stringify(problem)}`),
  ];
}

if (import.meta.main) {
  const own = publicPackages().filter(({ folder }) => folder === process.cwd());
  if (own.length === 0) throw new Error(`${process.cwd()} is not the folder of a public package`);
  const problems = [...(await packageProblems(own)).values()].flat();
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

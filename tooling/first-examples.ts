/**
 * The first example of each package's README, run as a reader runs it: in a folder in which only the README's install
 * line was executed.
 */
import { existsSync, linkSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";

import { blocksOf } from "./docs/documents.ts";
import { type Example, exampleIn, isFirstExample, isForBrowsers } from "./docs/examples.ts";
import { installedFolders } from "./installed-size.ts";
import type { PublicPackage } from "./public-packages.ts";

export interface FirstExample extends Example {
  /** README, for messages. */
  readonly file: string;
  /** Packages of the install line. */
  readonly installed: readonly string[];
}

/**
 * Returns the first examples of these packages' READMEs, and what is wrong with them: an example imports only what its
 * install line names. Of an example for browsers only the imports are left.
 */
export function firstExamples(packages: readonly PublicPackage[]): {
  readonly examples: readonly FirstExample[];
  readonly problems: readonly string[];
} {
  const examples: FirstExample[] = [];
  const problems: string[] = [];
  for (const { directory } of packages.filter((found) => found.directory.startsWith("packages/"))) {
    const file = `${directory}/README.md`;
    const blocks = blocksOf(file);
    const index = blocks.findIndex((block) => isFirstExample(block, blocks));
    const installed = installLine(blocks.map(({ text }) => text).join("\n"));
    if (index < 0 || installed.length === 0) {
      problems.push(`${file} has no install line with an example in TypeScript`);
      continue;
    }
    const example = exampleIn(blocks[index]!, blocks[index + 1]);
    for (const name of importedPackages(example.text))
      if (!installed.includes(name))
        problems.push(`${file}: the first example imports ${name}, which the install line does not name`);
    if (isForBrowsers(example.text)) {
      const [imports] = /^(?:import [^;]*;\s*)*/.exec(example.text)!;
      examples.push({ file, installed, text: imports, expected: [], isAll: false });
    } else examples.push({ file, installed, ...example });
  }
  return { examples, problems };
}

/** Returns the packages of the first `npm install` in a text. */
export function installLine(text: string): readonly string[] {
  const [, names = ""] = /^npm install (.*)$/m.exec(text) ?? [];
  return names.split(/\s+/).filter((name) => name !== "" && !name.startsWith("-"));
}

function importedPackages(text: string): ReadonlySet<string> {
  const specifiers = [...text.matchAll(/^import\s[^;"]*"([^"]+)";$/gm)].map(([, specifier]) => specifier!);
  return new Set(
    specifiers
      .filter((specifier) => !isBuiltin(specifier))
      .map((specifier) =>
        specifier
          .split("/")
          .slice(0, specifier.startsWith("@") ? 2 : 1)
          .join("/"),
      ),
  );
}

/**
 * Makes the folder that `npm install NAME…` makes, by hard links to a project in which these and other packages are
 * installed. Packages of one version are in the same place in both.
 */
export function linkInstalled(project: string, names: readonly string[], folder: string): void {
  for (const name of names)
    if (!existsSync(path.join(project, "node_modules", name))) throw new Error(`${name} is not installed`);
  for (const from of installedFolders(project, names)) linkFiles(from, path.join(folder, path.relative(project, from)));
  const dependencies = names.map((name) => {
    const manifest = readFileSync(path.join(project, "node_modules", name, "package.json"), "utf8");
    return [name, (JSON.parse(manifest) as { readonly version: string }).version] as const;
  });
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ dependencies: Object.fromEntries(dependencies) }));
}

/** Links a package's own files, without nested packages. */
function linkFiles(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true }))
    if (entry.isDirectory()) {
      if (entry.name !== "node_modules") linkFiles(path.join(from, entry.name), path.join(to, entry.name));
    } else linkSync(path.join(from, entry.name), path.join(to, entry.name));
}

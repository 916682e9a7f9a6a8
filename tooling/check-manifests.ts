/**
 * Checks the registry metadata of every published package: repository and issue tracker, licence and changelog, and a
 * README with an install command, an exports table and no relative links.
 *
 *     node tooling/check-manifests.ts          prints what is missing or out of date
 *     node tooling/check-manifests.ts --write  writes the READMEs' tables of exports, licences and empty changelogs
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { type Manifest, type PublicPackage, entryPoints, publicPackages, root } from "./public-packages.ts";

const REPOSITORY = "https://github.com/kubewright/kubewright";
/** The generated section of a README. */
const TABLE = /^## Exports\n\n(?:\|.*\n)+/m;

const problems: string[] = [];
const packages = publicPackages();
const licence = readFileSync(path.join(root, "LICENSE"), "utf8");
for (const found of packages) {
  const { manifest, directory } = found;
  for (const [field, wanted] of Object.entries(fieldsOf(directory)))
    if (JSON.stringify(manifest[field as keyof Manifest]) !== JSON.stringify(wanted))
      problems.push(`${directory}/package.json: ${field} is not ${JSON.stringify(wanted)}`);
  for (const script of ["check:api", "check:package"])
    if (manifest.scripts?.[script] === undefined) problems.push(`${directory}/package.json: no script ${script}`);
  if ((manifest.keywords ?? []).length < 3) problems.push(`${directory}/package.json: fewer than three keywords`);
  checkFile(found, "LICENSE", (text) => (text === licence ? text : licence), "is not a copy of the root's");
  checkFile(
    found,
    "CHANGELOG.md",
    (text) => (text.startsWith(`# ${manifest.name}\n`) ? text : `# ${manifest.name}\n`),
    "does not begin with the package's name, as changesets has it",
  );
  checkFile(found, "README.md", (text) => withTable(text, manifest), "has no up-to-date table of exports");
  checkReadme(found);
}
for (const problem of problems) console.error(problem);
console.log(`manifests: ${packages.length} packages, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;

function fieldsOf(directory: string): Partial<Manifest> {
  return {
    license: "Apache-2.0",
    repository: { type: "git", url: `git+${REPOSITORY}.git`, directory },
    homepage: `${REPOSITORY}/tree/main/${directory}#readme`,
    bugs: { url: `${REPOSITORY}/issues` },
  };
}

/** Checks that `update` does not change a file. `--write` writes the result instead. */
function checkFile(
  { folder, directory }: PublicPackage,
  name: string,
  mended: (text: string) => string,
  problem: string,
): void {
  const file = path.join(folder, name);
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const wanted = mended(text);
  if (text === wanted) return;
  if (process.argv.includes("--write")) writeFileSync(file, wanted);
  else problems.push(`${directory}/${name} ${problem}: node tooling/check-manifests.ts --write`);
}

function checkReadme({ manifest, folder, directory }: PublicPackage): void {
  const text = readFileSync(path.join(folder, "README.md"), "utf8");
  // A package with a command may also be a library.
  const commands = manifest.bin === undefined ? ["npm install"] : ["npx", "npm install"];
  if (!new RegExp(String.raw`^(?:${commands.join("|")}) ${manifest.name}(?!\S)`, "m").test(text))
    problems.push(`${directory}/README.md has no line \`${commands[0]} ${manifest.name}\``);
  for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g))
    if (!/^(?:https:\/\/|#)/.test(target!))
      problems.push(`${directory}/README.md links to ${target}, which a registry's page does not have`);
}

/** Returns the README with an updated exports section, appended when the README has none. */
function withTable(text: string, manifest: Manifest): string {
  const section = `## Exports\n\n${tableOf(manifest)}`;
  return TABLE.test(text) ? text.replace(TABLE, () => section) : `${text.trimEnd()}\n\n${section}`;
}

function tableOf(manifest: Manifest): string {
  const { folder } = packages.find((found) => found.manifest === manifest)!;
  const rows = [["Import from", "Values", "Types"]];
  for (const { entry, source } of entryPoints(manifest)) {
    const { values, types } = exportsOf(path.join(folder, source));
    rows.push([`\`${entry}\``, listed(values), listed(types)]);
  }
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |\n`;
  return [line(rows[0]!), line(widths.map((width) => "-".repeat(width))), ...rows.slice(1).map(line)].join("");
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}

/** Returns the names that a source module exports. */
function exportsOf(file: string): { values: string[]; types: string[] } {
  const values = new Set<string>();
  const types = new Set<string>();
  const text = readFileSync(file, "utf8");
  if (/^export \*/m.test(text)) throw new Error(`${file}: "export *" hides what a package exports`);
  for (const [, onlyTypes, list] of text.matchAll(/^export (type )?\{([^}]*)\}/gm))
    for (const item of list!.split(",").map((part) => part.trim())) {
      const [, isType, name] = /^(type )?(?:\w+ as )?(\w+)$/.exec(item) ?? [];
      if (name !== undefined) ((onlyTypes ?? isType) === undefined ? values : types).add(name);
    }
  for (const [, kind, name] of text.matchAll(
    /^export (?:async |abstract )*(const|function|class|interface|type) (\w+)/gm,
  ))
    (kind === "interface" || kind === "type" ? types : values).add(name!);
  return { values: [...values].sort(), types: [...types].sort() };
}

/**
 * Checks the registry metadata of every published package: repository and issue tracker, licence and changelog, and a
 * README with an install command, an exports table and no relative links. A name that several entry points export is one
 * declaration.
 *
 *     node tooling/check-manifests.ts          prints what is missing or out of date
 *     node tooling/check-manifests.ts --write  writes the READMEs' tables of exports, licences and empty changelogs
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { ExportedNames } from "./exported-names.ts";
import { type Manifest, type PublicPackage, entryPoints, publicPackages, root } from "./public-packages.ts";

const REPOSITORY = "https://github.com/kubewright/kubewright";
/** The generated section of a README. */
const TABLE = /^## Exports\n\n(?:\|.*\n)+/m;

const problems: string[] = [];
const packages = publicPackages();
const names = new ExportedNames(packages);
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
problems.push(...clashes());
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
    const exported = names.of(path.join(folder, source));
    const listed = (isType: boolean): string =>
      exported
        .filter((each) => each.isType === isType)
        .map(({ name }) => name)
        .sort()
        .map((name) => `\`${name}\``)
        .join(", ");
    rows.push([`\`${entry}\``, listed(false), listed(true)]);
  }
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |\n`;
  return [line(rows[0]!), line(widths.map((width) => "-".repeat(width))), ...rows.slice(1).map(line)].join("");
}

/** Returns the names that entry points export for different declarations. */
function clashes(): string[] {
  const declarations = new Map<string, Map<string, string[]>>();
  for (const { manifest, folder } of packages)
    for (const { entry, source } of entryPoints(manifest))
      for (const { name, declaration } of names.of(path.join(folder, source))) {
        const known = declarations.get(name) ?? new Map<string, string[]>();
        declarations.set(name, known.set(declaration, [...(known.get(declaration) ?? []), entry]));
      }
  return [...declarations]
    .filter(([, known]) => known.size > 1)
    .map(([name, known]) => {
      const where = [...known].map(
        ([declaration, entries]) => `${entries.join(", ")} (${path.relative(root, declaration)})`,
      );
      return `${name} has ${known.size} meanings: ${where.join("; ")}`;
    })
    .sort();
}

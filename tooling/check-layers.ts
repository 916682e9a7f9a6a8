/**
 * Checks every package's manifest and imports against the layers: dependencies point down, imported siblings are
 * declared, declared siblings are imported, and tsconfig references match.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";

import { LAYERS, layerOf } from "./layers.ts";

interface Manifest {
  name: string;
  private?: boolean;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/** Imports and re-exports of packages, static and dynamic, without relative ones. */
const IMPORTS = /^(?:import|export)\s(?:[^"';]*?\bfrom\s)?"([^."][^"]*)"|\bimport\("([^."][^"]*)"\)/gm;

/**
 * Packages that are npm projects of their own. npm would look for their siblings in the registry, so that their manifests
 * do not declare them, nor what they use of the root's dependencies. Their tsconfig.json references the siblings.
 */
const OWN_PROJECTS: ReadonlySet<string> = new Set(["site"]);

/** Source folders. The site has one per part. */
const SOURCE_FOLDERS = ["src", "playground", "docs-site"];

const root = path.resolve(import.meta.dirname, "..");
const folders = ["packages", "apps"].flatMap((parent) =>
  readdirSync(path.join(root, parent)).map((name) => ({ name, folder: path.join(root, parent, name) })),
);
const folderOf = new Map<string, string>();
const manifests = new Map<string, Manifest>();
for (const { name, folder } of folders) {
  if (!existsSync(path.join(folder, "package.json"))) continue;
  const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as Manifest;
  manifests.set(name, manifest);
  folderOf.set(manifest.name, name);
}

const problems: string[] = [];
for (const { name, folder } of folders) {
  const manifest = manifests.get(name);
  if (manifest === undefined) continue;
  const layer = layerOf(name);
  const { dependencies = {}, peerDependencies = {} } = manifest;
  const { references = [] } = JSON.parse(readFileSync(path.join(folder, "tsconfig.json"), "utf8")) as {
    references?: { path: string }[];
  };
  const referenced = references.map((reference) => path.basename(reference.path)).sort();
  const declared = OWN_PROJECTS.has(name)
    ? referenced
    : siblings(Object.keys({ ...dependencies, ...peerDependencies }));
  // A package that uses an entry with optional peers declares them as dependencies, without importing them.
  const peersOfDeclared = new Set(
    declared.flatMap((sibling) => siblings(Object.keys(manifests.get(sibling)!.peerDependencies ?? {}))),
  );
  const testDependencies = siblings(Object.keys(manifest.devDependencies ?? {}));
  for (const sibling of declared) {
    if (layerOf(sibling) >= layer)
      problems.push(
        `${name} (${LAYERS[layer]!.name}) may not depend on ${sibling} (${LAYERS[layerOf(sibling)]!.name})`,
      );
  }
  const imported = new Set<string>();
  for (const file of SOURCE_FOLDERS.flatMap((source) => sources(path.join(folder, source)))) {
    const isTest = /\.test(-d)?\.ts$/.test(file);
    // The timeline bundles its libraries, and the site is never installed, so these imports need no declared
    // dependency.
    const isBundled =
      manifest.private === true || path.relative(root, file).startsWith(path.join("packages", "timeline", "src"));
    const text = readFileSync(file, "utf8");
    for (const [, staticImport, dynamicImport] of text.matchAll(IMPORTS)) {
      const imports = packageName(staticImport ?? dynamicImport);
      if (imports === undefined) continue;
      const sibling = folderOf.get(imports);
      if (sibling === undefined && !isDeclared(manifest, imports, isTest || isBundled) && !isOfRoot(name, imports)) {
        problems.push(`${path.relative(root, file)} imports ${imports}, which ${name}/package.json does not declare`);
      }
      if (sibling === undefined || sibling === name) continue;
      if (!isTest) imported.add(sibling);
      if (!declared.includes(sibling) && !(isTest && testDependencies.includes(sibling))) {
        problems.push(`${path.relative(root, file)} imports ${imports}, which ${name}/package.json does not declare`);
      }
    }
  }
  for (const sibling of declared)
    if (!imported.has(sibling) && !peersOfDeclared.has(sibling))
      problems.push(`${name}/package.json declares ${sibling}, which none of its sources imports`);
  if (referenced.join() !== [...declared].sort().join()) {
    problems.push(
      `${name}/tsconfig.json references [${referenced.join(", ")}], package.json declares [${[...declared].sort().join(", ")}]`,
    );
  }
}

for (const problem of problems) console.error(problem);
console.log(`layers: ${manifests.size} packages, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;

/** Returns whether a manifest declares a dependency. Test tools are declared once, in the root manifest. */
function isDeclared(
  { dependencies = {}, peerDependencies = {}, devDependencies = {} }: Manifest,
  name: string,
  forDevelopment: boolean,
): boolean {
  return (
    name in dependencies ||
    name in peerDependencies ||
    (forDevelopment && (name in devDependencies || ["vitest", "fast-check"].includes(name)))
  );
}

/** Returns whether a project of its own resolves a name to a dependency of the root or of another package. */
function isOfRoot(project: string, name: string): boolean {
  return OWN_PROJECTS.has(project) && existsSync(path.join(root, "node_modules", name));
}

/** Returns `@scope/name` or `name` of a bare import; `undefined` for Node's modules and generated ones. */
function packageName(specifier: string | undefined): string | undefined {
  if (specifier === undefined || /^[a-z]+:/.test(specifier)) return undefined;
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function siblings(dependencies: readonly string[]): string[] {
  return dependencies.map((dependency) => folderOf.get(dependency)).filter((name) => name !== undefined);
}

function sources(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => path.join(folder, file));
}

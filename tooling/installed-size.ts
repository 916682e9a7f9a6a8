import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import path from "node:path";

/** Cost of installing one package: number of packages including itself, and size of their files in kB (1000 bytes). */
export interface InstalledSize {
  readonly packages: number;
  readonly installed: number;
}

/** Returns the size of an installed package with all its dependencies, without optional peers. */
export function installedSize(project: string, name: string): InstalledSize {
  const folders = installedFolders(project, [name]);
  const bytes = folders.reduce((sum, folder) => sum + bytesIn(folder), 0);
  return { packages: folders.length, installed: Math.ceil(bytes / 1000) };
}

/** Returns the folders of installed packages and all their dependencies, without optional peers. */
export function installedFolders(project: string, names: readonly string[]): readonly string[] {
  const folders = new Set<string>();
  const visit = (wanted: string, from: string): void => {
    const folder = resolved(project, wanted, from);
    if (folder === undefined || folders.has(folder)) return;
    folders.add(folder);
    const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as {
      readonly dependencies?: Readonly<Record<string, string>>;
      readonly peerDependencies?: Readonly<Record<string, string>>;
      readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
    };
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
    const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true);
    for (const dependency of [...Object.keys(dependencies), ...peers]) visit(dependency, folder);
  };
  for (const name of names) visit(name, project);
  return [...folders];
}

/** Resolves a package name like Node: in the given folder of the project, and then upwards. */
function resolved(project: string, name: string, from: string): string | undefined {
  for (let folder = from; folder.startsWith(project); folder = path.dirname(folder)) {
    const found = path.join(folder, "node_modules", name);
    if (existsSync(path.join(found, "package.json"))) return found;
  }
  return undefined;
}

/** Returns the size of a package's own files, without nested packages. */
function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name !== "node_modules")
    .map((entry) => path.join(folder, entry.name))
    .reduce((sum, file) => sum + (statSync(file).isDirectory() ? bytesIn(file) : statSync(file).size), 0);
}

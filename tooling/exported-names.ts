import { readFileSync } from "node:fs";
import path from "node:path";

import { type PublicPackage, entryPoints } from "./public-packages.ts";

/** The imports and exports of a module, by name. */
interface ModuleNames {
  /** Exported name → where it comes from. A declaration of this module has no `from`. */
  readonly exports: ReadonlyMap<string, Source>;
}

interface Source {
  readonly name: string;
  readonly from: string | undefined;
  readonly isType: boolean;
}

/** An exported name of an entry point. */
export interface ExportedName {
  readonly name: string;
  readonly isType: boolean;
  /** File and name of the declaration, or the module outside the packages. */
  readonly declaration: string;
}

/** Reads the exported names of source modules, and follows re-exports to their declarations. */
export class ExportedNames {
  readonly #modules = new Map<string, ModuleNames>();
  readonly #sources = new Map<string, string>();

  constructor(packages: readonly PublicPackage[]) {
    for (const { manifest, folder } of packages)
      for (const { entry, source } of entryPoints(manifest)) this.#sources.set(entry, path.join(folder, source));
  }

  /** @throws Error for an `export *`, which hides what a package exports. */
  of(file: string): readonly ExportedName[] {
    return [...this.#module(file).exports].map(([name, { isType }]) => ({
      name,
      isType,
      declaration: this.#declaration(file, name),
    }));
  }

  #declaration(file: string, name: string): string {
    const source = this.#module(file).exports.get(name);
    if (source?.from === undefined) return `${file}#${source?.name ?? name}`;
    const next = this.#resolve(file, source.from);
    return next === undefined ? `${source.from}#${source.name}` : this.#declaration(next, source.name);
  }

  /** Returns the source file of a specifier, or `undefined` outside the packages. */
  #resolve(file: string, specifier: string): string | undefined {
    if (specifier.startsWith(".")) return path.join(path.dirname(file), specifier.replace(/\.js$/, ".ts"));
    return this.#sources.get(specifier);
  }

  #module(file: string): ModuleNames {
    const known = this.#modules.get(file) ?? readModule(file);
    this.#modules.set(file, known);
    return known;
  }
}

function readModule(file: string): ModuleNames {
  const text = readFileSync(file, "utf8");
  if (/^export \*/m.test(text)) throw new Error(`${file}: "export *" hides what a package exports`);
  const imports = new Map<string, Source>();
  const exports = new Map<string, Source>();
  for (const [, keyword, onlyTypes, list, from] of text.matchAll(
    /^(import|export) (type )?(?:\w+, )?\{([^}]*)\}(?: from "([^"]+)")?/gm,
  ))
    for (const item of list!.split(",").map((part) => part.replaceAll(/\/\*.*?\*\/|\/\/.*$/gm, "").trim())) {
      const [, isType, original, renamed] = /^(type )?(\w+)(?: as (\w+))?$/.exec(item) ?? [];
      if (original === undefined) continue;
      const source = { name: original, from, isType: (onlyTypes ?? isType) !== undefined };
      (keyword === "import" ? imports : exports).set(renamed ?? original, source);
    }
  // An export of an import is a re-export.
  for (const [name, { name: local, from, isType }] of exports) {
    const imported = from === undefined ? imports.get(local) : undefined;
    if (imported !== undefined) exports.set(name, { ...imported, isType: isType || imported.isType });
  }
  for (const [, kind, name] of text.matchAll(
    /^export (?:declare |async |abstract )*(const|function\*?|class|interface|type|enum) (\w+)/gm,
  ))
    exports.set(name!, { name: name!, from: undefined, isType: kind === "interface" || kind === "type" });
  return { exports };
}

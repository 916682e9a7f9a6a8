import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";

export interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly license?: string;
  readonly repository?: { readonly type: string; readonly url: string; readonly directory: string };
  readonly homepage?: string;
  readonly bugs?: { readonly url: string };
  readonly keywords?: readonly string[];
  readonly files?: readonly string[];
  readonly sideEffects?: boolean | readonly string[];
  readonly bin?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

export interface PublicPackage {
  readonly manifest: Manifest;
  /** Path relative to the root of the checkout, such as `packages/api`. */
  readonly directory: string;
  readonly folder: string;
}

export const root = path.resolve(import.meta.dirname, "..");

/** Entries that need a peer dependency, which the user installs. Not all declarations of these peers compile. */
export const ENTRIES_WITH_PEERS: Readonly<Record<string, string>> = {
  "@kubewright/informer/client-node": "@kubernetes/client-node",
  "@kubewright/operator/zod": "zod",
  "@kubewright/testing/vitest": "vitest",
};

/** Returns all published packages: those below these folders that are not private. */
export function publicPackages(parents: readonly string[] = ["packages", "apps"]): PublicPackage[] {
  return parents
    .flatMap((parent) => readdirSync(path.join(root, parent)).map((name) => `${parent}/${name}`))
    .map((directory) => ({ directory, folder: path.join(root, directory) }))
    .filter(({ folder }) => existsSync(path.join(folder, "package.json")))
    .map((found) => ({
      ...found,
      manifest: JSON.parse(readFileSync(path.join(found.folder, "package.json"), "utf8")) as Manifest,
    }))
    .filter(({ manifest }) => manifest.private !== true);
}

/** Returns the import paths of a package: every key of `exports` with code. */
export function entryPoints({ name, exports = {} }: Manifest): { readonly entry: string; readonly source: string }[] {
  return Object.entries(exports).flatMap(([key, conditions]) =>
    typeof conditions === "string"
      ? []
      : [{ entry: path.posix.join(name, key), source: conditions["@kubewright/source"] ?? "" }],
  );
}

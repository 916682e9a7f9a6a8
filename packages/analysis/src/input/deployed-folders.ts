import { type DeployedFolder, deployedFolders, substituteVariables, withNamespace } from "./deployed-folder.js";
import type { InputFinder, InputSource } from "./find-inputs.js";
import type { Manifest } from "./manifest.js";
import { joinPath, normalPath, parentOf } from "./paths.js";
import { type ReadSource, readSource } from "./source-reader.js";

/** The folders that Flux Kustomizations and Argo CD Applications deploy. */
export class DeployedFolders {
  /** `tekton/overlays/okd (Application argocd/tekton)` */
  readonly #missing: string[] = [];
  readonly #finder: InputFinder;
  readonly #folders = new Map<string, DeployedFolder[]>();

  constructor(finder: InputFinder) {
    this.#finder = finder;
  }

  /** One line, if folders are missing. */
  get notes(): readonly string[] {
    const number = this.#missing.length;
    if (number === 0) return [];
    const others = number - MAX_NAMED;
    const named = this.#missing.slice(0, MAX_NAMED).join(", ");
    return [
      `left out: ${number === 1 ? "1 folder" : `${number} folders`} of Flux and Argo CD objects not found in this repository: ${named}${others > 0 ? ` and ${others} more` : ""}`,
    ];
  }

  /**
   * Adds the folders that objects of `read` deploy to the inputs. A folder is an input once, so cycles end.
   *
   * @param all - All sources, whose ConfigMaps have variables.
   */
  async addAll(read: readonly ReadSource[], all: readonly ReadSource[]): Promise<void> {
    const variablesOf = (name: string, namespace: string | undefined): Readonly<Record<string, string>> => {
      const maps = all.flatMap(({ parsed }) => parsed.manifests).filter(({ object }) => object.kind === "ConfigMap");
      const named = maps.filter(({ object }) => object.metadata.name === name);
      const map = named.find(({ object }) => object.metadata.namespace === namespace) ?? named[0];
      return (map?.object["data"] ?? {}) as Readonly<Record<string, string>>;
    };
    for (const { source, parsed } of read)
      for (const { object } of parsed.manifests)
        for (const deployed of deployedFolders(object, variablesOf)) {
          const folder = await this.#find(deployed.path, folderOf(source));
          if (folder === undefined) {
            this.#missing.push(`${deployed.path} (${deployed.object})`);
            continue;
          }
          this.#folders.set(folder, [...(this.#folders.get(folder) ?? []), deployed]);
          await this.#finder.follow(folder);
        }
  }

  /** Returns the manifests of a source with the namespaces and variables of their deployments. */
  apply({ source, parsed, text, label }: ReadSource): readonly Manifest[] {
    const deployed = this.#deployedWith(source).filter(({ namespace, variables }) => namespace ?? variables);
    if (deployed.length === 0) return parsed.manifests;
    return deployed.flatMap(({ namespace, variables }) => {
      const manifests =
        variables === undefined || text === undefined
          ? parsed.manifests
          : readSource(source, substituteVariables(text, variables), label).parsed.manifests;
      return namespace === undefined ? manifests : withNamespace(manifests, namespace);
    });
  }

  /** Returns the deployments of the nearest folder that has any. */
  #deployedWith(source: InputSource): readonly DeployedFolder[] {
    if (source.type === "standardInput") return [];
    if (source.type !== "file") return this.#folders.get(source.folder) ?? [];
    const inFolder = parentOf(normalPath(source.path));
    for (let folder = inFolder; ; folder = parentOf(folder)) {
      const deployed = (this.#folders.get(folder) ?? []).filter(
        ({ isRecursive }) => isRecursive || folder === inFolder,
      );
      if (deployed.length > 0 || isTop(folder)) return deployed;
    }
  }

  /**
   * Finds a folder of the repository that has the object: from the folder with `.git`, otherwise from the nearest folder
   * that has the path.
   */
  async #find(path: string, from: string): Promise<string | undefined> {
    const inRepository = normalPath(path.replace(/^\/+/, ""));
    if (inRepository.startsWith("..")) return undefined;
    let nearest: string | undefined;
    let folder = from;
    for (let level = 0; level < MAX_LEVELS; level++, folder = parentOf(folder)) {
      const candidate = joinPath(folder, inRepository);
      if (await this.#finder.hasEntry(folder, ".git"))
        return (await this.#finder.isFolder(candidate)) ? candidate : undefined;
      // Above the working folder only a repository counts.
      if (
        nearest === undefined &&
        inRepository !== "." &&
        !folder.startsWith("..") &&
        (await this.#finder.isFolder(candidate))
      )
        nearest = candidate;
      if (folder === "/") break;
    }
    return nearest;
  }
}

/** Missing folders that are named. */
const MAX_NAMED = 3;

/** Folders above an object in which a repository is looked for. */
const MAX_LEVELS = 20;

function isTop(folder: string): boolean {
  return folder === "." || folder === "/" || folder.endsWith("..");
}

function folderOf(source: InputSource): string {
  if (source.type === "standardInput") return ".";
  return source.type === "file" ? parentOf(normalPath(source.path)) : source.folder;
}

import type { Files, FolderEntry } from "../ports/files.js";
import { KUSTOMIZATION_FILES, type Kustomization, isRemote, readKustomization } from "./kustomization.js";
import { joinPath } from "./paths.js";

/** Everything that the build of a kustomization reads. */
export interface KustomizationInputs {
  /** Folders of the kustomization and of those that it includes. */
  readonly folders: ReadonlySet<string>;
  /** Files other than kustomizations. */
  readonly files: ReadonlySet<string>;
  /** Resources that are not in a local file, as written. */
  readonly remote: readonly string[];
  readonly hasCharts: boolean;
}

interface MutableInputs {
  readonly folders: Set<string>;
  readonly files: Set<string>;
  readonly remote: string[];
  hasCharts: boolean;
}

/** The kustomizations of a file system, and the paths by which they include each other. Paths are normal paths. */
export class KustomizationGraph {
  readonly #io: Pick<Files, "listFolder" | "readFile">;
  readonly #entries = new Map<string, Promise<readonly FolderEntry[] | "file" | "missing">>();
  readonly #kustomizations = new Map<string, Promise<Kustomization | undefined>>();
  readonly #inputs = new Map<string, Promise<KustomizationInputs>>();

  constructor(io: Pick<Files, "listFolder" | "readFile">) {
    this.#io = io;
  }

  /** Returns the kustomization of a folder; `undefined` without a readable one. */
  at(folder: string): Promise<Kustomization | undefined> {
    return memoized(this.#kustomizations, folder, () => this.#read(folder));
  }

  /** Returns the inputs of a build. Kustomizations that include each other are visited once. */
  inputsOf(folder: string): Promise<KustomizationInputs> {
    return memoized(this.#inputs, folder, async () => {
      const inputs: MutableInputs = { folders: new Set(), files: new Set(), remote: [], hasCharts: false };
      await this.#collect(folder, inputs);
      return inputs;
    });
  }

  /** Returns the local kustomizations and files that a kustomization includes by itself. */
  async includedBy(
    folder: string,
  ): Promise<{ readonly folders: readonly string[]; readonly files: readonly string[] }> {
    const folders: string[] = [];
    const files: string[] = [];
    for (const written of (await this.at(folder))?.resources ?? []) {
      const path = joinPath(folder, written);
      const entries = await this.list(path);
      if (entries === "file") files.push(path);
      else if (entries !== "missing") folders.push(path);
    }
    return { folders, files };
  }

  /** Returns the entries of a folder; `file` and `missing` for other paths. */
  list(path: string): Promise<readonly FolderEntry[] | "file" | "missing"> {
    return memoized(this.#entries, path, () =>
      this.#io.listFolder(path).then(
        (entries) => entries ?? "file",
        () => "missing" as const,
      ),
    );
  }

  async #collect(folder: string, into: MutableInputs): Promise<void> {
    if (into.folders.has(folder)) return;
    into.folders.add(folder);
    const kustomization = await this.at(folder);
    if (kustomization === undefined) return;
    into.hasCharts ||= kustomization.hasCharts;
    for (const written of kustomization.resources) {
      const path = joinPath(folder, written);
      const entries = await this.list(path);
      if (entries === "file") into.files.add(path);
      else if (entries !== "missing") await this.#collect(path, into);
      else if (isRemote(written)) into.remote.push(written);
    }
    for (const written of kustomization.files)
      if (/^https?:\/\//i.test(written)) into.remote.push(written);
      else into.files.add(joinPath(folder, written));
  }

  async #read(folder: string): Promise<Kustomization | undefined> {
    const entries = await this.list(folder);
    if (typeof entries === "string") return undefined;
    const name = KUSTOMIZATION_FILES.find((each) => entries.some((entry) => entry.name === each));
    if (name === undefined) return undefined;
    const file = joinPath(folder, name);
    // The build reports a file that cannot be read.
    return readKustomization(await this.#io.readFile(file).catch(() => ""), file);
  }
}

function memoized<Value>(known: Map<string, Promise<Value>>, key: string, make: () => Promise<Value>): Promise<Value> {
  let value = known.get(key);
  if (value === undefined) known.set(key, (value = make()));
  return value;
}

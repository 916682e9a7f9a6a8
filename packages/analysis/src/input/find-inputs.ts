import type { Files, FolderEntry } from "../ports/files.js";
import { firstFew } from "./first-few.js";
import { KUSTOMIZATION_FILES } from "./kustomization.js";
import { type KustomizationInputs, KustomizationGraph } from "./kustomization-graph.js";
import { isWithin, joinPath, normalPath, shellWord } from "./paths.js";

/** Which kustomizations are built: none, those that no other one includes, or all. */
export type KustomizeMode = "none" | "top" | "all";

/** A source of manifests. */
export type InputSource =
  | {
      readonly type: "file";
      readonly path: string;
      /** Whether the command line named it; otherwise it was found in a folder. */ readonly named: boolean;
    }
  | { readonly type: "standardInput" }
  | {
      readonly type: "kustomization";
      readonly folder: string;
      readonly named: boolean;
      readonly inputs: KustomizationInputs;
      /** Whether all inputs are in the working folder or in a folder of the command line. */
      readonly isContained: boolean;
    }
  | { readonly type: "chart"; readonly folder: string; readonly named: boolean };

interface FoundFile {
  readonly type: "file";
  readonly path: string;
  readonly named: boolean;
  /** The kustomization whose folder has it. Without another reason, such a file is an input of builds only. */
  readonly owner: string | undefined;
  /** Whether it is an input of its own although a kustomization may include it. */
  isRequired: boolean;
}

type FoundItem =
  | FoundFile
  | { readonly type: "standardInput" }
  | { readonly type: "kustomization"; readonly folder: string; isRequired: boolean; readonly named: boolean }
  | { readonly type: "chart"; readonly folder: string; readonly named: boolean; readonly owner: string | undefined };

type FoundKustomization = Extract<FoundItem, { type: "kustomization" }>;

const MANIFEST_FILE = /\.(ya?ml|json)(\.gz)?$/i;
/** Configuration files of tools, which are never manifests. */
const TOOL_FILE =
  /^(values([.-].*)?|chart|requirements|kustomization|skaffold|docker-compose([.-].*)?|compose|package(-lock)?|tsconfig([.-].*)?|\..*)\.(ya?ml|json)$/i;
const CHART = "Chart.yaml";
/** Folders with third-party files. */
const VENDOR_FOLDERS: ReadonlySet<string> = new Set(["node_modules", "vendor"]);

/** A line of YAML or JSON with a kind that runs. */
const WORKLOAD = kindLine("(Cron)?Job");
/** Kinds that run, that change what runs, or that name other folders. */
const RELEVANT = kindLine(
  "CronJob|Job|Pod|LimitRange|ResourceQuota|PriorityClass|RuntimeClass|ValidatingAdmissionPolicy(Binding)?|Kustomization|Application|List|Template",
);

function kindLine(kinds: string): RegExp {
  return new RegExp(`^[\\s"{-]*kind"?:\\s*["']?(${kinds})["']?\\s*(,|#|\\}|$)`, "m");
}

/**
 * Finds the inputs that the paths of a command line name.
 *
 * Inputs are:
 *
 * - files
 * - manifest files of folders and their subfolders, in order of name
 * - `-` for standard input
 * - folders with a kustomization that no other one includes
 * - folders with a Helm chart
 *
 * The files in the folder of a kustomization are inputs of its build only. Hidden folders, `node_modules`, `vendor` and
 * links to folders are passed over.
 */
export class InputFinder {
  /** One line for each path that cannot be read. */
  readonly problems: string[] = [];
  readonly #io: Pick<Files, "listFolder" | "readFile">;
  readonly #mode: KustomizeMode;
  readonly #graph: KustomizationGraph;
  readonly #items: FoundItem[] = [];
  /** Folders of the command line. */
  readonly #named: string[] = [];
  readonly #taken = new Set<FoundItem>();
  readonly #visited = new Set<string>();
  readonly #mentions = new Map<string, Promise<{ readonly workload: boolean; readonly relevant: boolean }>>();
  readonly #leftOut: { readonly line: string; readonly hasJobs: boolean }[] = [];
  #otherFiles = 0;
  #withoutWorkloads = 0;

  constructor(io: Pick<Files, "listFolder" | "readFile">, mode: KustomizeMode = "top") {
    this.#io = io;
    this.#mode = mode;
    this.#graph = new KustomizationGraph(io);
  }

  /** Number of files of other kinds in the folders. */
  get otherFiles(): number {
    return this.#otherFiles;
  }

  /** Adds a path of the command line. */
  async add(path: string): Promise<void> {
    if (path === "-") {
      this.#items.push({ type: "standardInput" });
      return;
    }
    const before = this.problems.length;
    const entries = await this.#list(path);
    if (entries !== undefined) {
      this.#named.push(normalPath(path));
      await this.#visit(normalPath(path), entries, { named: true, owner: undefined });
    } else if (this.problems.length === before)
      this.#items.push({ type: "file", path, named: true, owner: undefined, isRequired: true });
  }

  /** Adds a folder that an object names. The path is a normal path. */
  async follow(folder: string): Promise<void> {
    const kustomization = this.#items.find((item) => item.type === "kustomization" && item.folder === folder);
    if (kustomization?.type === "kustomization") {
      kustomization.isRequired = true;
      return;
    }
    if (!this.#visited.has(folder)) {
      const entries = await this.#list(folder);
      if (entries !== undefined) await this.#visit(folder, entries, { named: false, owner: undefined });
      return;
    }
    // Without a kustomization of its own, the folder's files are inputs.
    for (const item of this.#items)
      if (item.type === "file" && isWithin(item.path, folder) && isWithin(folder, item.owner ?? folder))
        item.isRequired = true;
  }

  /**
   * Adds what a kustomization includes, because it cannot be built itself.
   *
   * @param built - Folders and files that other builds have read.
   * @returns whether there is anything.
   */
  async addIncludedBy(folder: string, built: ReadonlySet<string>): Promise<boolean> {
    const { folders, files } = await this.#graph.includedBy(folder);
    let added = false;
    for (const each of folders) {
      if (built.has(each) || (await this.#graph.at(each))?.isComponent === true) continue;
      await this.follow(each);
      added = true;
    }
    for (const path of files) {
      if (built.has(path)) continue;
      const found = this.#items.find((item): item is FoundFile => item.type === "file" && item.path === path);
      if (found === undefined)
        this.#items.push({ type: "file", path, named: false, owner: undefined, isRequired: true });
      else found.isRequired = true;
      added = true;
    }
    return added;
  }

  /** Whether a path is a folder. */
  async isFolder(path: string): Promise<boolean> {
    return typeof (await this.#graph.list(path)) !== "string";
  }

  /** Whether the folder has the entry. */
  async hasEntry(folder: string, name: string): Promise<boolean> {
    const entries = await this.#graph.list(folder);
    return typeof entries !== "string" && entries.some((entry) => entry.name === name);
  }

  /** Returns the inputs that were found since the last call, in the order of the walk. */
  async takeSources(): Promise<readonly InputSource[]> {
    const kustomizations = this.#items.filter((item): item is FoundKustomization => item.type === "kustomization");
    const roots = await this.#roots(kustomizations);
    const included = await this.#includedFiles(kustomizations);
    const sources: InputSource[] = [];
    for (const item of this.#items) {
      if (this.#taken.has(item)) continue;
      switch (item.type) {
        case "standardInput":
          sources.push(item);
          break;
        case "file":
          if (!item.isRequired && (item.owner !== undefined || included.has(item.path))) continue;
          sources.push(item);
          break;
        case "chart": {
          const rendered = item.owner !== undefined && (await this.#graph.inputsOf(item.owner)).hasCharts;
          if (!rendered) sources.push(item);
          break;
        }
        case "kustomization": {
          if (!item.named && !item.isRequired && !roots.has(item.folder)) continue;
          const source = await this.#kustomizationSource(item);
          if (source !== undefined) sources.push(source);
          break;
        }
        default:
          item satisfies never;
      }
      this.#taken.add(item);
    }
    return sources;
  }

  /** Whether a file of the folder, or of the build of its kustomization, has the kind Job or CronJob. */
  async hasJobs(source: InputSource): Promise<boolean> {
    if (source.type === "kustomization")
      for (const file of source.inputs.files) if ((await this.#mentionsOf(file)).workload) return true;
    return source.type === "chart" && this.#folderHasJobs(source.folder);
  }

  /** Notes that a folder is not simulated: `FOLDER: TEXT`. Folders with Jobs are printed first. */
  leaveOut(folder: string, { text, hasJobs }: { readonly text: string; readonly hasJobs: boolean }): void {
    this.#leftOut.push({ line: `${folder}: ${text}`, hasJobs });
  }

  /** Returns one line for each folder that is left out, and the numbers of other files. */
  async notes(): Promise<readonly string[]> {
    const unused: string[] = [];
    let unusedFiles = 0;
    if (this.#mode !== "none") {
      const kustomizations = this.#items.filter((item): item is FoundKustomization => item.type === "kustomization");
      const included = await this.#includedFiles(kustomizations);
      for (const item of this.#items) {
        if (item.type !== "file" || this.#taken.has(item) || included.has(item.path)) continue;
        if ((await this.#mentionsOf(item.path)).workload)
          unused.push(
            `${item.path}: left out: no kustomization includes it; run it with kubewright run ${shellWord(item.path)}`,
          );
        else unusedFiles++;
      }
    }
    const withJobs = this.#leftOut.filter(({ hasJobs }) => hasJobs).map(({ line }) => line);
    const others = this.#leftOut.filter(({ hasJobs }) => !hasJobs).map(({ line }) => line);
    return [
      ...firstFew(withJobs, "more folders with Jobs or CronJobs left out", MAX_WITH_JOBS),
      ...firstFew(others, "more folders left out"),
      ...firstFew(unused, "more files with Jobs that no kustomization includes", MAX_WITH_JOBS),
      ...(unusedFiles === 0 ? [] : [`left out: ${count(unusedFiles, "file")} that no kustomization includes`]),
      ...(this.#withoutWorkloads === 0
        ? []
        : [`not built: ${count(this.#withoutWorkloads, "kustomization")} without CronJobs, Jobs and pods`]),
    ];
  }

  async #visit(
    folder: string,
    entries: readonly FolderEntry[],
    { named, owner }: { readonly named: boolean; readonly owner: string | undefined },
  ): Promise<void> {
    if (this.#visited.has(folder)) return;
    this.#visited.add(folder);
    const names = new Set(entries.map(({ name }) => name));
    if (names.has(CHART)) {
      this.#items.push({ type: "chart", folder, named, owner });
      return;
    }
    const hasKustomization = KUSTOMIZATION_FILES.some((name) => names.has(name));
    if (hasKustomization) this.#items.push({ type: "kustomization", folder, named, isRequired: false });
    const below = hasKustomization ? folder : owner;
    for (const { name, isFolder } of [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = joinPath(folder, name);
      if (isFolder) {
        if (name.startsWith(".") || VENDOR_FOLDERS.has(name)) continue;
        const inside = await this.#list(path);
        if (inside !== undefined) await this.#visit(path, inside, { named: false, owner: below });
      } else if (MANIFEST_FILE.test(name) && !TOOL_FILE.test(name))
        this.#items.push({ type: "file", path, named: false, owner: below, isRequired: false });
      else if (below === undefined) this.#otherFiles++;
    }
  }

  async #kustomizationSource({ folder, named }: FoundKustomization): Promise<InputSource | undefined> {
    const inputs = await this.#graph.inputsOf(folder);
    const tops = [".", ...this.#named];
    const isContained = [...inputs.folders, ...inputs.files].every((path) => tops.some((top) => isWithin(path, top)));
    const source = { type: "kustomization", folder, named, inputs, isContained } as const;
    if (this.#mode === "none") {
      const hasJobs = await this.hasJobs(source);
      const text = `left out: is a kustomization${hasJobs ? " with Jobs or CronJobs" : ""}; run it with kubewright run ${shellWord(folder)}`;
      this.leaveOut(folder, { text, hasJobs });
      return undefined;
    }
    if (named || inputs.hasCharts || inputs.remote.length > 0 || (await this.#isRelevant(inputs))) return source;
    this.#withoutWorkloads++;
    return undefined;
  }

  /** A build takes about a tenth of a second, and a repository may have hundreds of kustomizations without Jobs. */
  async #isRelevant({ files }: KustomizationInputs): Promise<boolean> {
    for (const file of files) if ((await this.#mentionsOf(file)).relevant) return true;
    return false;
  }

  /** Returns the folders of the kustomizations to build. */
  async #roots(kustomizations: readonly FoundKustomization[]): Promise<ReadonlySet<string>> {
    const candidates: string[] = [];
    for (const { folder } of kustomizations)
      if ((await this.#graph.at(folder))?.isComponent !== true) candidates.push(folder);
    if (this.#mode !== "top") return new Set(candidates);
    const included = new Set<string>();
    for (const { folder } of kustomizations)
      for (const each of (await this.#graph.inputsOf(folder)).folders) if (each !== folder) included.add(each);
    const roots = new Set(candidates.filter((folder) => !included.has(folder)));
    const reached = new Set<string>();
    const reach = async (folder: string): Promise<void> => {
      for (const each of (await this.#graph.inputsOf(folder)).folders) reached.add(each);
    };
    for (const folder of roots) await reach(folder);
    // The first kustomization of a cycle, whose build reports the cycle.
    for (const folder of candidates)
      if (!reached.has(folder)) {
        roots.add(folder);
        await reach(folder);
      }
    return roots;
  }

  /** Returns the files that builds read. */
  async #includedFiles(kustomizations: readonly FoundKustomization[]): Promise<ReadonlySet<string>> {
    const files = new Set<string>();
    if (this.#mode !== "none")
      for (const { folder } of kustomizations)
        for (const file of (await this.#graph.inputsOf(folder)).files) files.add(file);
    return files;
  }

  #mentionsOf(file: string): Promise<{ readonly workload: boolean; readonly relevant: boolean }> {
    let known = this.#mentions.get(file);
    if (known === undefined) {
      // Unreadable files are ignored: the build reports them.
      const text = MANIFEST_FILE.test(file) ? this.#io.readFile(file).catch(() => "") : Promise.resolve("");
      known = text.then((content) => ({ workload: WORKLOAD.test(content), relevant: RELEVANT.test(content) }));
      this.#mentions.set(file, known);
    }
    return known;
  }

  /** Whether a file in the folder or its subfolders has the kind Job or CronJob, rendered or not. */
  async #folderHasJobs(folder: string): Promise<boolean> {
    // Unreadable folders are ignored.
    const entries = (await this.#io.listFolder(folder).catch(() => undefined)) ?? [];
    for (const { name, isFolder } of entries) {
      if (name.startsWith(".") || VENDOR_FOLDERS.has(name)) continue;
      const path = joinPath(folder, name);
      if (isFolder) {
        if (await this.#folderHasJobs(path)) return true;
      } else if (!TOOL_FILE.test(name) && (await this.#mentionsOf(path)).workload) return true;
    }
    return false;
  }

  async #list(path: string): Promise<readonly FolderEntry[] | undefined> {
    try {
      return await this.#io.listFolder(path);
    } catch (error) {
      this.problems.push(`${path}: ${ioProblem(error)}`);
      return undefined;
    }
  }
}

/** Lines about CronJobs that do not run; each has the command that runs them. */
const MAX_WITH_JOBS = 20;

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Describes a file system error for a user. */
export function ioProblem(error: unknown): string {
  const { code, message } = error as { code?: string; message: string };
  if (code === "ENOENT") return "no such file or folder";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  return message;
}

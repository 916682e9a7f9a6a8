import type { Files, FolderEntry } from "../ports/files.js";

/** A source of manifests. */
export type InputSource =
  | {
      readonly type: "file";
      readonly path: string;
      /** Whether the command line named it; otherwise it was found in a folder. */ readonly named: boolean;
    }
  | { readonly type: "standardInput" }
  | { readonly type: "kustomization"; readonly folder: string };

export interface FoundInputs {
  readonly sources: readonly InputSource[];
  /** One line for each path that cannot be read. */
  readonly problems: readonly string[];
  /**
   * One line for each folder that is passed over, with the command to run instead; folders with Jobs or CronJobs come
   * first.
   */
  readonly notes: readonly string[];
  /** Number of files of other kinds in the folders. */
  readonly passedOver: number;
}

const MANIFEST_FILE = /\.(ya?ml|json)(\.gz)?$/i;
/** Configuration files of tools, which are never manifests. */
const TOOL_FILE =
  /^(values([.-].*)?|chart|requirements|kustomization|skaffold|docker-compose([.-].*)?|compose|package(-lock)?|tsconfig([.-].*)?|\..*)\.(ya?ml|json)$/i;
const KUSTOMIZATION = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
const CHART = "Chart.yaml";
/** Folders with third-party files. */
const VENDOR_FOLDERS: ReadonlySet<string> = new Set(["node_modules", "vendor"]);

/**
 * Finds the inputs that the paths of a command line name.
 *
 * Inputs are:
 *
 * - files
 * - manifest files of folders and their subfolders, in order of name
 * - `-` for standard input
 * - named folders with a kustomization
 *
 * Hidden folders, `node_modules`, `vendor`, links to folders, charts, and kustomizations in subfolders are passed over.
 */
export async function findInputs(
  paths: readonly string[],
  io: Pick<Files, "listFolder" | "readFile">,
): Promise<FoundInputs> {
  const sources: InputSource[] = [];
  const problems: string[] = [];
  const withJobs: string[] = [];
  const others: string[] = [];
  let passedOver = 0;

  const visit = async (folder: string, entries: readonly FolderEntry[], named: boolean): Promise<void> => {
    const names = new Set(entries.map(({ name }) => name));
    if (KUSTOMIZATION.some((name) => names.has(name))) {
      if (named) sources.push({ type: "kustomization", folder });
      else await passOver(folder, "is a kustomization", `kubewright run ${shellWord(folder)}`);
      return;
    }
    if (names.has(CHART)) {
      await passOver(folder, "is a Helm chart", `helm template ${shellWord(folder)} | kubewright run -`);
      return;
    }
    for (const { name, isFolder } of [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = `${folder.replace(/\/+$/, "")}/${name}`;
      if (isFolder) {
        if (name.startsWith(".") || VENDOR_FOLDERS.has(name)) continue;
        const below = await list(path);
        if (below !== undefined) await visit(path, below, false);
      } else if (MANIFEST_FILE.test(name) && !TOOL_FILE.test(name)) sources.push({ type: "file", path, named: false });
      else passedOver++;
    }
  };
  const passOver = async (folder: string, what: string, command: string): Promise<void> => {
    const hasJobs = await mentionsJobs(folder, io);
    const line = `${folder}: passed over: ${what}${hasJobs ? " with Jobs or CronJobs" : ""}; run it with ${command}`;
    (hasJobs ? withJobs : others).push(line);
  };
  const list = async (path: string): Promise<readonly FolderEntry[] | undefined> => {
    try {
      return await io.listFolder(path);
    } catch (error) {
      problems.push(`${path}: ${ioProblem(error)}`);
      return undefined;
    }
  };
  for (const path of paths) {
    if (path === "-") {
      sources.push({ type: "standardInput" });
      continue;
    }
    const before = problems.length;
    const entries = await list(path);
    if (entries !== undefined) await visit(path, entries, true);
    else if (problems.length === before) sources.push({ type: "file", path, named: true });
  }
  return { sources, problems, notes: [...withJobs, ...others], passedOver };
}

/** Whether a file in the folder or its subfolders has the kind Job or CronJob, rendered or not. */
async function mentionsJobs(folder: string, io: Pick<Files, "listFolder" | "readFile">): Promise<boolean> {
  // Unreadable files and folders are ignored.
  const entries = (await io.listFolder(folder).catch(() => undefined)) ?? [];
  for (const { name, isFolder } of entries) {
    if (name.startsWith(".") || VENDOR_FOLDERS.has(name)) continue;
    const path = `${folder.replace(/\/+$/, "")}/${name}`;
    if (isFolder) {
      if (await mentionsJobs(path, io)) return true;
    } else if (MANIFEST_FILE.test(name) && !TOOL_FILE.test(name)) {
      const text = await io.readFile(path).catch(() => "");
      if (/^[\s"{-]*kind"?:\s*["']?(Cron)?Job["']?\s*(,|#|\}|$)/m.test(text)) return true;
    }
  }
  return false;
}

/** Describes a file system error for a user. */
export function ioProblem(error: unknown): string {
  const { code, message } = error as { code?: string; message: string };
  if (code === "ENOENT") return "no such file or folder";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  return message;
}

export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

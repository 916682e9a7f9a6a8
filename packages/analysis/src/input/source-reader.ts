import type { Files } from "../ports/files.js";
import type { HostProcess } from "../ports/host-process.js";
import { InterruptedError } from "../errors/interrupted-error.js";
import { type InputFinder, type InputSource, type KustomizeMode, ioProblem } from "./find-inputs.js";
import { type ParsedManifests, parseManifests } from "./parse-manifests.js";
import { GET_HELM, GET_KUSTOMIZE, Renderer } from "./render-inputs.js";

export type InputIo = Pick<Files, "readFile" | "listFolder" | "readStandardInput"> & Pick<HostProcess, "execute">;

/** How folders are rendered. */
export interface RenderOptions {
  /** Which kustomizations are built. Default `top`: those that no other one includes. */
  readonly kustomize?: KustomizeMode;
  /** Whether kustomize and Helm may load what is not in a local file. Default false. */
  readonly allowNetwork?: boolean;
}

/** A source that was read. */
export interface ReadSource {
  readonly source: InputSource;
  readonly parsed: ParsedManifests;
  /** The text, if it may have variables of Flux. */
  readonly text?: string;
  /** Name for messages. */
  readonly label: string;
}

/** Programs that run at the same time. */
const CONCURRENT_BUILDS = 4;

type ReadResult =
  | { readonly type: "read"; readonly read: ReadSource }
  | { readonly type: "problem"; readonly problem: string }
  | ({ readonly type: "noProgram"; readonly isChart: boolean } & LeftOutFolder)
  | ({ readonly type: "notRendered" } & NotRendered);

interface NotRendered {
  readonly source: FolderSource;
  readonly reason: string;
  readonly command: string;
  readonly hasJobs: boolean;
  readonly isMistake: boolean;
}

interface LeftOutFolder {
  readonly folder: string;
  readonly hasJobs: boolean;
}

type FolderSource = Extract<InputSource, { type: "kustomization" | "chart" }>;

/** Reads files and runs the programs that render folders. */
export class SourceReader {
  /** One line for each source that cannot be read. */
  readonly problems: string[] = [];
  readonly #io: InputIo;
  readonly #finder: InputFinder;
  readonly #renderer: Renderer;
  /** Kustomizations that were found without a program to build them. */
  readonly #notBuilt: LeftOutFolder[] = [];
  /** Charts that were found without helm. */
  readonly #charts: LeftOutFolder[] = [];

  /** Folders that no program could render, since the last report. */
  readonly #notRendered: NotRendered[] = [];

  constructor(io: InputIo, finder: InputFinder, options: RenderOptions) {
    this.#io = io;
    this.#finder = finder;
    this.#renderer = new Renderer(io, options);
  }

  /** One line for each program that is missing. */
  get notes(): readonly string[] {
    return [
      ...missingProgram(
        this.#notBuilt,
        "kustomization",
        `neither kubectl nor kustomize is installed; ${GET_KUSTOMIZE}`,
      ),
      ...missingProgram(
        this.#charts,
        "Helm chart",
        `helm is not installed; ${GET_HELM}, or run one with helm template CHART | kubewright run -`,
      ),
    ];
  }

  /** Reads the sources, several at a time. The results, and what is reported, have the order of the sources. */
  async readAll(sources: readonly InputSource[]): Promise<readonly ReadSource[]> {
    const results: ReadResult[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let index = next++; index < sources.length; index = next++)
        results[index] = await this.#read(sources[index]!);
    };
    await Promise.all(Array.from({ length: CONCURRENT_BUILDS }, work));
    const read: ReadSource[] = [];
    for (const result of results)
      if (result.type === "read") read.push(result.read);
      else if (result.type === "problem") this.problems.push(result.problem);
      else if (result.type === "noProgram") (result.isChart ? this.#charts : this.#notBuilt).push(result);
      else this.#notRendered.push(result);
    return read;
  }

  async #read(source: InputSource): Promise<ReadResult> {
    switch (source.type) {
      case "file":
        return readText(source, source.path, () => this.#io.readFile(source.path));
      case "standardInput": {
        const { readStandardInput } = this.#io;
        if (readStandardInput === undefined) return { type: "problem", problem: "-: there is no standard input here" };
        return readText(source, "standard input", readStandardInput);
      }
      case "kustomization":
      case "chart":
        return this.#render(source);
      default:
        return source satisfies never;
    }
  }

  async #render(source: FolderSource): Promise<ReadResult> {
    const { type, folder, named } = source;
    const rendered =
      type === "chart"
        ? await this.#renderer.chart(folder)
        : await this.#renderer.kustomization(folder, source.inputs, source);
    if (rendered.type === "manifests")
      return { type: "read", read: readSource(source, rendered.text, rendered.source) };
    const hasJobs = await this.#finder.hasJobs(source);
    if (rendered.type !== "noProgram") {
      const { reason, command } = rendered;
      const isMistake = named && rendered.type === "failed";
      return { type: "notRendered", source, reason, command, hasJobs, isMistake };
    }
    if (type === "kustomization" && named)
      return {
        type: "problem",
        problem: `${folder}: is a kustomization, and neither kubectl nor kustomize is installed to build it; ${GET_KUSTOMIZE}`,
      };
    return { type: "noProgram", isChart: type === "chart", folder, hasJobs };
  }

  /**
   * Reports the folders that could not be rendered. The parts of a kustomization that no other build has read become
   * inputs, so that one missing file does not hide all other CronJobs.
   */
  async reportNotRendered(read: readonly ReadSource[]): Promise<void> {
    const built = new Set<string>();
    for (const { source } of read)
      if (source.type === "kustomization")
        for (const path of [...source.inputs.folders, ...source.inputs.files]) built.add(path);
    for (const { source, reason, command, hasJobs, isMistake } of this.#notRendered.splice(0)) {
      const { type, folder } = source;
      const hasParts = type === "kustomization" && (await this.#finder.addIncludedBy(folder, built));
      const rest = hasParts ? "; what it includes runs without its patches and names" : "";
      if (isMistake) this.problems.push(`${folder}: ${reason}${rest}`);
      else
        this.#finder.leaveOut(folder, {
          text: `left out: ${type === "chart" ? "a Helm chart" : "a kustomization"}${hasJobs ? " with Jobs or CronJobs" : ""}: ${reason}${rest}; run it with ${command} | kubewright run -`,
          hasJobs,
        });
    }
  }
}

/** Folders with Jobs that one line names. */
const MAX_NAMED = 10;

/** Returns one line for all folders that need a program. */
function missingProgram(folders: readonly LeftOutFolder[], what: string, why: string): string[] {
  if (folders.length === 0) return [];
  const withJobs = folders.filter(({ hasJobs }) => hasJobs).map(({ folder }) => folder);
  const others = withJobs.length - MAX_NAMED;
  const named = `${withJobs.slice(0, MAX_NAMED).join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
  const which = withJobs.length === 0 ? "" : ` (with Jobs or CronJobs: ${named})`;
  return [`left out: ${folders.length} ${what}${folders.length === 1 ? "" : "s"}${which}, because ${why}`];
}

async function readText(source: InputSource, name: string, read: () => Promise<string>): Promise<ReadResult> {
  try {
    return { type: "read", read: readSource(source, await read(), name) };
  } catch (error) {
    if (error instanceof InterruptedError) throw error;
    return { type: "problem", problem: `${name}: ${ioProblem(error)}` };
  }
}

/** Parses a text. Objects of other tools are mistakes only where the command line names the text. */
export function readSource(source: InputSource, text: string, label: string): ReadSource {
  const isRendered = source.type === "kustomization" || source.type === "chart";
  const isNamed = source.type === "standardInput" || isRendered || source.named;
  const parsed = parseManifests(text, label, { passOverOthers: !isNamed, isRendered });
  return { source, parsed, label, ...(text.includes("${") ? { text } : {}) };
}

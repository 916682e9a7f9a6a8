import type { Files } from "../ports/files.js";
import type { HostProcess } from "../ports/host-process.js";
import { InterruptedError } from "../errors/interrupted-error.js";
import { type InputFinder, type InputSource, type KustomizeMode, ioProblem } from "./find-inputs.js";
import { type ParsedManifests, parseManifests } from "./parse-manifests.js";
import { shellWord } from "./paths.js";
import { GET_KUSTOMIZE, Renderer } from "./render-inputs.js";

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

/** Reads files and runs the programs that render folders. */
export class SourceReader {
  /** One line for each source that cannot be read. */
  readonly problems: string[] = [];
  readonly #io: InputIo;
  readonly #finder: InputFinder;
  readonly #renderer: Renderer;
  /** Kustomizations that were found without a program to build them. */
  readonly #notBuilt: { readonly folder: string; readonly hasJobs: boolean }[] = [];

  constructor(io: InputIo, finder: InputFinder, options: RenderOptions) {
    this.#io = io;
    this.#finder = finder;
    this.#renderer = new Renderer(io, options);
  }

  /** One line, if a program is missing. */
  get notes(): readonly string[] {
    if (this.#notBuilt.length === 0) return [];
    const withJobs = this.#notBuilt.filter(({ hasJobs }) => hasJobs).map(({ folder }) => folder);
    const [named, others] = [withJobs.slice(0, 3).join(", "), withJobs.length - 3];
    const which =
      named === ""
        ? ""
        : ` (${named}${others > 0 ? ` and ${others} more have` : withJobs.length === 1 ? " has" : " have"} Jobs or CronJobs)`;
    const number = this.#notBuilt.length;
    return [
      `left out: ${number === 1 ? "1 kustomization" : `${number} kustomizations`}${which}, because neither kubectl nor kustomize is installed; ${GET_KUSTOMIZE}`,
    ];
  }

  /** Reads the sources, several at a time, in their order. */
  async readAll(sources: readonly InputSource[]): Promise<readonly ReadSource[]> {
    const results: (ReadSource | undefined)[] = sources.map(() => undefined);
    let next = 0;
    const work = async (): Promise<void> => {
      for (let index = next++; index < sources.length; index = next++)
        results[index] = await this.#read(sources[index]!);
    };
    await Promise.all(Array.from({ length: CONCURRENT_BUILDS }, work));
    return results.filter((result) => result !== undefined);
  }

  async #read(source: InputSource): Promise<ReadSource | undefined> {
    switch (source.type) {
      case "file": {
        const text = await this.#text(source.path, () => this.#io.readFile(source.path));
        return text === undefined ? undefined : readSource(source, text, source.path);
      }
      case "standardInput": {
        const { readStandardInput } = this.#io;
        if (readStandardInput === undefined) this.problems.push("-: there is no standard input here");
        const text = readStandardInput && (await this.#text("standard input", readStandardInput));
        return text === undefined ? undefined : readSource(source, text, "standard input");
      }
      case "kustomization":
      case "chart":
        return this.#render(source);
      default:
        return source satisfies never;
    }
  }

  async #text(name: string, read: () => Promise<string>): Promise<string | undefined> {
    try {
      return await read();
    } catch (error) {
      if (error instanceof InterruptedError) throw error;
      this.problems.push(`${name}: ${ioProblem(error)}`);
      return undefined;
    }
  }

  async #render(source: Extract<InputSource, { type: "kustomization" | "chart" }>): Promise<ReadSource | undefined> {
    const { type, folder, named } = source;
    const rendered =
      type === "chart" ? await this.#renderer.chart(folder) : await this.#renderer.kustomization(folder, source.inputs);
    if (rendered.type === "manifests") return readSource(source, rendered.text, rendered.source);
    const hasJobs = await this.#finder.hasJobs(source);
    const withJobs = hasJobs ? " with Jobs or CronJobs" : "";
    if (rendered.type === "noProgram") {
      if (type === "chart") {
        const text = `passed over: is a Helm chart${withJobs}; run it with helm template ${shellWord(folder)} | kubewright run -`;
        this.#finder.leaveOut(folder, { text, hasJobs });
      } else if (named)
        this.problems.push(
          `${folder}: is a kustomization, and neither kubectl nor kustomize is installed to build it; ${GET_KUSTOMIZE}`,
        );
      else this.#notBuilt.push({ folder, hasJobs });
      return undefined;
    }
    const { reason, command } = rendered;
    if (named && rendered.type === "failed") this.problems.push(`${folder}: ${reason}`);
    else
      this.#finder.leaveOut(folder, {
        text: `left out: ${type === "chart" ? "a Helm chart" : "a kustomization"}${withJobs}: ${reason}; run it with ${command} | kubewright run -`,
        hasJobs,
      });
    return undefined;
  }
}

/** Parses a text. Objects of other tools are mistakes only where the command line names the text. */
export function readSource(source: InputSource, text: string, label: string): ReadSource {
  const isNamed =
    source.type === "standardInput" || source.type === "kustomization" || source.type === "chart" || source.named;
  const parsed = parseManifests(text, label, { passOverOthers: !isNamed });
  return { source, parsed, label, ...(text.includes("${") ? { text } : {}) };
}

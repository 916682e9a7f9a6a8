import type { ExecuteResult, HostProcess } from "../ports/host-process.js";
import type { KustomizationInputs } from "./kustomization-graph.js";
import { shellWord } from "./paths.js";

/** What a program has made of a folder. */
export type Rendered =
  | {
      readonly type: "manifests";
      readonly text: string;
      /** `overlays/prod (kubectl kustomize)` */ readonly source: string;
    }
  /** `command` prints the manifests, once `reason` no longer applies. */
  | { readonly type: "leftOut"; readonly reason: string; readonly command: string }
  | { readonly type: "failed"; readonly reason: string; readonly command: string }
  | { readonly type: "noProgram" };

/** Bounds of one program. */
const BOUNDS = { timeoutMs: 60_000, maxBytes: 64_000_000 } as const;

const BUILDERS = [
  ["kubectl", "kustomize"],
  ["kustomize", "build"],
] as const;

/** How to get a program that builds kustomizations. */
export const GET_KUSTOMIZE =
  "install kubectl (https://kubernetes.io/docs/tasks/tools/) or kustomize (https://kubectl.docs.kubernetes.io/installation/kustomize/)";

/** How to get helm. */
export const GET_HELM = "install it (https://helm.sh/docs/intro/install/)";

/** Renders kustomizations and Helm charts with the programs on the `PATH`, each within 60 s and 64 MB. */
export class Renderer {
  readonly #execute: HostProcess["execute"];
  readonly #network: boolean;

  constructor(
    { execute }: Pick<HostProcess, "execute">,
    { allowNetwork = false }: { readonly allowNetwork?: boolean } = {},
  ) {
    this.#execute = execute;
    this.#network = allowNetwork;
  }

  /**
   * Builds a kustomization with the first of kubectl and kustomize.
   *
   * @param options - `isContained`: all its inputs are in folders of this run. It may then include files above its own
   *   folder, as Flux permits within a repository.
   */
  async kustomization(
    folder: string,
    { remote, hasCharts }: KustomizationInputs,
    { isContained }: { readonly isContained: boolean },
  ): Promise<Rendered> {
    const flags = hasCharts ? ["--enable-helm"] : [];
    const command = (program: string, verb: string): string =>
      [program, verb, ...flags, shellWord(argument(folder))].join(" ");
    const byDefault = command(...BUILDERS[0]);
    if (!this.#network) {
      if (remote.length > 0)
        return {
          type: "leftOut",
          reason: `${remote[0]} is not in a local file; allow it with --allow-network`,
          command: byDefault,
        };
      if (hasCharts)
        return {
          type: "leftOut",
          reason: "kustomize renders its Helm charts only with --allow-network",
          command: byDefault,
        };
    }
    for (const [program, verb] of BUILDERS) {
      const build = (more: readonly string[]): Promise<ExecuteResult | undefined> =>
        this.#run(program, [verb, argument(folder), ...flags, ...more]);
      let result = await build([]);
      if (result === undefined) continue;
      if (isContained && result.status !== 0 && /security; file/.test(result.stderr))
        result = (await build(["--load-restrictor", "LoadRestrictionsNone"])) ?? result;
      const reason = failureOf(result);
      return reason === undefined
        ? { type: "manifests", text: result.stdout, source: `${folder} (${program} ${verb})` }
        : { type: "failed", reason: `${program} ${verb}: ${reason}`, command: command(program, verb) };
    }
    return { type: "noProgram" };
  }

  /** Renders a chart with its default values. */
  async chart(folder: string): Promise<Rendered> {
    const flags = this.#network ? ["--dependency-update"] : [];
    const word = shellWord(argument(folder));
    const result = await this.#run("helm", ["template", argument(folder), ...flags]);
    if (result === undefined) return { type: "noProgram" };
    const reason = failureOf(result);
    if (reason === undefined) return { type: "manifests", text: result.stdout, source: `${folder} (helm template)` };
    const needsDependencies = /missing in charts\/? directory|dependenc/i.test(reason);
    return {
      type: "failed",
      reason: `helm template: ${reason}`,
      command: `helm template ${needsDependencies ? "--dependency-update " : ""}${word}`,
    };
  }

  async #run(program: string, args: readonly string[]): Promise<ExecuteResult | undefined> {
    return this.#execute?.(program, args, { ...BOUNDS, network: this.#network });
  }
}

/** A folder whose name begins with a dash is no flag. */
function argument(folder: string): string {
  return folder.startsWith("-") ? `./${folder}` : folder;
}

function failureOf({ status, stderr, ended }: ExecuteResult): string | undefined {
  if (ended === "timeout") return `took longer than ${BOUNDS.timeoutMs / 1000} s, the limit`;
  if (ended === "output") return `printed more than ${BOUNDS.maxBytes / 1_000_000} MB, the limit`;
  return status === 0 ? undefined : reasonOf(stderr) || `ended with status ${status}`;
}

/** Maximum length of a program's message, in characters. */
const MAX_REASON = 300;

/** Returns the error in a tool's error output, by default its last line, without the prefix of its logger (klog). */
function reasonOf(stderr: string): string {
  // klog writes a value of several lines between angle brackets.
  const long = /err=<\n([\s\S]*)\n\s*>$/.exec(stderr.trim())?.[1];
  const lines = long === undefined ? stderr.trim().split("\n") : [long.replace(/\s+/g, " ").trim()];
  // Helm prints advice after the error.
  const line = lines.find((each) => each.startsWith("Error: "))?.slice("Error: ".length) ?? lines.at(-1) ?? "";
  const logged = /^[EF]\d{4} .* err=("(?:[^"\\]|\\.)*")$/.exec(line)?.[1];
  const reason = logged === undefined ? line : logged.slice(1, -1).replace(/\\(["\\])/g, "$1");
  // kustomize writes the cause last.
  return reason.length <= MAX_REASON ? reason : `…${reason.slice(-MAX_REASON)}`;
}

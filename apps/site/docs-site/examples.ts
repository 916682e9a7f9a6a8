/**
 * Examples that the build of the site simulates. In a document they are written as
 *
 *     ```yaml play --start 2026-03-28T00:00:00Z --for 3d
 *     (manifests, or a scenario)
 *     ```
 *
 * with the flags `--start`, `--for` and `--seed` of `kubewright run`. A following block ```` ```text played ```` states
 * the expected output. Each of its lines must be contained in a printed line, in order; `…` stands for any number of
 * other lines.
 */
import { parseArgs } from "node:util";

import { type ReportData, runSimulation } from "@kubewright/analysis/browser";

import { linkTo } from "../playground/page/state/link.ts";
import { NOTHING } from "../playground/page/state/playground-state.ts";

export interface Example {
  /** Name of its file, such as `concepts-queue-1`. */
  readonly name: string;
  readonly yaml: string;
  /** The text after `yaml play`. */
  readonly flags: string;
  /** Expected outputs from the document. */
  readonly claims: readonly string[];
  /** The block as written in the document. */
  readonly block: string;
}

export interface SimulatedExample extends Example {
  /** The output of the command. */
  readonly printed: string;
  /** Data of the `<kubewright-timeline>` element. */
  readonly report: ReportData;
  /** The command that simulates the same example from files. */
  readonly command: string;
  /** Fragment of the playground's URL, with its `#`. */
  readonly fragment: string;
}

const BLOCK = /^```yaml play(.*)\n([\s\S]*?)^```$|^```text played\n([\s\S]*?)^```$/gm;

/** Returns the examples of a document, in order. */
export function examplesOf(text: string, document: string): Example[] {
  const examples: (Example & { claims: string[] })[] = [];
  for (const [block, flags, yaml, claims] of text.matchAll(BLOCK))
    if (yaml !== undefined) {
      const name = `${document.replaceAll("/", "-")}-${examples.length + 1}`;
      examples.push({ name, yaml, flags: flags!.trim(), claims: [], block });
    } else examples.at(-1)?.claims.push(claims!);
  return examples;
}

/**
 * Simulates an example.
 *
 * @throws Error for an invalid example, or when the output differs from the document.
 */
export async function simulateExample(example: Example): Promise<SimulatedExample> {
  const { name, yaml, flags, claims } = example;
  const isScenario = /^kind: Scenario$/m.test(yaml);
  const window = windowOf(flags, name);
  const request = isScenario ? { manifests: "", scenario: yaml } : { manifests: yaml, ...window };
  const { report, summary, problems, command } = await runSimulation(request, {
    timeZoneData: process.versions["tz"] ?? "",
    now: () => Date.parse(DEFAULT_START) - 1,
  });
  const errors = problems.filter(({ severity }) => severity === "error").map(({ message }) => message);
  if (report === undefined || errors.length > 0) throw new Error(`${name} cannot be played: ${errors.join("\n")}`);
  for (const claim of claims) assertPrinted(name, summary, claim);
  const scenario = isScenario ? yaml : scenarioOf(window);
  const fragment = await linkTo({ ...NOTHING, manifests: request.manifests, scenario });
  return { ...example, printed: summary.trimEnd(), report, command, fragment };
}

/** Start of examples without one, so that each build prints the same. */
const DEFAULT_START = "2026-01-01T00:00:00Z";

interface RequestedWindow {
  readonly start: string;
  readonly for?: string;
  readonly seed?: number;
}

function windowOf(flags: string, name: string): RequestedWindow {
  const { values } = parseArgs({
    args: flags === "" ? [] : flags.split(/\s+/),
    options: { start: { type: "string" }, for: { type: "string" }, seed: { type: "string" } },
  });
  const { start = DEFAULT_START, for: length, seed } = values;
  if (seed !== undefined && !/^\d+$/.test(seed)) throw new Error(`${name}: --seed ${seed} is no whole number`);
  return {
    start,
    ...(length === undefined ? {} : { for: length }),
    ...(seed === undefined ? {} : { seed: Number(seed) }),
  };
}

/** Converts flags to a scenario. */
function scenarioOf(window: RequestedWindow): string {
  const fields = Object.entries(window).map(([field, value]) => `${field}: ${value}\n`);
  return `apiVersion: sim.kubewright.dev/v1\nkind: Scenario\n${fields.join("")}`;
}

function assertPrinted(name: string, printed: string, claim: string): void {
  const lines = printed.split("\n").map(withSingleSpaces);
  let from = 0;
  for (const wanted of claim.split("\n").map(withSingleSpaces)) {
    if (wanted === "" || wanted === "…") continue;
    const at = lines.findIndex((line, index) => index >= from && line.includes(wanted));
    if (at < 0) throw new Error(`${name} says it prints ${JSON.stringify(wanted)}, but printed\n${printed}`);
    from = at + 1;
  }
}

/** Ignores differences in the width of columns. */
function withSingleSpaces(line: string): string {
  return line.trim().replaceAll(/\s+/g, " ");
}

/**
 * Examples that are played while the site is built. In a document they are
 *
 *     ```yaml play --start 2026-03-28T00:00:00Z --for 3d
 *     (manifests, or a scenario)
 *     ```
 *
 * with `--start`, `--for` and `--seed` of `kubewright run`. What the prose says of them stands behind in a block ```` ```text played ````, whose
 * lines have to be in what was printed, or be the middle of such a line, in their order; `…` stands for any number of others.
 */
import { parseArgs } from "node:util";

import { type ReportData, runSimulation } from "kubewright/browser";

import { linkTo } from "../playground/page/state/link.ts";
import { NOTHING } from "../playground/page/state/playground-state.ts";

export interface Example {
  /** Of the file, such as `concepts-queue-1`. */
  readonly name: string;
  readonly yaml: string;
  /** What stands behind `yaml play`. */
  readonly flags: string;
  /** What the document says of it. */
  readonly claims: readonly string[];
  /** The block as it stands in the document. */
  readonly block: string;
}

export interface SimulatedExample extends Example {
  /** What the terminal says. */
  readonly printed: string;
  /** What `<kubewright-timeline>` shows. */
  readonly report: ReportData;
  /** The command that does the same with the YAML in a file. */
  readonly command: string;
  /** Of the playground's address, with its `#`. */
  readonly fragment: string;
}

const BLOCK = /^```yaml play(.*)\n([\s\S]*?)^```$|^```text played\n([\s\S]*?)^```$/gm;

/** The examples of a document, in their order. */
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
 * Plays an example.
 *
 * @throws Error when something is wrong with it, or when it does not print what the document says.
 */
export async function simulateExample(example: Example): Promise<SimulatedExample> {
  const { name, yaml, flags, claims } = example;
  const isScenario = /^kind: Scenario$/m.test(yaml);
  const window = windowOf(flags, name);
  const request = isScenario ? { manifests: "", scenario: yaml } : { manifests: yaml, ...window };
  const { report, summary, problems, command } = await runSimulation(request, {
    timeZoneData: process.versions["tz"] ?? "",
  });
  const errors = problems.filter(({ severity }) => severity === "error").map(({ message }) => message);
  if (report === undefined || errors.length > 0) throw new Error(`${name} cannot be played: ${errors.join("\n")}`);
  for (const claim of claims) assertPrinted(name, summary, claim);
  const scenario = isScenario ? yaml : scenarioOf(window);
  const fragment = await linkTo({ ...NOTHING, manifests: request.manifests, scenario });
  return { ...example, printed: summary.trimEnd(), report, command, fragment };
}

interface RequestedWindow {
  readonly start?: string;
  readonly for?: string;
  readonly seed?: number;
}

function windowOf(flags: string, name: string): RequestedWindow {
  const { values } = parseArgs({
    args: flags === "" ? [] : flags.split(/\s+/),
    options: { start: { type: "string" }, for: { type: "string" }, seed: { type: "string" } },
  });
  const { start, for: length, seed } = values;
  if (seed !== undefined && !/^\d+$/.test(seed)) throw new Error(`${name}: --seed ${seed} is no whole number`);
  return {
    ...(start === undefined ? {} : { start }),
    ...(length === undefined ? {} : { for: length }),
    ...(seed === undefined ? {} : { seed: Number(seed) }),
  };
}

/** What flags say, as a scenario says it. */
function scenarioOf(window: RequestedWindow): string {
  const fields = Object.entries(window).map(([field, value]) => `${field}: ${value}\n`);
  return fields.length === 0 ? "" : `apiVersion: sim.kubewright.dev/v1\nkind: Scenario\n${fields.join("")}`;
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

/** How wide a picture is does not matter. */
function withSingleSpaces(line: string): string {
  return line.trim().replaceAll(/\s+/g, " ");
}

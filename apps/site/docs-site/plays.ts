/**
 * Examples that are played while the site is built. In a document they are
 *
 *     ```yaml play --start 2026-03-28T00:00:00Z --for 3d
 *     (manifests, or a scenario)
 *     ```
 *
 * with the flags of `kubewright run`. What the prose says of them stands behind in a block ```` ```text played ````, whose
 * lines have to be in what was printed, or be the middle of such a line, in their order; `…` stands for any number of others.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { root } from "./repository.ts";

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

export interface PlayedExample extends Example {
  /** What the terminal says. */
  readonly printed: string;
  /** What `<kubewright-timeline>` shows. */
  readonly report?: unknown;
  /** The command that does the same with the YAML in a file. */
  readonly command: string;
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
 * Plays an example as a user would.
 *
 * @throws Error when the command fails, or does not print what the document says.
 */
export function playExample(example: Example): PlayedExample {
  const { name, yaml, flags, claims } = example;
  const isScenario = /^kind: Scenario$/m.test(yaml);
  const file = isScenario ? "scenario.yaml" : "manifests.yaml";
  const args = [...(isScenario ? ["--scenario"] : []), file, ...words(flags)];
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-example-"));
  try {
    writeFileSync(path.join(folder, file), yaml);
    const bin = path.join(root, "apps/simulator/bin/kubewright.js");
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, "run", ...args], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, COLUMNS: "100", NO_COLOR: "1" },
    });
    if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
    for (const claim of claims) assertPrinted(name, stdout, claim);
    return { ...example, printed: stdout.trimEnd(), command: `kubewright run ${args.join(" ")}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The words of a command line without quotes in words. */
function words(flags: string): string[] {
  return [...flags.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
}

function assertPrinted(name: string, printed: string, claim: string): void {
  const lines = printed.split("\n").map((line) => line.trim());
  let from = 0;
  for (const wanted of claim.split("\n").map((line) => line.trim())) {
    if (wanted === "" || wanted === "…") continue;
    const at = lines.findIndex((line, index) => index >= from && line.includes(wanted));
    if (at < 0) throw new Error(`${name} says it prints ${JSON.stringify(wanted)}, but printed\n${printed}`);
    from = at + 1;
  }
}

/** The page of lint rules, generated from the SARIF output of `kubewright lint` and the values of `--fail-on`. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { escaped } from "./commands-reference.ts";
import { readText, root } from "./repository.ts";

interface Sarif {
  readonly runs: readonly {
    readonly tool: {
      readonly driver: {
        readonly rules: readonly {
          readonly id: string;
          readonly shortDescription: { readonly text: string };
        }[];
      };
    };
  }[];
}

export function rulesPage(): string {
  return `# Rules

## What \`kubewright lint\` finds

Made of the rules that \`kubewright lint --sarif\` declares. [Lint](/lint) has a chapter on each: what is wrong, and what to do.

| Rule | Finds |
| --- | --- |
${lintRules()
  .map(({ id, text }) => `| [\`${id}\`](/lint#${id}) | ${escaped(text)} |`)
  .join("\n")}

## What \`--fail-on\` takes

${failOnTable()}

A rule is \`[SELECTION:]NAME[>BOUND][>SHARE%]\`. [Every future, and rules](/futures#rules) says what each part means.
`;
}

function lintRules(): { readonly id: string; readonly text: string }[] {
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-rules-"));
  try {
    const bin = path.join(root, "apps/simulator/bin/kubewright.js");
    const file = path.join(folder, "lint.sarif");
    const args = ["lint", "examples/pi.yaml", "--from", "2026-01-01T00:00:00Z", "--sarif", file];
    const { status, stderr } = spawnSync(process.execPath, [bin, ...args], { cwd: root, encoding: "utf8" });
    if (status !== 0) throw new Error(`kubewright lint ended with ${status}: ${stderr}`);
    return rulesIn(JSON.parse(readFileSync(file, "utf8")) as Sarif);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function rulesIn(sarif: Sarif): { readonly id: string; readonly text: string }[] {
  const { rules } = sarif.runs[0]!.tool.driver;
  return rules.map(({ id, shortDescription }) => ({ id, text: shortDescription.text }));
}

/** Extracts the table of incident kinds from the document. */
function failOnTable(): string {
  const table = /^## What is counted\n\n((?:\|.*\n)+)/m.exec(readText("docs/futures.md"))?.[1];
  if (table === undefined) throw new Error("docs/futures.md: there is no table under “What is counted”");
  return table.trim();
}

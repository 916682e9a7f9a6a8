/** Pages about commands, generated from the output of `--help`. */
import { spawnSync } from "node:child_process";
import path from "node:path";

import { root } from "./repository.ts";
import { COMMANDS } from "./site-map.ts";

interface HelpEntry {
  readonly term: string;
  text: string;
}
interface HelpSection {
  readonly title: string;
  readonly entries: HelpEntry[];
  readonly lines: string[];
}

/** Returns Markdown by route. */
export function commandPages(): Map<string, string> {
  const pages = new Map<string, string>();
  for (const command of COMMANDS)
    pages.set(
      `reference/commands/${command}`,
      commandPage(`kubewright ${command}`, "apps/simulator/bin/kubewright.js", [command], "--help-all"),
    );
  pages.set(
    "reference/commands/controller-manager",
    commandPage("kubewright-controller-manager", "apps/controller-manager/bin/kubewright-controller-manager.js", []),
  );
  pages.set(
    "reference/commands/operator",
    commandPage("kubewright-operator", "packages/operator/bin/kubewright-operator.js", []),
  );
  return pages;
}

function commandPage(title: string, bin: string, args: readonly string[], help = "--help"): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(root, bin), ...args, help], {
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  if (status !== 0) throw new Error(`${title} ${help} ended with ${status}: ${stderr}`);
  return `# ${title}\n\nThe output of \`${title} ${help}\`.\n\n${helpMarkdown(stdout)}`;
}

/** Converts a help text in commander's layout to Markdown. */
export function helpMarkdown(help: string): string {
  const [usage, ...paragraphs] = help.trim().split(/\n\n/);
  const parts = [`\`\`\`text\n${usage!.replace(/^Usage: /, "")}\n\`\`\``];
  for (const paragraph of paragraphs) {
    const section = readSection(paragraph);
    if (section === undefined) parts.push(escaped(paragraph.replaceAll("\n", " ")));
    else if (section.title === "Examples")
      parts.push(
        `## Examples\n\n\`\`\`sh\n${section.lines.map((line) => line.trim().replace(/^\$ /, "")).join("\n")}\n\`\`\``,
      );
    else if (section.entries.length === 0)
      parts.push(`## ${escaped(section.title)}\n\n\`\`\`text\n${section.lines.join("\n")}\n\`\`\``);
    else
      parts.push(
        `## ${escaped(section.title)}\n\n| Name | Is |\n| --- | --- |\n${section.entries
          .map(({ term, text }) => `| <code v-pre>${inCell(term)}</code> | ${inCell(text)} |`)
          .join("\n")}`,
      );
  }
  return `${parts.join("\n\n")}\n`;
}

function readSection(paragraph: string): HelpSection | undefined {
  const [first, ...lines] = paragraph.split("\n");
  const title = /^(\S.*):$/.exec(first!)?.[1];
  if (title === undefined || lines.length === 0) return undefined;
  const entries: HelpEntry[] = [];
  for (const line of lines) {
    const [, term, text] = /^ {2}(\S.*?)(?: {2,}(.*))?$/.exec(line) ?? [];
    if (term !== undefined && !term.startsWith("$")) entries.push({ term, text: text ?? "" });
    else if (/^ {3,}\S/.test(line) && entries.length > 0) entries.at(-1)!.text += ` ${line.trim()}`;
  }
  return { title, entries: entries.filter(({ text }) => text !== ""), lines };
}

function inCell(text: string): string {
  return escaped(text.trim()).replaceAll("|", "\\|");
}

/** Escapes a text for Markdown and Vue. */
export function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("{{", "&#123;&#123;")
    .replace(/[*_[\]]/g, String.raw`\$&`);
}

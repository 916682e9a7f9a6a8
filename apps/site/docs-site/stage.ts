/**
 * Writes all pages as Markdown into a folder that VitePress builds: documents with converted links, and generated
 * pages.
 */
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import { type ApiPage, apiPages, apiReference } from "./api-reference.ts";
import { commandPages } from "./commands-reference.ts";
import { withSiteLinks } from "./links.ts";
import { type SimulatedExample, examplesOf, simulateExample } from "./examples.ts";
import { readText, root } from "./repository.ts";
import { rulesPage } from "./rules-reference.ts";
import { schemaPage } from "./schema-reference.ts";
import { PAGES, SCHEMAS, SECTIONS, type SitePage } from "./site-map.ts";

export interface StageOptions {
  /** Output folder, emptied first. It must be inside `apps/site`, so that the theme finds its packages. */
  readonly folder: string;
  /** Import paths of the API pages. Default: all. */
  readonly apiOf?: readonly string[];
}

export async function stage({ folder, apiOf }: StageOptions): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  cpSync(path.join(import.meta.dirname, "vitepress"), path.join(folder, ".vitepress"), { recursive: true });
  cpSync(path.join(root, "docs/images"), path.join(folder, "public/images"), { recursive: true });
  cpSync(path.join(import.meta.dirname, "icon.svg"), path.join(folder, "public/icon.svg"));
  for (const page of PAGES)
    if (page.source !== undefined) writePage(folder, page.route, await documentPage(page, folder));
  for (const [route, text] of commandPages()) writePage(folder, route, text);
  writePage(folder, "reference/rules", rulesPage());
  for (const name of SCHEMAS) {
    const text = readText(`apps/simulator/${name}.schema.json`);
    writePage(folder, `reference/${name}`, schemaPage(name, text));
    write(path.join(folder, `public/schemas/${name}.schema.json`), text);
  }
  const api = apiPages(apiOf);
  for (const [route, text] of await apiReference(api, path.join(folder, ".typedoc")))
    // Thousands of API members would hide the written pages in the search. API pages are reachable by their package.
    writePage(folder, route, `---\nsearch: false\noutline: [2, 3]\neditLink: false\n---\n\n${text}`);
  writePage(folder, "api/index", apiIndex(api));
  writeFileSync(path.join(folder, ".vitepress/pages.json"), JSON.stringify(sidebar(api), undefined, 2));
}

function writePage(folder: string, route: string, text: string): void {
  write(path.join(folder, `${route}.md`), text);
}

function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

async function documentPage({ source, route }: SitePage, folder: string): Promise<string> {
  let text = withSiteLinks(readText(source!), source!);
  for (const example of examplesOf(text, route)) {
    const simulated = await simulateExample(example);
    text = text.replace(example.block, () => exampleMarkdown(simulated));
    write(path.join(folder, `public/played/${simulated.name}.json`), JSON.stringify(simulated.report));
  }
  return text.replaceAll("```text played\n", "```text\n");
}

/** Returns the YAML of an example, its timeline, and the output as text. */
function exampleMarkdown({ name, yaml, command, printed, fragment }: SimulatedExample): string {
  return `\`\`\`yaml\n${yaml}\`\`\`

<PlayedExample name="${name}" command="${command}" fragment="${fragment}">

\`\`\`text
${printed}
\`\`\`

</PlayedExample>`;
}

function apiIndex(pages: readonly ApiPage[]): string {
  return `# API

What can be imported, with every member's types and doc comments, as the sources have them. What a package is for, and how it is
used, is on the page of the package.

| Import from | Package |
| --- | --- |
${pages.map(({ entry, route }) => `| [\`${entry}\`](/${route}) | [${packageOf(entry)}](/packages/${packageOf(entry).replace("@kubewright/", "")}) |`).join("\n")}
`;
}

function packageOf(entry: string): string {
  return entry
    .split("/")
    .slice(0, entry.startsWith("@") ? 2 : 1)
    .join("/");
}

/** Returns the sidebars in the format of VitePress' theme: guides, and reference documentation. */
function sidebar(api: readonly ApiPage[]): unknown {
  const link = ({ title, route }: SitePage): unknown => ({ text: title, link: `/${route}` });
  const sections = (wanted: boolean): unknown[] =>
    SECTIONS.filter(({ isReference = false }) => isReference === wanted).map(({ title, pages }) => ({
      text: title,
      items: pages.map(link),
    }));
  const items = api.map(({ entry, route }) => ({ text: entry.replace("@kubewright/", ""), link: `/${route}` }));
  const reference = [...sections(true), { text: "API", items: [{ text: "All", link: "/api/" }, ...items] }];
  return {
    sidebar: { "/": sections(false), "/reference/": reference, "/packages/": reference, "/api/": reference },
    sources: Object.fromEntries(PAGES.map(({ route, source }) => [`${route}.md`, source])),
  };
}

/** Returns whether the commands are built, so that their help and the examples are available. */
export function isBuilt(): boolean {
  return existsSync(path.join(root, "apps/simulator/dist/main.js"));
}

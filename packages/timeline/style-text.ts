/**
 * Converts the page's style sheet to that of the element. Rules that depend on the window size depend on the element
 * size instead, and print rules are left to the host page.
 *
 *     node style-text.ts   writes src/element/style-text.ts; a test checks that it matches the page's style sheet
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";

import { build } from "esbuild";

const FILE = path.join(import.meta.dirname, "src/element/style-text.ts");

/**
 * Styles of the element itself. The host page controls its height and color scheme; the transition signals changes of
 * the color scheme.
 */
const AROUND = `:host{display:block;height:36rem;contain:content;color-scheme:inherit}.frame{box-sizing:border-box;container-type:size;height:100%;overflow:auto;transition:background-color 1ms}`;

/** Returns the style sheet of the element. */
export async function elementStyle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [path.join(import.meta.dirname, "src/page/page.css")],
    bundle: true,
    minify: true,
    write: false,
    logLevel: "silent",
  });
  const css = withoutBlocks(outputFiles[0]!.text.trim(), ["@media print", "@page"])
    .replaceAll("@media (max-width", "@container (max-width")
    .replaceAll("@media(max-width", "@container (max-width")
    .replaceAll(/(\d)vh\b/g, "$1cqh");
  return css + AROUND;
}

function withoutBlocks(css: string, heads: readonly string[]): string {
  for (const head of heads)
    for (let from = css.indexOf(head); from >= 0; from = css.indexOf(head)) {
      let at = css.indexOf("{", from);
      for (let depth = 1; depth > 0;) {
        const character = css[++at];
        if (character === "{") depth++;
        else if (character === "}" || character === undefined) depth--;
      }
      css = css.slice(0, from) + css.slice(at + 1);
    }
  return css;
}

if (process.argv[1] === import.meta.filename) {
  const style = await elementStyle();
  if (style.includes("'")) throw new Error("the style sheet has a quotation mark that it should not have");
  writeFileSync(
    FILE,
    `// Made of ../page/page.css by \`node style-text.ts\`.\nexport const styleText =\n  '${style}';\n`,
  );
}

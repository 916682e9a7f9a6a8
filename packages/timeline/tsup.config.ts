import { type Options, defineConfig } from "tsup";

import { browserScript, d3Banner, preset } from "../../tooling/tsup-preset.ts";

/** The element for a script tag: one self-contained file. */
export const script = {
  ...browserScript,
  entry: { timeline: "src/timeline.ts" },
  esbuildOptions: (options) => {
    options.legalComments = "none";
  },
} satisfies Options;

/** The page's style sheet. */
const style = {
  entry: { page: "src/page/page.css" },
  minify: true,
  clean: false,
  silent: true,
} satisfies Options;

export default [
  preset({
    entry: ["src/index.ts", "src/data/index.ts", "src/page/index.ts"],
    splitting: true,
    // Bundles the needed part of D3, so that installing the package installs no dependencies.
    noExternal: [/^d3-/],
    banner: d3Banner,
    target: "es2022",
    clean: ["!**/*.d.ts", "!timeline.js", "!page.css"],
  }),
  defineConfig(script),
  defineConfig(style),
].flat();

import { type Options, defineConfig } from "tsup";

import { preset } from "../../tooling/tsup-preset.ts";

const banner = {
  js: "/*! With parts of D3, https://d3js.org. Copyright 2010-2026 Mike Bostock, ISC License; d3-ease: Copyright 2010-2026 Mike Bostock, 2001 Robert Penner, BSD-3-Clause. */",
};

/** The element for a script tag: one self-contained file. */
export const script = {
  entry: { timeline: "src/timeline.ts" },
  format: ["iife"],
  // `timeline.js`, not `timeline.global.js`.
  outExtension: () => ({ js: ".js" }),
  target: "es2022",
  platform: "browser",
  minify: true,
  clean: false,
  silent: true,
  noExternal: [/.*/],
  banner,
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
    banner,
    target: "es2022",
    clean: ["!**/*.d.ts", "!timeline.js", "!page.css"],
  }),
  defineConfig(script),
  defineConfig(style),
].flat();

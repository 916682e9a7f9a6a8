import { type Options, defineConfig } from "tsup";

import { preset } from "../../tooling/tsup-preset.ts";

/** The page's script, which reports hold and `serve` hands out: one file with all it needs. */
export const page = {
  entry: { page: "src/page/main.ts" },
  format: ["iife"],
  // `page.js`, not `page.global.js`.
  outExtension: () => ({ js: ".js" }),
  target: "es2022",
  platform: "browser",
  minify: true,
  clean: false,
  silent: true,
  noExternal: [/.*/],
  banner: {
    js: "/*! With parts of D3, https://d3js.org. Copyright 2010-2026 Mike Bostock, ISC License; d3-ease: Copyright 2010-2026 Mike Bostock, 2001 Robert Penner, BSD-3-Clause. */",
  },
  esbuildOptions: (options) => {
    options.conditions = ["@kubewright/source"];
    options.legalComments = "none";
  },
} satisfies Options;

/** The page's style sheet. */
export const style = {
  entry: { page: "../../packages/timeline/src/page/page.css" },
  minify: true,
  clean: false,
  silent: true,
} satisfies Options;

// A chunk for each command.
export default [
  preset({
    entry: [
      "src/index.ts",
      "src/browser/index.ts",
      "src/main.ts",
      "src/future-worker.ts",
      "src/node-segment-worker.ts",
      "src/fuzz-worker.ts",
    ],
    splitting: true,
  }),
  defineConfig(page),
  defineConfig(style),
].flat();

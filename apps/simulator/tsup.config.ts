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
    // All in one folder, from which the command starts its threads and reads the page.
    entry: {
      index: "src/index.ts",
      "browser/index": "src/browser/index.ts",
      main: "src/main.ts",
      "future-worker": "src/nodejs/future-worker.ts",
      "segment-worker": "src/nodejs/segment-worker.ts",
      "fuzz-worker": "src/nodejs/fuzz-worker.ts",
    },
    splitting: true,
  }),
  defineConfig(page),
  defineConfig(style),
].flat();

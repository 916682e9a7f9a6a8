import { type Options, defineConfig } from "tsup";

import { browserScript, preset } from "../../tooling/tsup-preset.ts";

/** The page's script, which reports hold and `serve` hands out: one file with all it needs. */
export const page = {
  ...browserScript,
  entry: { page: "src/page/main.ts" },
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

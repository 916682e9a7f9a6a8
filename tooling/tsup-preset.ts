import { type Options, defineConfig } from "tsup";

/** The licence remark of bundles that contain parts of D3. */
export const d3Banner = {
  js: "/*! With parts of D3, https://d3js.org. Copyright 2010-2026 Mike Bostock, ISC License; d3-ease: Copyright 2010-2026 Mike Bostock, 2001 Robert Penner, BSD-3-Clause. */",
};

/** Bundle settings of a script tag: one self-contained file, named as its entry. */
export const browserScript = {
  format: ["iife"],
  // `page.js`, not `page.global.js`.
  outExtension: () => ({ js: ".js" }),
  target: "es2022",
  platform: "browser",
  minify: true,
  clean: false,
  silent: true,
  noExternal: [/.*/],
  banner: d3Banner,
} satisfies Options;

/**
 * Bundle settings of every package: one ESM file per entry, with siblings and dependencies external. Without source
 * maps, which double a tarball: the output keeps names, lines and file headings, so that stack traces are readable.
 */
export function preset(options: Options = {}): ReturnType<typeof defineConfig> {
  return defineConfig({
    entry: ["src/index.ts"],
    format: ["esm"],
    target: "node22",
    platform: "node",
    // Removes chunks of earlier builds, which would be packed. Other tools write the declarations and the rest of the
    // folder.
    clean: ["!**/*.d.ts", "!page.*"],
    splitting: false,
    // Some modules, such as node:sea, require the prefix.
    removeNodeProtocol: false,
    silent: true,
    ...options,
  });
}

import { type Options, defineConfig } from "tsup";

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

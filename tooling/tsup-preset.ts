import { type Options, defineConfig } from "tsup";

/** How every package is bundled: one ESM file per entry, siblings and dependencies left external. */
export function preset(options: Options = {}): ReturnType<typeof defineConfig> {
  return defineConfig({
    entry: ["src/index.ts"],
    format: ["esm"],
    target: "node22",
    platform: "node",
    sourcemap: true,
    // Chunks of earlier builds would be packed; declarations and the rest of the folder are made by others.
    clean: ["!**/*.d.ts", "!page.*"],
    splitting: false,
    // Some modules, such as node:sea, have no name without it.
    removeNodeProtocol: false,
    silent: true,
    // The sources are in the package; maps lead there.
    esbuildOptions: (esbuild) => {
      esbuild.sourcesContent = false;
    },
    ...options,
  });
}

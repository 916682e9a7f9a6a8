/**
 * Builds the site as static files for any web server: the documentation at its root and the playground in `play/`. Run
 * `npm run build` first.
 *
 *     node apps/site/build.ts                      into apps/site/dist
 *     node apps/site/build.ts --base /kubewright/  for a server that serves it under that path
 *     node apps/site/build.ts --api NAME           describes the API of that import path only; may be repeated
 *     node apps/site/build.ts --out FOLDER         into another folder
 */
import path from "node:path";
import { parseArgs } from "node:util";

import { build } from "vitepress";

import { isBuilt, stage } from "./docs-site/stage.ts";
import { buildPlayground } from "./playground/build.ts";

const { values: flags } = parseArgs({
  options: {
    base: { type: "string", default: "/" },
    api: { type: "string", multiple: true },
    out: { type: "string", default: path.join(import.meta.dirname, "dist") },
  },
});
if (!isBuilt()) throw new Error("the packages are not built: npm run build");
const outDir = path.resolve(flags.out);
const folder = path.join(import.meta.dirname, ".staging", path.basename(outDir));
await stage({ folder, ...(flags.api === undefined ? {} : { apiOf: flags.api }) });
await build(folder, { base: flags.base, outDir });
await buildPlayground(path.join(outDir, "play"));

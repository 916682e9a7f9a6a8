/**
 * Fills in `.krew.yaml` for a release from the `.sha256` files beside the archives in FOLDER, and prints it. A platform
 * without an archive is an error; `--present` omits such platforms.
 *
 *     node tooling/release/krew-manifest.ts VERSION FOLDER [--present]
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

import { parse, stringify } from "yaml";

import { root } from "../public-packages.ts";

interface Plugin {
  readonly spec: { readonly platforms: readonly { readonly uri: string }[] };
}

const [version, folder, flag] = process.argv.slice(2);
if (version === undefined || folder === undefined || !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) {
  console.error("usage: krew-manifest.ts VERSION FOLDER [--present]");
  process.exit(2);
}
const digestFile = (archive: string): string => path.join(folder, `${archive}.sha256`);
const text = readFileSync(path.join(root, ".krew.yaml"), "utf8")
  .replaceAll("{{version}}", version)
  .replace(/\{\{sha256 (\S+)\}\}/g, (_whole, archive: string) =>
    existsSync(digestFile(archive)) ? readFileSync(digestFile(archive), "utf8").split(" ")[0]! : "",
  );
const plugin = parse(text) as Plugin;
const isThere = ({ uri }: { readonly uri: string }): boolean => existsSync(digestFile(path.posix.basename(uri)));
const missing = plugin.spec.platforms.filter((platform) => !isThere(platform));
if (missing.length > 0 && flag !== "--present") {
  for (const { uri } of missing) console.error(`${digestFile(path.posix.basename(uri))} is not there`);
  process.exit(1);
}
const platforms = plugin.spec.platforms.filter(isThere);
process.stdout.write(stringify({ ...plugin, spec: { ...plugin.spec, platforms } }));

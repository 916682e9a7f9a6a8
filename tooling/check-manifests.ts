/**
 * Checks the registry metadata of every published package: repository and issue tracker, licence and changelog, and a
 * README with an install command, an exports table and no relative links. A name that several entry points export is one
 * declaration.
 *
 *     node tooling/check-manifests.ts          prints what is missing or out of date
 *     node tooling/check-manifests.ts --write  writes the READMEs' tables of exports, licences and empty changelogs
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { ExportedNames } from "./exported-names.ts";
import { type Manifest, type PublicPackage, entryPoints, publicPackages, root } from "./public-packages.ts";

const REPOSITORY = "https://github.com/kubewright/kubewright";
/** The generated section of a README. */
const TABLE = /^## Exports\n\n(?:\|.*\n)+/m;

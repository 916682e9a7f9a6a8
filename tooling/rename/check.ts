/** Lists what a map would rename, without resolving references. `node check.ts [--root DIR] FILE…`, FILE being maps. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

import ts from "typescript";

import { planRenames } from "./planned-renames.ts";
import { readRenameMap } from "./rename-map.ts";

const args = process.argv.slice(2);
const rootAt = args.indexOf("--root");
const root = rootAt === -1 ? path.resolve(import.meta.dirname, "../..") : args.splice(rootAt, 2)[1]!;
const { rules, texts } = readRenameMap(args);
const tracked = execFileSync("git", ["ls-files", "*.ts", "*.mjs"], { cwd: root, encoding: "utf8" }).trim().split("\n");
const relevant = new Set(
  rules.flatMap((rule) =>
    rule.kind === "word" ? [rule.below] : rule.kind === "file" || rule.kind === "literal" ? [] : [rule.file],
  ),
);
const files = tracked.filter((file) => [...relevant].some((below) => file.startsWith(below)));
const sources = files.map((file) =>
  ts.createSourceFile(path.join(root, file), readFileSync(path.join(root, file), "utf8"), ts.ScriptTarget.Latest, true),
);
const { renames, unused } = planRenames(rules, sources, root);
for (const rename of renames) console.log(`${rename.file}: ${rename.path} → ${rename.to}`);
for (const rule of unused) console.log(`MATCHES NOTHING: ${JSON.stringify(rule)}`);
for (const rule of rules)
  if (rule.kind === "file" && !existsSync(path.join(root, rule.from))) console.log(`NO SUCH FILE: ${rule.from}`);
console.log(
  `${renames.length} names, ${rules.filter(({ kind }) => kind === "file").length} files, ${texts.length} texts`,
);

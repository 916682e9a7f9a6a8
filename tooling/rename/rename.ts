/**
 * Renames the files and symbols of a map, in all sources of the repository at once.
 *
 *     node rename.ts [--root DIR] [--only PACKAGE,…] [--conflicts] MAP…
 *
 * `--only` applies what is declared in these packages (`packages/job`); default: everything. `--conflicts` only lists references that a
 * new name would bind to another declaration, and rules that match nothing. Writes into the tree; commits nothing.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import ts from "typescript";

import { fileMoves } from "./file-moves.ts";
import { loadProgram } from "./load-program.ts";
import { mutantEdits } from "./mutant-edits.ts";
import { planRenames } from "./planned-renames.ts";
import { readRenameMap } from "./rename-map.ts";
import { type Edit, packageOf, symbolEdits } from "./symbol-edits.ts";

const args = process.argv.slice(2);
const take = (name: string): string | undefined => {
  const at = args.indexOf(name);
  return at === -1 ? undefined : args.splice(at, 2)[1];
};
const root = path.resolve(take("--root") ?? path.join(import.meta.dirname, "../.."));
/** Stages separated by `;`, packages of a stage by commas: each stage is committed with the message of its packages. */
const stages = take("--stages")
  ?.split(";")
  .map((stage) => stage.split(","));
const only = take("--only")?.split(",");
const before = take("--before-commit");
const conflictsOnly = args.includes("--conflicts");
/** What `corrections.txt` says of a name wins over the other maps. */
const isCorrections = (map: string): boolean => path.basename(map) === "corrections.txt";
const maps = args
  .filter((arg) => !arg.startsWith("--"))
  .toSorted((a, b) => Number(isCorrections(a)) - Number(isCorrections(b)));

const { rules } = readRenameMap(maps);
const literals = new Map(rules.flatMap((rule) => (rule.kind === "literal" ? [[rule.from, rule] as const] : [])));
const { program, files } = loadProgram(root);
const { renames, unused } = planRenames(rules, files, root);
const { edits, conflicts } = symbolEdits(program, files, renames, root, literals);
for (const conflict of conflicts) console.log(`CONFLICT ${conflict}`);
for (const rule of unused) console.log(`MATCHES NOTHING: ${JSON.stringify(rule)}`);
console.log(`${renames.length} declarations, ${[...edits.values()].reduce((sum, list) => sum + list.length, 0)} edits`);
if (!conflictsOnly) {
  const moves = fileMoves(
    rules,
    files.map(({ fileName }) => path.relative(root, fileName)),
  );
  for (const [file, list] of mutantEdits(files, edits, moves, root))
    edits.set(file, [...(edits.get(file) ?? []), ...list]);
  if (stages === undefined) write(only);
  else {
    const done: string[] = [];
    for (const stage of stages) {
      done.push(...stage);
      write(done);
      if (before !== undefined) execFileSync("bash", ["-c", before], { cwd: root, stdio: "inherit" });
      commit(stage);
    }
  }

  function commit(stage: readonly string[]): void {
    execFileSync("git", ["add", "-A", "--", ".", ":!tooling/rename"], { cwd: root });
    if (execFileSync("git", ["diff", "--cached", "--name-only"], { cwd: root, encoding: "utf8" }).trim() === "") return;
    const subject = `${stage.map((pkg) => path.basename(pkg)).join(", ")}: rename to the field's terms`;
    const body = "Applied by tooling/rename; the map has every old and new name.";
    execFileSync("git", ["commit", "-q", "-m", subject, "-m", body], { cwd: root });
    console.log(subject);
  }

  /** Writes all files as they are when these packages are renamed; `undefined`: all packages. */
  function write(packages: readonly string[] | undefined): void {
    const isActive = (pkg: string): boolean => packages === undefined || packages.includes(pkg);
    for (const source of files) {
      const old = path.relative(root, source.fileName);
      const text = apply(
        source.text,
        [...(edits.get(source.fileName) ?? []), ...moves.specifierEdits(source, old)],
        isActive,
      );
      const target = moves.pathOf(old, isActive);
      if (target !== old && existsSync(path.join(root, old))) {
        mkdirSync(path.dirname(path.join(root, target)), { recursive: true });
        execFileSync("git", ["mv", old, target], { cwd: root });
      }
      const at = path.join(root, target);
      if (readFileSync(at, "utf8") !== text) writeFileSync(at, text);
    }
  }
}

function apply(text: string, list: readonly Edit[], isActive: (pkg: string) => boolean): string {
  let out = "";
  let at = 0;
  let last = -1;
  for (const edit of list.toSorted((a, b) => a.start - b.start)) {
    if (edit.start < at || edit.start === last) continue;
    out += text.slice(at, edit.start) + edit.render(isActive);
    at = edit.end;
    last = edit.start;
  }
  return out + text.slice(at);
}

void ts;
void packageOf;

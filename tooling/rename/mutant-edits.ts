import path from "node:path";

import ts from "typescript";

import type { FileMoves } from "./file-moves.ts";
import type { Edit } from "./symbol-edits.ts";

/**
 * The textual changes of mutants: `find` is text of a source file, which is renamed as the file is; in `replace` each name becomes what it
 * becomes in that file.
 */
export function mutantEdits(
  files: readonly ts.SourceFile[],
  edits: ReadonlyMap<string, readonly Edit[]>,
  moves: FileMoves,
  root: string,
): Map<string, Edit[]> {
  const byPath = new Map(files.map((file) => [path.relative(root, file.fileName), file]));
  const found = new Map<string, Edit[]>();
  for (const mutant of files) {
    if (!path.relative(root, mutant.fileName).startsWith("packages/simulation/mutants/")) continue;
    const list: Edit[] = [];
    (function visit(node: ts.Node): void {
      if (ts.isObjectLiteralExpression(node)) change(node);
      ts.forEachChild(node, visit);
    })(mutant);
    if (list.length > 0) found.set(mutant.fileName, list);

    function change(node: ts.ObjectLiteralExpression): void {
      const member = (name: string): ts.Expression | undefined =>
        node.properties.find(
          (each): each is ts.PropertyAssignment => ts.isPropertyAssignment(each) && each.name.getText() === name,
        )?.initializer;
      const file = member("file");
      const find = member("find");
      const replace = member("replace");
      if (file === undefined || find === undefined || !ts.isStringLiteralLike(file) || !ts.isStringLiteralLike(find))
        return;
      const source = byPath.get(file.text);
      if (source === undefined) return;
      const at = source.text.indexOf(find.text);
      if (at === -1) {
        console.log(`MUTANT ${mutant.fileName}: find does not match`);
        return;
      }
      const all = [...(edits.get(source.fileName) ?? []), ...moves.specifierEdits(source, file.text)].toSorted(
        (a, b) => a.start - b.start,
      );
      list.push({
        start: file.getStart(mutant),
        end: file.end,
        render: (isActive) => JSON.stringify(moves.pathOf(file.text, isActive)),
      });
      list.push({
        start: find.getStart(mutant),
        end: find.end,
        render: (isActive) => {
          let out = "";
          let position = at;
          for (const edit of all) {
            if (edit.end <= at || edit.start >= at + find.text.length || edit.start < position) continue;
            out += source.text.slice(position, edit.start) + edit.render(isActive);
            position = edit.end;
          }
          return literal(out + source.text.slice(position, at + find.text.length), find);
        },
      });
      if (replace === undefined || !ts.isStringLiteralLike(replace)) return;
      list.push({
        start: replace.getStart(mutant),
        end: replace.end,
        render: (isActive) => {
          // Names of the replaced text first, then those of the rest of the file when all of them agree.
          const names = new Map<string, string>();
          const inFile = new Map<string, Set<string>>();
          for (const edit of all) {
            const old = source.text.slice(edit.start, edit.end);
            const now = edit.render(isActive);
            if (edit.start >= at && edit.end <= at + find.text.length)
              names.set(old, now.includes(": ") ? (now.split(": ")[1] ?? now) : now);
            inFile.set(old, (inFile.get(old) ?? new Set()).add(now));
          }
          for (const [old, now] of inFile) if (!names.has(old) && now.size === 1) names.set(old, [...now][0]!);
          return literal(
            replace.text.replaceAll(/#?[A-Za-z_$][\w$]*/g, (name) => names.get(name) ?? name),
            replace,
          );
        },
      });
    }
  }
  return found;
}

/** Writes a string as the literal that was there: quotes for one line, a template for several. */
function literal(text: string, like: ts.StringLiteralLike): string {
  if (ts.isStringLiteral(like)) return JSON.stringify(text);
  return `\`${text.replaceAll("\\", "\\\\").replaceAll("`", "\\`").replaceAll("${", "\\${")}\``;
}

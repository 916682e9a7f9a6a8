import path from "node:path";

import ts from "typescript";

import type { Rule } from "./rename-map.ts";
import { type Edit, packageOf } from "./symbol-edits.ts";

export interface FileMoves {
  /** Where a file is once the packages are renamed. */
  pathOf(file: string, isActive: (pkg: string) => boolean): string;
  /** Relative module specifiers and `new URL("./file", import.meta.url)`. */
  specifierEdits(source: ts.SourceFile, file: string): readonly Edit[];
}

/** Moves the files of the map with their tests; a rule may name a folder. */
export function fileMoves(rules: readonly Rule[], files: readonly string[]): FileMoves {
  const targets = new Map<string, string>();
  const fileRules = rules.filter((rule) => rule.kind === "file");
  const folders = fileRules
    .filter(({ from }) => !/\.[a-z.-]+$/.test(from))
    .toSorted((a, b) => b.from.length - a.from.length);
  const exact = new Map(fileRules.map(({ from, to }) => [from, to]));
  for (const file of files) {
    const own = exact.get(file) ?? besideItsSource(file);
    if (own !== undefined) targets.set(file, own);
    else {
      const folder = folders.find(({ from }) => file.startsWith(`${from}/`));
      if (folder !== undefined) targets.set(file, folder.to + file.slice(folder.from.length));
    }
  }

  function besideItsSource(file: string): string | undefined {
    const match = /^(.*)\.(test|test-d|heavy\.test|[a-z-]+\.test)\.ts$/.exec(file);
    if (match === null) return undefined;
    const moved = exact.get(`${match[1]!}.ts`);
    return moved === undefined ? undefined : `${moved.replace(/\.ts$/, "")}.${match[2]!}.ts`;
  }

  const known = new Set(files);
  const pathOf = (file: string, isActive: (pkg: string) => boolean): string => {
    const target = targets.get(file);
    return target !== undefined && isActive(packageOf(file)) ? target : file;
  };
  return {
    pathOf,
    specifierEdits: (source, file) => {
      const edits: Edit[] = [];
      (function visit(node: ts.Node): void {
        if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
          const text = node.text;
          if (/^\.\.?\//.test(text)) specifier(node, text);
        }
        ts.forEachChild(node, visit);
      })(source);
      return edits;

      function specifier(node: ts.StringLiteralLike, text: string): void {
        const absolute = path.posix.join(path.posix.dirname(file), text);
        const candidates = [absolute, absolute.replace(/\.js$/, ".ts"), `${absolute}.ts`];
        const resolved = candidates.find((each) => known.has(each));
        if (resolved === undefined) return;
        if (!targets.has(resolved) && !targets.has(file)) return;
        const extension = /\.(js|ts|mjs)$/.exec(text)?.[0] ?? "";
        edits.push({
          start: node.getStart(source) + 1,
          end: node.end - 1,
          render: (isActive) => {
            const from = path.posix.dirname(pathOf(file, isActive));
            const to = pathOf(resolved, isActive).replace(/\.(ts|mjs)$/, "") + extension;
            const relative = path.posix.relative(from, to);
            return relative.startsWith(".") ? relative : `./${relative}`;
          },
        });
      }
    },
  };
}

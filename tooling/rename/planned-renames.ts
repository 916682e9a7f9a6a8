import path from "node:path";

import type ts from "typescript";

import { type DeclaredName, declaredNames } from "./declared-names.ts";
import { type Rule, replaceWord } from "./rename-map.ts";

/** A declared name and what the map makes of it. */
export interface PlannedRename extends DeclaredName {
  readonly file: string;
  readonly to: string;
}

export interface Plan {
  readonly renames: readonly PlannedRename[];
  /** Rules that match nothing. */
  readonly unused: readonly Rule[];
}

/** Matches the rules with the declared names of the files. A `name` or `keep` rule wins over `word` rules. */
export function planRenames(rules: readonly Rule[], files: readonly ts.SourceFile[], root: string): Plan {
  const used = new Set<Rule>();
  const words = rules.filter((rule) => rule.kind === "word").toSorted((a, b) => b.below.length - a.below.length);
  const exact = new Map<string, Rule & { kind: "name" | "keep" }>();
  for (const rule of rules)
    if (rule.kind === "name" || rule.kind === "keep") exact.set(`${rule.file}\n${rule.symbol}`, rule);
  const renames: PlannedRename[] = [];
  for (const source of files) {
    const file = path.relative(root, source.fileName);
    const local = words.filter((rule) => isBelow(file, rule.below));
    for (const declared of declaredNames(source)) {
      const rule = exact.get(`${file}\n${declared.path}`);
      if (rule !== undefined) {
        used.add(rule);
        if (rule.kind === "name") renames.push({ ...declared, file, to: rule.to });
        continue;
      }
      let to = declared.name;
      for (const word of local) {
        const next = replaceWord(to, word.from, word.to);
        if (next !== to) used.add(word);
        to = next;
      }
      if (to !== declared.name) renames.push({ ...declared, file, to });
    }
  }
  const unused = rules.filter((rule) => rule.kind !== "file" && rule.kind !== "literal" && !used.has(rule));
  return { renames, unused };
}

function isBelow(file: string, below: string): boolean {
  return (
    file === below ||
    file.startsWith(below.endsWith("/") ? below : `${below}/`) ||
    (below.endsWith("-") && file.startsWith(below))
  );
}

import { readFileSync } from "node:fs";

/** One line of a map: what is renamed, below which path, to what. */
export type Rule =
  | { readonly kind: "file"; readonly from: string; readonly to: string }
  | { readonly kind: "name"; readonly file: string; readonly symbol: string; readonly to: string }
  | { readonly kind: "word"; readonly below: string; readonly from: string; readonly to: string }
  | { readonly kind: "literal"; readonly pkg: string; readonly from: string; readonly to: string }
  | { readonly kind: "keep"; readonly file: string; readonly symbol: string };

/** A replacement inside string literals: the exact old text and the new one. */
export interface TextRule {
  readonly from: string;
  readonly to: string;
}

export interface RenameMap {
  readonly rules: readonly Rule[];
  readonly texts: readonly TextRule[];
}

/**
 * Reads map files. Each line is one of:
 *
 *     file OLD_PATH NEW_PATH
 *     name FILE Declaration.member newName
 *     word PATH_PREFIX oldWord newWord     (a camel-case word of every name declared below the path)
 *     keep FILE Declaration.member         (an exception to a word)
 *     literal PACKAGE old new              (a string literal that names a renamed member, renamed with that package)
 *     text old text<TAB>new text
 *
 * @throws Error with file and line, for a line that is none of these.
 */
export function readRenameMap(files: readonly string[]): RenameMap {
  const rules: Rule[] = [];
  const texts: TextRule[] = [];
  for (const path of files) {
    for (const [index, raw] of readFileSync(path, "utf8").split("\n").entries()) {
      // A text may begin or end with a space.
      const line = raw.startsWith("text") ? raw : raw.trimEnd();
      if (line === "" || line.startsWith("#") || line.startsWith("json ")) continue;
      if (line.startsWith("text ") || line.startsWith("text\t")) {
        const [from, to, ...rest] = line
          .slice(5)
          .split("\t")
          .filter((part) => part !== "");
        if (from === undefined || to === undefined || rest.length > 0)
          throw new Error(`${path}:${index + 1}: text takes OLD<TAB>NEW`);
        texts.push({ from, to });
        continue;
      }
      const [kind, a, b, c, ...rest] = line.replace(/\s+#\s.*$/, "").split(/\s+/);
      const bad = (): never => {
        throw new Error(`${path}:${index + 1}: cannot read "${line}"`);
      };
      if (kind === "file" && a && b && !c) rules.push({ kind, from: a, to: b });
      else if (kind === "name" && a && b && c && rest.length === 0) rules.push({ kind, file: a, symbol: b, to: c });
      else if (kind === "word" && a && b && c && rest.length === 0) rules.push({ kind, below: a, from: b, to: c });
      else if (kind === "literal" && a && b && c && rest.length === 0) rules.push({ kind, pkg: a, from: b, to: c });
      else if (kind === "keep" && a && b && !c) rules.push({ kind, file: a, symbol: b });
      else bad();
    }
  }
  return { rules, texts };
}

/** The words of a name: `#tenureOf` → tenure, Of; `TENURE_MS` → TENURE, MS; `URLOf` → URL, Of. */
function wordsOf(name: string): string[] {
  return name.split(/(?=[A-Z][a-z0-9])|(?<=[a-z0-9])(?=[A-Z])|(?<=_)|(?=_)|(?<=#)/).filter((word) => word !== "");
}

const capitalized = (word: string): string => (word[0] ?? "").toUpperCase() + word.slice(1);

/** Replaces camel-case words in a name, `oldWord` and `newWord` being camel-case phrases themselves (`letGo` → `release`). */
export function replaceWord(name: string, oldWord: string, newWord: string): string {
  const words = wordsOf(name);
  const wanted = wordsOf(oldWord).map((word) => word.toLowerCase());
  const replacement = wordsOf(newWord);
  for (let i = 0; i + wanted.length <= words.length; i++) {
    if (!wanted.every((word, k) => words[i + k]!.toLowerCase() === word)) continue;
    const first = words[i]!;
    const isConstant = /^[A-Z0-9]+$/.test(first) && first.length > 1 && /^[^a-z]*$/.test(name);
    const isLower = /^[a-z]/.test(first);
    const text = isConstant
      ? replacement.join("_").toUpperCase()
      : replacement
          .map((word, k) => (k === 0 && isLower ? word[0]!.toLowerCase() + word.slice(1) : capitalized(word)))
          .join("");
    words.splice(i, wanted.length, text);
  }
  return words.join("");
}

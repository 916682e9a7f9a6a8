import { suggestion } from "@kubewright/simulation";

import { UserError } from "../errors/user-error.js";
import type { Finding } from "./lint-manifests.js";
import { lintRules } from "./lint-rules.js";

const COMMENT = /^\s*#\s*kubewright-lint-disable(?![-\w])(.*)$/;

/** The comments that disable rules: `# kubewright-lint-disable RULE[, RULE]`. */
export class DisabledRules {
  readonly #lines = new Map<string, readonly string[]>();
  readonly #everywhere: ReadonlySet<string>;

  /** @param everywhere - Rules that are disabled in all files. */
  constructor(texts: ReadonlyMap<string, string>, everywhere: readonly string[]) {
    this.#everywhere = new Set(everywhere);
    for (const [file, text] of texts)
      if (text.includes("kubewright-lint-disable")) this.#lines.set(file, linesOf(text));
  }

  /** One line for each comment without a known rule. */
  get problems(): readonly string[] {
    return [...this.#lines].flatMap(([file, lines]) =>
      lines.flatMap((line, index) => {
        if (!COMMENT.test(line)) return [];
        const names = namesIn(line);
        const where = `${file}:${index + 1}: kubewright-lint-disable`;
        return names.length === 0 ? [`${where} names no rule`] : unknownRules(names, where);
      }),
    );
  }

  /** Whether a comment disables the finding: on the line before it, before its object, or at the top of the file. */
  has({ rule: { name }, place, begins }: Finding): boolean {
    if (this.#everywhere.has(name)) return true;
    const lines = place === undefined ? undefined : this.#lines.get(place.file);
    if (place === undefined || lines === undefined) return false;
    const before = [place.line, ...(begins === undefined ? [] : [begins.line])];
    return [...top(lines), ...before.flatMap((line) => above(lines, line))].some((line) =>
      namesIn(line).includes(name),
    );
  }
}

/** @throws UserError with a line for each unknown rule name. */
export function checkRuleNames(names: readonly string[], where: string): void {
  const problems = unknownRules(names, where);
  if (problems.length > 0) throw new UserError(problems.join("\n"));
}

function unknownRules(names: readonly string[], where: string): string[] {
  const known = lintRules.map(({ name }) => name);
  return names
    .filter((name) => !known.includes(name))
    .map((name) => `${where}: there is not a rule ${JSON.stringify(name)}; ${suggestion(name, known)}`);
}

function linesOf(text: string): string[] {
  return text.split(/\r?\n/);
}

function namesIn(line: string): string[] {
  return (COMMENT.exec(line)?.[1] ?? "").split(/[\s,]+/).filter((name) => name !== "");
}

/** Returns the comments at the top of a file. */
function top(lines: readonly string[]): readonly string[] {
  const end = lines.findIndex((line) => !/^\s*(#.*)?$/.test(line));
  return end < 0 ? lines : lines.slice(0, end);
}

/** Returns the comments directly above a line, which is counted from 1. */
function above(lines: readonly string[], line: number): readonly string[] {
  let from = line - 1;
  while (from > 0 && /^\s*#/.test(lines[from - 1]!)) from--;
  return lines.slice(from, line - 1);
}

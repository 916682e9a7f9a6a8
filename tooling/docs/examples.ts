import type { Block } from "./documents.ts";

/** A TypeScript block of a document, with what it prints. */
export interface Example {
  readonly text: string;
  /** Expected lines, in order. */
  readonly expected: readonly string[];
  /** Whether the expected lines are the complete output. */
  readonly isAll: boolean;
}

/**
 * Returns the example in a block. The text behind `console.log(…); //` is expected in the output. A block without a
 * language behind the word “prints” is the complete output.
 */
export function exampleIn(block: Block, next: Block | undefined): Example {
  const { text } = block;
  const isAll = next?.language === "" && /^\s*(?:\S+ )?prints:?\s*$/.test(next.before);
  if (isAll) return { text, expected: next.text.trimEnd().split("\n"), isAll };
  const remarks = [...text.matchAll(/console\.log\(.*\)+; \/\/ (.*)$/gm)].map(([, remark]) => remark!);
  return { text, expected: remarks, isAll };
}

/** Returns the problem with the output of an example, or `undefined`. */
export function outputProblem({ expected, isAll }: Example, output: string): string | undefined {
  const printed = output.trimEnd().split("\n");
  const isAsExpected = isAll ? printed.join("\n") === expected.join("\n") : containsInOrder(printed, expected);
  if (isAsExpected) return undefined;
  return `says it prints ${JSON.stringify(expected)}, but printed ${JSON.stringify(printed)}`;
}

function containsInOrder(lines: readonly string[], wanted: readonly string[]): boolean {
  let from = 0;
  return wanted.every((text) => (from = lines.indexOf(text, from) + 1) > 0);
}

/** Whether an example needs a page. */
export function isForBrowsers(text: string): boolean {
  return /^(?!\/\/).*\bdocument\./m.test(text);
}

/** Whether a block is the first example of a package's README, which `check-install.ts` runs. */
export function isFirstExample(block: Block, blocks: readonly Block[]): boolean {
  return /^packages\/[^/]+\/README\.md$/.test(block.file) && blocks.find(({ language }) => language === "ts") === block;
}

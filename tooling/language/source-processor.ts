import type { TextlintPluginProcessor } from "@textlint/kernel";

import { proseOf } from "./source-text.ts";

/** What is quoted is not our wording: in comments code in backticks, links, and text in double quotes; in messages quoted names. */
const QUOTED = {
  comment: /`[^`\n]*`|"[^"\n]*"|\{@link [^}]*\}|@see .*/g,
  message: /(?<=.)(?:'[^'\n]*'|"[^"\n]*"|\\"[^"\n]*\\")(?=.)/g,
};

/** Lets textlint read the prose of TypeScript and JavaScript sources: each line of a comment, and each message, is a paragraph. */
export class SourceProcessor implements TextlintPluginProcessor {
  availableExtensions(): string[] {
    return [".ts", ".js", ".mjs"];
  }

  processor(): ReturnType<TextlintPluginProcessor["processor"]> {
    return {
      preProcess: (text: string, file = "source.ts") => documentOf(text, file),
      postProcess: (messages, filePath = "source.ts") => ({ messages, filePath }),
    };
  }
}

type Preprocessed = Awaited<ReturnType<ReturnType<TextlintPluginProcessor["processor"]>["preProcess"]>>;

function documentOf(text: string, file: string): Preprocessed {
  const lineStarts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lineStarts.push(at + 1);
  const position = (offset: number): { line: number; column: number } => {
    let low = 0;
    let high = lineStarts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (lineStarts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - lineStarts[low]! };
  };
  const located = (start: number, end: number) => ({
    raw: text.slice(start, end),
    range: [start, end] as const,
    loc: { start: position(start), end: position(end) },
  });
  const children = proseOf(file, text).map(({ kind, start, end }) => ({
    type: "Paragraph",
    ...located(start, end),
    children: spoken(kind, text.slice(start, end)).map(([from, to]) => ({
      type: "Str",
      ...located(start + from, start + to),
      value: text.slice(start + from, start + to),
    })),
  }));
  return { type: "Document", ...located(0, text.length), children } as unknown as Preprocessed;
}

/** The parts of a piece of prose that are not quoted. */
function spoken(kind: "comment" | "message", text: string): [from: number, to: number][] {
  const pieces: [number, number][] = [];
  let at = 0;
  for (const match of text.matchAll(QUOTED[kind])) {
    if (match.index > at) pieces.push([at, match.index]);
    at = match.index + match[0].length;
  }
  if (at < text.length) pieces.push([at, text.length]);
  return pieces;
}

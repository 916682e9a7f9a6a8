/** One document of a YAML or JSON stream. */
export interface DocumentText {
  readonly text: string;
  /** Line of the stream at which it begins, counted from 1. */
  readonly line: number;
  /** The reason why it cannot be parsed. */
  readonly problem?: string;
}

/**
 * Splits a stream as kubectl does (apimachinery `util/yaml/decoder.go`). YAML is split at lines that begin with `---`,
 * after which only a comment is permitted. JSON is split at the end of each object.
 */
export function splitDocuments(stream: string): DocumentText[] {
  const text = stream.startsWith("\uFEFF") ? stream.slice(1) : stream;
  return /^\s*\{/.test(text) ? (splitJson(text) ?? splitYaml(text)) : splitYaml(text);
}

function splitYaml(text: string): DocumentText[] {
  const documents: DocumentText[] = [];
  let start = 0;
  let line = 1;
  let startLine = 1;
  for (let at = 0; at < text.length; line++) {
    const newline = text.indexOf("\n", at);
    const next = newline < 0 ? text.length : newline + 1;
    if (text.startsWith("---", at)) {
      documents.push({ text: text.slice(start, at), line: startLine });
      const rest = text.slice(at + 3, next).trim();
      if (rest !== "" && !rest.startsWith("#"))
        documents.push({
          text: "",
          line,
          problem: `nothing but a comment may stand after ---, not ${JSON.stringify(rest)}`,
        });
      start = next;
      startLine = line + 1;
    }
    at = next;
  }
  documents.push({ text: text.slice(start), line: startLine });
  return documents;
}

/** Returns `undefined` for text other than consecutive JSON objects: YAML may also begin with a brace. */
function splitJson(text: string): DocumentText[] | undefined {
  const documents: DocumentText[] = [];
  let depth = 0;
  let start = -1;
  let line = 1;
  let startLine = 1;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === "\n") line++;
    else if (character === '"' && depth > 0) {
      for (at++; at < text.length && text[at] !== '"'; at++) {
        if (text[at] === "\\") at++;
        else if (text[at] === "\n") return undefined;
      }
    } else if (character === "{" || character === "[") {
      if (depth++ === 0) [start, startLine] = [at, line];
    } else if (character === "}" || character === "]") {
      if (--depth < 0) return undefined;
      if (depth === 0) documents.push({ text: text.slice(start, at + 1), line: startLine });
    } else if (depth === 0 && !/\s/.test(character)) return undefined;
  }
  return depth === 0 ? documents : undefined;
}

import { type JsonObject, textAt } from "./json-data.js";

/** Longest default that a docstring contains, in characters. */
const MAX_DEFAULT_LENGTH = 120;

/** Lines of the documentation of a schema: its description, its format, its default. */
export function schemaDocs(schema: JsonObject): string[] {
  const { description, format, default: value } = schema;
  const notes: string[] = [];
  if (schema["type"] === "string" && textAt(format) !== undefined) notes.push(`Format: ${String(format)}.`);
  const text = value === undefined ? "" : JSON.stringify(value);
  if (text !== "" && text.length <= MAX_DEFAULT_LENGTH) notes.push(`Default: ${text}.`);
  const lines = (textAt(description)?.trim() ?? "").split(/\r\n|\n|\r/).map((line) => line.trimEnd());
  if (lines.length === 1 && lines[0] === "") return notes;
  return notes.length === 0 ? lines : [...lines, "", ...notes];
}

/** A docstring with these lines; an empty text without lines. */
export function docstring(lines: readonly string[], indent: string): string {
  if (lines.length === 0) return "";
  // A description may contain the end of a comment.
  const safe = lines.map((line) => line.replaceAll("*/", "*\\/"));
  if (safe.length === 1) return `${indent}/** ${safe[0]!} */\n`;
  return [`${indent}/**`, ...safe.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`, ""].join("\n");
}

const LITERALS = ["true", "false", "null"];

/**
 * Returns the error message of Go's JSON decoder; `undefined` for valid JSON. The message is exact for errors at the
 * first value, which is where text that is not JSON fails; elsewhere it is approximate.
 */
export function goJsonError(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    const start = text.search(/[^ \t\r\n]/);
    if (start < 0) return "unexpected end of JSON input";
    const literal = LITERALS.find((candidate) => candidate[0] === text[start]);
    if (literal !== undefined) return literalError(text.slice(start), literal);
    if (/["[{\-0-9]/.test(text[start]!)) return "unexpected end of JSON input";
    return `invalid character ${quoted(text[start]!)} looking for beginning of value`;
  }
}

function literalError(text: string, literal: string): string {
  for (let index = 1; index < literal.length; index++) {
    const character = text[index];
    if (character === undefined) return "unexpected end of JSON input";
    if (character !== literal[index]) {
      return `invalid character ${quoted(character)} in literal ${literal} (expecting ${quoted(literal[index]!)})`;
    }
  }
  const rest = text.slice(literal.length).trimStart();
  return `invalid character ${quoted(rest[0] ?? "")} after top-level value`;
}

function quoted(character: string): string {
  return character === "'" ? "'\\''" : `'${character}'`;
}

const NAMED: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  '"': '\\"',
  "\\": "\\\\",
};

/** Quotes a text like Go's `strconv.Quote` and `%q`: printable characters stay unchanged. */
export function goQuote(text: string): string {
  return `"${text.toWellFormed().replace(/["\\]|(?! )[\p{C}\p{Z}]/gu, escape)}"`;
}

function escape(character: string): string {
  const code = character.codePointAt(0)!;
  if (NAMED[character] !== undefined) return NAMED[character];
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

import { SelectorError } from "./label-selector-query.js";

/** One term of a `fieldSelector` parameter. */
export interface FieldTerm {
  readonly field: string;
  readonly value: string;
  readonly equal: boolean;
}

/**
 * Parses a `fieldSelector` parameter: `f=v,g!=w`. A backslash escapes `,`, `=` and `\` in a value. Upstream:
 * apimachinery `fields.ParseSelector`.
 *
 * @throws SelectorError
 */
export function parseFieldSelector(text: string): FieldTerm[] {
  const terms: FieldTerm[] = [];
  for (const part of splitTerms(text)) {
    if (part === "") continue;
    const term = splitTerm(part);
    if (term === undefined) throw new SelectorError(`invalid selector: '${text}'; can't understand '${part}'`);
    terms.push({ ...term, value: unescape(term.value) });
  }
  return terms;
}

/** Returns the value that the terms require of the field, if any. */
export function requiredValue(terms: readonly FieldTerm[], field: string): string | undefined {
  return terms.find((term) => term.equal && term.field === field)?.value;
}

function splitTerms(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] === "\\") index++;
    else if (text[index] === ",") {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

function splitTerm(part: string): FieldTerm | undefined {
  for (let index = 0; index < part.length; index++) {
    const operator = ["!=", "==", "="].find((candidate) => part.startsWith(candidate, index));
    if (operator !== undefined)
      return { field: part.slice(0, index), value: part.slice(index + operator.length), equal: operator !== "!=" };
  }
  return undefined;
}

function unescape(value: string): string {
  let result = "";
  for (let index = 0; index < value.length; index++) {
    const character = value[index]!;
    if (character === "\\") {
      const escaped = value[++index];
      if (escaped === undefined) throw new SelectorError("invalid field selector: invalid escape sequence: \\");
      if (escaped !== "\\" && escaped !== "," && escaped !== "=")
        throw new SelectorError(`invalid field selector: invalid escape sequence: \\${escaped}`);
      result += escaped;
    } else if (character === "," || character === "=") {
      throw new SelectorError(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    } else {
      result += character;
    }
  }
  return result;
}

import type { LabelMatcher } from "@kubewright/api";

import { labelKeyErrors, labelValueErrors } from "@kubewright/api/validation";

type Labels = Parameters<LabelMatcher>[0];
type Requirement = (labels: Labels) => boolean;
interface Token {
  readonly type:
    "end" | "identifier" | "in" | "notin" | "(" | ")" | "," | "!" | "=" | "==" | "!=" | ">" | "<" | "error";
  readonly text: string;
}

const OPERATORS = "in, notin, =, ==, !=, gt, lt";
const SPECIAL = new Set(["=", "!", "(", ")", ",", ">", "<"]);

/** A selector cannot be parsed. The message is upstream's. */
export class SelectorError extends Error {
  override readonly name = "SelectorError";
}

/**
 * Compiles a `labelSelector` parameter: `a=b,c!=d,e in (f,g),!h,i>1`. Returns `undefined` for an empty selector, which
 * selects everything.
 *
 * Upstream: apimachinery `labels.Parse`.
 *
 * @throws SelectorError
 */
export function parseLabelSelector(text: string): LabelMatcher | undefined {
  const requirements = new Parser(tokens(text)).parse();
  if (requirements.length === 0) return undefined;
  if (requirements.length === 1) return requirements[0]!;
  return (labels) => requirements.every((requirement) => requirement(labels));
}

class Parser {
  readonly #tokens: readonly Token[];
  #index = 0;

  constructor(input: readonly Token[]) {
    this.#tokens = input;
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = [];
    for (;;) {
      const token = this.#peekValue();
      if (token.type === "end") return requirements;
      if (token.type !== "identifier" && token.type !== "!")
        throw new SelectorError(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      requirements.push(this.#requirement());
      const separator = this.#next();
      if (separator.type === "end") return requirements;
      if (separator.type !== ",")
        throw new SelectorError(`found '${separator.text}', expected: ',' or 'end of string'`);
      const following = this.#peekValue();
      if (following.type !== "identifier" && following.type !== "!")
        throw new SelectorError(`found '${following.text}', expected: identifier after ','`);
    }
  }

  #requirement(): Requirement {
    let token = this.#nextValue();
    const negated = token.type === "!";
    if (negated) token = this.#nextValue();
    if (token.type !== "identifier") throw unreadable(`found '${token.text}', expected: identifier`);
    const key = token.text;
    const keyErrors = labelKeyErrors(key);
    if (keyErrors.length > 0) throw unreadable(`<nil>: Invalid value: ${JSON.stringify(key)}: ${keyErrors.join("; ")}`);
    if (negated) return (labels) => !has(labels, key);
    const following = this.#peekValue();
    if (following.type === "end" || following.type === ",") return (labels) => has(labels, key);
    const operator = this.#next();
    switch (operator.type) {
      case "in":
      case "notin": {
        const values = this.#list();
        checkValues(key, values);
        return operator.type === "in"
          ? (labels) => has(labels, key) && values.has(labels![key]!)
          : (labels) => !has(labels, key) || !values.has(labels![key]!);
      }
      case "=":
      case "==":
      case "!=": {
        const value = this.#exactValue();
        checkValues(key, [value]);
        return operator.type === "!="
          ? (labels) => !has(labels, key) || labels![key] !== value
          : (labels) => has(labels, key) && labels![key] === value;
      }
      case ">":
      case "<": {
        const value = this.#exactValue();
        if (!/^[+-]?\d+$/.test(value))
          throw unreadable(
            `values[0]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
          );
        checkValues(key, [value]);
        const bound = BigInt(value);
        const wanted = operator.type === ">" ? 1 : -1;
        return (labels) => {
          if (!has(labels, key) || !/^[+-]?\d+$/.test(labels![key]!)) return false;
          const actual = BigInt(labels![key]!);
          return (actual > bound ? 1 : actual < bound ? -1 : 0) === wanted;
        };
      }
      default:
        throw unreadable(`found '${operator.text}', expected: ${OPERATORS}`);
    }
  }

  #list(): Set<string> {
    const values = new Set<string>();
    const open = this.#nextValue();
    if (open.type !== "(") throw unreadable(`found '${open.text}' expected: '('`);
    const first = this.#peekValue();
    if (first.type === ")") {
      this.#next();
      return values.add("");
    }
    if (first.type !== "identifier" && first.type !== ",")
      throw unreadable(`found '${first.text}', expected: ',', ')' or identifier`);
    for (;;) {
      const token = this.#nextValue();
      if (token.type === "identifier") {
        values.add(token.text);
        const following = this.#peekValue();
        if (following.type === ",") continue;
        if (following.type !== ")") throw unreadable(`found '${following.text}', expected: ',' or ')'`);
        break;
      }
      // A comma before, after or between values means an empty value.
      if (values.size === 0) values.add("");
      const following = this.#peekValue();
      if (following.type === ")") {
        values.add("");
        break;
      }
      if (following.type === ",") {
        this.#next();
        values.add("");
      }
    }
    this.#next();
    return values;
  }

  #exactValue(): string {
    const following = this.#peekValue();
    if (following.type === "end" || following.type === ",") return "";
    const token = this.#nextValue();
    if (token.type !== "identifier") throw unreadable(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  #next(): Token {
    return this.#tokens[this.#index++] ?? END;
  }

  /** In the position of a key or value, `in` and `notin` are ordinary words. */
  #nextValue(): Token {
    const token = this.#peekValue();
    this.#index++;
    return token;
  }

  #peekValue(): Token {
    const token = this.#tokens[this.#index] ?? END;
    return token.type === "in" || token.type === "notin" ? { type: "identifier", text: token.text } : token;
  }
}

const END: Token = { type: "end", text: "" };

function tokens(text: string): Token[] {
  const found: Token[] = [];
  let index = 0;
  while (index < text.length) {
    const character = text[index]!;
    if (/[ \t\r\n]/.test(character)) {
      index++;
    } else if (SPECIAL.has(character)) {
      const two = text.slice(index, index + 2);
      const symbol = two === "==" || two === "!=" ? two : character;
      found.push({ type: symbol as Token["type"], text: symbol });
      index += symbol.length;
    } else {
      const start = index;
      while (index < text.length && !SPECIAL.has(text[index]!) && !/[ \t\r\n]/.test(text[index]!)) index++;
      const word = text.slice(start, index);
      found.push({ type: word === "in" || word === "notin" ? word : "identifier", text: word });
    }
  }
  return found;
}

function has(labels: Labels, key: string): boolean {
  return labels !== undefined && Object.hasOwn(labels, key);
}

function checkValues(key: string, values: Iterable<string>): void {
  let index = 0;
  for (const value of values) {
    const errors = labelValueErrors(value);
    if (errors.length > 0)
      throw unreadable(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${errors.join("; ")}`);
    index++;
  }
}

function unreadable(why: string): SelectorError {
  return new SelectorError(`unable to parse requirement: ${why}`);
}

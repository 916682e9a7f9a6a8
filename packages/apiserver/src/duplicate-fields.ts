import { ReportedPaths } from "./message-limit.js";

/**
 * Returns the paths of members that occur more than once in a JSON text: `JSON.parse` silently uses the last one. The
 * text must be valid JSON.
 */
export function duplicateFields(text: string): string[] {
  return new Scanner(text).scan();
}

class Scanner {
  readonly #text: string;
  readonly #path: (string | number)[] = [];
  readonly #found = new ReportedPaths();
  #index = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): string[] {
    this.#value();
    return this.#found.texts;
  }

  #value(): void {
    this.#skipSpace();
    const character = this.#text[this.#index];
    if (character === "{") this.#object();
    else if (character === "[") this.#members("]", (index) => this.#path.push(index));
    else if (character === '"') this.#string();
    else while (this.#index < this.#text.length && !/[,\]}\s]/.test(this.#text[this.#index]!)) this.#index++;
    this.#skipSpace();
  }

  #object(): void {
    const seen = new Set<string>();
    this.#members("}", () => {
      const key = this.#string();
      this.#skipSpace();
      this.#index++;
      this.#path.push(key);
      if (seen.has(key)) this.#found.add(this.#path);
      seen.add(key);
    });
  }

  /** Scans the values up to a bracket. `begin` reads what precedes a value and adds its key to the path. */
  #members(closing: string, begin: (index: number) => void): void {
    this.#index++;
    this.#skipSpace();
    for (let index = 0; this.#text[this.#index] !== closing && this.#index < this.#text.length; index++) {
      begin(index);
      this.#value();
      this.#path.pop();
      if (this.#text[this.#index] === ",") this.#index++;
      this.#skipSpace();
    }
    this.#index++;
  }

  #string(): string {
    const start = this.#index++;
    while (this.#index < this.#text.length && this.#text[this.#index] !== '"')
      this.#index += this.#text[this.#index] === "\\" ? 2 : 1;
    this.#index++;
    const raw = this.#text.slice(start, this.#index);
    return raw.includes("\\") ? (JSON.parse(raw) as string) : raw.slice(1, -1);
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text[this.#index] ?? "x")) this.#index++;
  }
}

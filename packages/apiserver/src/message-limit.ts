/**
 * Maximum number of characters in the errors of a response. Error paths contain all parent fields, so that a small
 * request could otherwise cause a response of any size. Deliberate: upstream has no limit.
 */
export const MAX_MESSAGE_CHARACTERS = 1024 * 1024;

/** Names of members and indexes of elements, from the root. */
export type Path = readonly (string | number)[];

/** Collects distinct field paths in order, up to {@link MAX_MESSAGE_CHARACTERS}. */
export class ReportedPaths {
  readonly #texts = new Set<string>();
  #characters = 0;

  add(path: Path): void {
    if (this.#characters > MAX_MESSAGE_CHARACTERS) return;
    const text = pathText(path);
    this.#characters += text.length;
    this.#texts.add(text);
  }

  get texts(): string[] {
    return [...this.#texts];
  }
}

/** Returns the first texts, up to {@link MAX_MESSAGE_CHARACTERS}. */
export function truncateMessages(texts: readonly string[]): readonly string[] {
  let characters = 0;
  const end = texts.findIndex((text) => (characters += text.length) > MAX_MESSAGE_CHARACTERS);
  // A single text cannot be a multiple of the request.
  return end < 0 ? texts : texts.slice(0, Math.max(1, end));
}

/** Formats a path: `spec.containers[0].image`. */
export function pathText(path: Path): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? part : `.${part}`;
  }
  return text;
}

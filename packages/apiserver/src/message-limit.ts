/**
 * Characters that an answer tells of what is wrong with a request: places are named with all that leads to them, so that a
 * small request could ask for an answer of any size. Deliberate: upstream tells everything.
 */
export const MAX_MESSAGE_CHARACTERS = 1024 * 1024;

/** Names of members and indexes of elements, from the root. */
export type Path = readonly (string | number)[];

/** Gathers places that something is to be said about, each once, in the order found, up to {@link MAX_MESSAGE_CHARACTERS}. */
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

/** The first texts, up to {@link MAX_MESSAGE_CHARACTERS}. */
export function truncateMessages(texts: readonly string[]): readonly string[] {
  let characters = 0;
  const end = texts.findIndex((text) => (characters += text.length) > MAX_MESSAGE_CHARACTERS);
  // One alone is no multiple of the request.
  return end < 0 ? texts : texts.slice(0, Math.max(1, end));
}

/** `spec.containers[0].image` */
export function pathText(path: Path): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? part : `.${part}`;
  }
  return text;
}

/**
 * Characters that an answer tells of what is wrong with a request: places are named with all that leads to them, so that a
 * small request could ask for an answer of any size. Deliberate: upstream tells everything.
 */
export const MOST_TOLD_CHARACTERS = 1024 * 1024;

/** Names of members and indexes of elements, from the root. */
export type Path = readonly (string | number)[];

/** Gathers places that something is to be said about, each once, in the order found, up to {@link MOST_TOLD_CHARACTERS}. */
export class FoundPaths {
  readonly #texts = new Set<string>();
  #characters = 0;

  add(path: Path): void {
    if (this.#characters > MOST_TOLD_CHARACTERS) return;
    const text = pathText(path);
    this.#characters += text.length;
    this.#texts.add(text);
  }

  get texts(): string[] {
    return [...this.#texts];
  }
}

/** The first texts, up to {@link MOST_TOLD_CHARACTERS}. */
export function tellable(texts: readonly string[]): readonly string[] {
  let characters = 0;
  const end = texts.findIndex((text) => (characters += text.length) > MOST_TOLD_CHARACTERS);
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

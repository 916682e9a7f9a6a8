/**
 * Stands in for the library `re2js` in the browser, with the patterns that a browser has itself: 150 KB less to load.
 * Deliberate: they read a few things differently from Go's, and can take long. Only definitions of custom resources and policies
 * have patterns, and here these are the user's own.
 */
export class RE2JS {
  readonly #source: string;
  readonly #expression: RegExp;

  private constructor(source: string) {
    this.#source = source;
    this.#expression = new RegExp(source, "u");
  }

  static compile(source: string): RE2JS {
    try {
      return new RE2JS(source);
    } catch (error) {
      throw new Error(`error parsing regexp: ${(error as Error).message}`, { cause: error });
    }
  }

  test(text: string): boolean {
    return this.#expression.test(text);
  }

  /** Finds one part after the other. */
  matcher(text: string): { find: () => boolean; group: () => string | undefined } {
    const parts = text.matchAll(new RegExp(this.#source, "gu"));
    let found: string | undefined;
    return {
      find: () => {
        found = parts.next().value?.[0];
        return found !== undefined;
      },
      group: () => found,
    };
  }
}

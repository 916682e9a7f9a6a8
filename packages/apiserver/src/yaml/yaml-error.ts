/** Text that is no YAML, or YAML that cannot become JSON. */
export class YamlError extends Error {
  override readonly name = "YamlError";

  constructor(
    message: string,
    /** Where in the text, in characters from its beginning. */
    readonly offset: number,
    /** Counted from one. */
    readonly line: number,
    /** Counted from one. */
    readonly column: number,
  ) {
    super(message);
  }
}

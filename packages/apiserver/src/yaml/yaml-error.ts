/** The text is no YAML, or YAML that cannot be converted to JSON. */
export class YamlError extends Error {
  override readonly name = "YamlError";

  constructor(
    message: string,
    /** Position in the text, in characters from its start. */
    readonly offset: number,
    /** 1-based. */
    readonly line: number,
    /** 1-based. */
    readonly column: number,
  ) {
    super(message);
  }
}

/** A rule of `--fail-on` was violated. Exit status 1, or the one of `--fail-exit`. */
export class ViolationsError extends Error {
  override readonly name = "ViolationsError";

  readonly exitCode: number;

  /** @param lines - One for each violation. */
  constructor(
    readonly lines: readonly string[],
    { exitCode = 1, ...options }: ErrorOptions & { readonly exitCode?: number } = {},
  ) {
    super(lines.join("\n"), options);
    this.exitCode = exitCode;
  }
}

/** What was asked for with `--fail-on` came up: exit status 1. */
export class ViolationsError extends Error {
  override readonly name = "ViolationsError";

  /** @param lines - One for each violation. */
  constructor(readonly lines: readonly string[]) {
    super(lines.join("\n"));
  }
}

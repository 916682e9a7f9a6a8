/** The user stopped the command. The results so far are printed, and the process exits with status 130. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
}

/** The user stopped it before its end: what was reached has been printed. The process exits with status 130. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
}

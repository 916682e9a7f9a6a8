/** Thrown by a reconciler to say that trying again cannot help: the key is dropped until something adds it again. */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
}

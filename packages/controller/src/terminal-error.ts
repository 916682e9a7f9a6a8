/** Thrown by a reconciler when a retry cannot help. The key is dropped until an event adds it again. */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
}

/** The stored assignment cannot be used by this version. The message is one line, and says what to do. */
export class AssignmentError extends Error {
  override readonly name = "AssignmentError";
}

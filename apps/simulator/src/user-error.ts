/** Something the user can mend: printed as one line, never with a stack trace. The process exits with status 2. */
export class UserError extends Error {
  override readonly name = "UserError";
}

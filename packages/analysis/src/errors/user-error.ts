/** An error that the user can correct. Printed as one line, without a stack trace. The process exits with status 2. */
export class UserError extends Error {
  override readonly name = "UserError";
}

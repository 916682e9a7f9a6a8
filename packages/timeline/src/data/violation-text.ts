/** What went wrong with what, as one sentence without a full stop; some messages begin with another object. */
export function violationText({ subject, message }: { readonly subject: string; readonly message: string }): string {
  return /^[A-Z]/.test(message) ? `${subject}: ${message}` : `${subject} ${message}`;
}

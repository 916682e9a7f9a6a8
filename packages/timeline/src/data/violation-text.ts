/** What went wrong with what, as one sentence without a full stop; some messages begin with another object. */
export function violationText({ about, message }: { readonly about: string; readonly message: string }): string {
  return /^[A-Z]/.test(message) ? `${about}: ${message}` : `${about} ${message}`;
}

/**
 * Returns a violation as one sentence without a full stop. A message that begins with another object's name gets a
 * colon.
 */
export function invariantViolationText({
  subject,
  message,
}: {
  readonly subject: string;
  readonly message: string;
}): string {
  return /^[A-Z]/.test(message) ? `${subject}: ${message}` : `${subject} ${message}`;
}

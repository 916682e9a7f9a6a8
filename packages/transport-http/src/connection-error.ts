/**
 * A request without a response, or with an incomplete one. The message names the request. The cause is the error of the
 * socket or of the HTTP library. Its `code` (`ECONNREFUSED`, `ENOTFOUND`, `CERT_HAS_EXPIRED`, `UND_ERR_SOCKET`, …) is
 * repeated here.
 */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly code: string | undefined;

  constructor(request: string, cause: unknown) {
    const root = rootCause(cause);
    super(`${request}: ${root.message || root.code || String(cause)}`, { cause });
    this.code = root.code;
  }
}

/**
 * Node tries every address of a host, and reports all failures as one error with an empty message. Returns the first of
 * these failures.
 */
function rootCause(error: unknown): { message: string; code?: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return rootCause(error.errors[0]);
  return error instanceof Error ? error : { message: String(error) };
}

/**
 * A request that got no answer, or only part of one. Names the request; the cause is the error of the socket or of the
 * HTTP library, whose `code` (`ECONNREFUSED`, `ENOTFOUND`, `CERT_HAS_EXPIRED`, `UND_ERR_SOCKET`, …) is repeated here.
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

/** Node tries every address of a host and reports all failures together, under an empty message: the first stands for all. */
function rootCause(error: unknown): { message: string; code?: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return rootCause(error.errors[0]);
  return error instanceof Error ? error : { message: String(error) };
}

import type { Status, StatusReason } from "@kubewright/api";

/** An error response of the API server, with its `metav1.Status`. Its reason decides whether to retry. */
export class StatusError extends Error {
  override readonly name = "StatusError";

  readonly status: Status;

  /** @param status - The Status as received. Fields of a wrong type are removed. */
  constructor(status: Status, options?: ErrorOptions) {
    const checked = sanitizeStatus(status);
    super(checked.message ?? checked.reason ?? `the server answered ${checked.code}`, options);
    this.status = checked;
  }
}

/** Removes fields of a wrong type, so that code that reads a Status can trust its type. */
function sanitizeStatus(status: Status): Status {
  const { message, reason, code, details } = status as Readonly<Record<keyof Status, unknown>>;
  const isValid =
    isStringOrUndefined(message) &&
    isStringOrUndefined(reason) &&
    (code === undefined || typeof code === "number") &&
    (details === undefined || areDetailsValid(details));
  if (isValid) return status;
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    ...(typeof message === "string" ? { message } : {}),
    ...(typeof reason === "string" ? { reason } : {}),
    ...(areDetailsValid(details) ? { details } : {}),
    code: typeof code === "number" ? code : 0,
  };
}

function areDetailsValid(details: unknown): details is NonNullable<Status["details"]> {
  if (typeof details !== "object" || details === null) return false;
  const { causes, retryAfterSeconds } = details as Readonly<Record<string, unknown>>;
  if (retryAfterSeconds !== undefined && typeof retryAfterSeconds !== "number") return false;
  return (
    causes === undefined ||
    (Array.isArray(causes) &&
      causes.every(
        (cause: unknown) =>
          typeof cause === "object" &&
          cause !== null &&
          isStringOrUndefined((cause as { message?: unknown }).message) &&
          isStringOrUndefined((cause as { reason?: unknown }).reason),
      ))
  );
}

function isStringOrUndefined(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

/**
 * Returns the reason of an error response, or `undefined` for any error other than a {@link StatusError}. If the Status
 * has no reason, the HTTP code decides. Upstream: apimachinery `errors.ReasonForError`.
 */
export function reasonOf(error: unknown): StatusReason | "" | (string & {}) | undefined {
  if (!(error instanceof StatusError)) return undefined;
  return error.status.reason || REASON_BY_CODE[error.status.code] || "";
}

/** The default reason of an HTTP code. */
export const REASON_BY_CODE: Readonly<Record<number, StatusReason>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

export const isNotFound = (error: unknown): boolean => reasonOf(error) === "NotFound";
export const isAlreadyExists = (error: unknown): boolean => reasonOf(error) === "AlreadyExists";
export const isConflict = (error: unknown): boolean => reasonOf(error) === "Conflict";
export const isInvalid = (error: unknown): boolean => reasonOf(error) === "Invalid";
export const isForbidden = (error: unknown): boolean => reasonOf(error) === "Forbidden";
export const isTooManyRequests = (error: unknown): boolean => reasonOf(error) === "TooManyRequests";
export const isInternalError = (error: unknown): boolean => reasonOf(error) === "InternalError";

/** Whether the requested resourceVersion has expired. The caller has to list again. */
export function isResourceExpired(error: unknown): boolean {
  const reason = reasonOf(error);
  return reason === "Expired" || reason === "Gone";
}

/**
 * Whether the error response has a cause of this type, e.g. `NamespaceTerminating` (upstream: `errors.HasStatusCause`).
 */
export function hasStatusCause(error: unknown, type: string): boolean {
  return error instanceof StatusError && (error.status.details?.causes ?? []).some((cause) => cause.reason === type);
}

/**
 * Whether the requested resourceVersion is newer than the server's current one. The caller has to wait. Also recognises
 * the messages of old servers.
 */
export function isTooLargeResourceVersion(error: unknown): boolean {
  if (hasStatusCause(error, "ResourceVersionTooLarge")) return true;
  if (reasonOf(error) !== "Timeout") return false;
  const { status } = error as StatusError;
  const text = "Too large resource version";
  return (
    (status.message ?? "").includes(text) || (status.details?.causes ?? []).some((cause) => cause.message === text)
  );
}

/** Whether an error in the chain of causes is a refused TCP connection. */
export function isConnectionRefused(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ((current as { code?: unknown }).code === "ECONNREFUSED") return true;
    if (current instanceof AggregateError && current.errors.some(isConnectionRefused)) return true;
  }
  return false;
}

/**
 * Whether a connection broke or ended before the response was complete. The request may or may not have been executed.
 * Upstream: `utilnet.IsConnectionReset`, `utilnet.IsProbableEOF` and `utilnet.IsHTTP2ConnectionLost`.
 */
export function isConnectionLost(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    const { code, syscall } = current as { code?: unknown; syscall?: unknown };
    if (typeof code === "string" && CONNECTION_LOST_CODES.has(code)) return true;
    // A peer that no longer acknowledges TCP keep-alive probes. A failed connect has another `syscall`.
    if (code === "ETIMEDOUT" && syscall === "read") return true;
  }
  return false;
}

/** Node's codes, and undici's codes for a peer that closed the connection or did not begin to respond. */
const CONNECTION_LOST_CODES: ReadonlySet<string> = new Set([
  "ECONNRESET",
  "EPIPE",
  "UND_ERR_SOCKET",
  "UND_ERR_HEADERS_TIMEOUT",
]);

/** Returns one line for a log or an event: the message, and those of its causes that add information. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const messages: string[] = [];
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    const { message } = current;
    if (message !== "" && !messages.some((seen) => seen.includes(message))) messages.push(message);
  }
  return messages.join(": ") || error.name;
}

import type { Status, StatusCause, StatusDetails } from "@kubewright/api";

import { type FieldErrors, errorCause, errorsMessage } from "./field-errors.js";

/** The resource that an error refers to. */
export interface ErrorSubject {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
}

/**
 * An error response. Any code that serves a request may throw it; the server answers with its Status. Upstream:
 * apimachinery `api/errors`.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    readonly status: Status,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    // A controller may retry a refused request for days, and capturing the stack takes longer than the refusal.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(status.message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

export function statusError(
  code: number,
  reason: string,
  message: string,
  details?: StatusDetails,
  headers?: Readonly<Record<string, string>>,
): ApiError {
  const status: Status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    ...(reason === "" ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
  const seconds = details?.retryAfterSeconds;
  return new ApiError(status, { ...(seconds === undefined ? {} : { "retry-after": String(seconds) }), ...headers });
}

/** Returns the resource with its group: `jobs.batch`. */
export function qualifiedResource({ group, resource }: Pick<ErrorSubject, "group" | "resource">): string {
  return group === "" ? resource : `${resource}.${group}`;
}

/** Returns the kind with its group: `Job.batch`. */
export function qualifiedKind({ group, kind }: Pick<ErrorSubject, "group" | "kind">): string {
  return group === "" ? kind : `${kind}.${group}`;
}

function detailsOf({ group, resource }: ErrorSubject, name: string): StatusDetails {
  return { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind: resource };
}

export function badRequest(message: string): ApiError {
  return statusError(400, "BadRequest", message);
}

export function notFound(subject: ErrorSubject, name: string): ApiError {
  return statusError(
    404,
    "NotFound",
    `${qualifiedResource(subject)} ${JSON.stringify(name)} not found`,
    detailsOf(subject, name),
  );
}

/** The server serves no such path. */
export function noSuchResource(): ApiError {
  return statusError(404, "NotFound", "the server could not find the requested resource", {});
}

export function methodNotAllowed(): ApiError {
  return statusError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});
}

export function alreadyExists(
  subject: ErrorSubject,
  name: string,
  prefix = "",
  suffix = "",
  retryAfterSeconds?: number,
): ApiError {
  const details = { ...detailsOf(subject, name), ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
  return statusError(
    409,
    "AlreadyExists",
    `${prefix}${qualifiedResource(subject)} ${JSON.stringify(name)} already exists${suffix}`,
    details,
  );
}

/** @param what - Replaces the resource in the message: `Job.batch` for a delete precondition. */
export function conflict(
  subject: ErrorSubject,
  name: string,
  why: string,
  what = qualifiedResource(subject),
  kind = subject.resource,
): ApiError {
  return statusError(409, "Conflict", `Operation cannot be fulfilled on ${what} ${JSON.stringify(name)}: ${why}`, {
    ...detailsOf(subject, name),
    kind,
  });
}

export const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

export function forbidden(subject: ErrorSubject, name: string, why: string, causes?: StatusCause[]): ApiError {
  const what = name === "" ? qualifiedResource(subject) : `${qualifiedResource(subject)} ${JSON.stringify(name)}`;
  return statusError(403, "Forbidden", `${what} is forbidden: ${why}`, {
    ...detailsOf(subject, name),
    ...(causes === undefined ? {} : { causes }),
  });
}

/** @param subject - `kind` is empty for a patch that does not fit the type. */
export function invalid(subject: Pick<ErrorSubject, "group" | "kind">, name: string, errors: FieldErrors): ApiError {
  const details: StatusDetails = {
    ...(name === "" ? {} : { name }),
    ...(subject.group === "" ? {} : { group: subject.group }),
    ...(subject.kind === "" ? {} : { kind: subject.kind }),
    causes: errors.all.map(errorCause),
  };
  return statusError(
    422,
    "Invalid",
    `${qualifiedKind(subject)} ${JSON.stringify(name)} is invalid: ${errorsMessage(errors.all)}`,
    details,
  );
}

export function invalidOptions(kind: string, errors: FieldErrors): ApiError {
  return invalid({ group: "meta.k8s.io", kind }, "", errors);
}

/** The request cannot be processed. The message has no details (`errors.NewGenericServerResponse` for 422). */
export function unprocessable(): ApiError {
  return statusError(422, "Invalid", "the server rejected our request due to an error in our request", {});
}

/** An error with an empty `reason`. */
export function plainError(message: string): ApiError {
  return statusError(500, "", message);
}

export function internalError(message: string): ApiError {
  return statusError(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
}

export function expired(message: string): ApiError {
  return statusError(410, "Expired", message);
}

export function tooLargeResourceVersion(requested: number | string, current: number): ApiError {
  return statusError(504, "Timeout", `Timeout: Too large resource version: ${requested}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  return statusError(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  );
}

/** None of the accepted media types is offered. The router's message differs from {@link shapeNotAcceptable}. */
export function notAcceptable(offered: readonly string[]): ApiError {
  return statusError(
    406,
    "NotAcceptable",
    `406: Not Acceptable\n\nAvailable representations: ${offered.join(", ")}`,
    {},
  );
}

/** The content type is not accepted by any route of the path. The router's message. */
export function routeUnsupportedMediaType(): ApiError {
  return statusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
}

/** The media type is offered, but not in the requested shape (`as=`). */
export function shapeNotAcceptable(offered: readonly string[]): ApiError {
  return statusError(406, "NotAcceptable", `only the following media types are accepted: ${offered.join(", ")}`);
}

export function tooLarge(what: string): ApiError {
  return statusError(413, "RequestEntityTooLarge", `Request entity too large: ${what}`);
}

export function success(details?: StatusDetails, code?: number): Omit<Status, "code"> & { code?: number } {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    ...(details === undefined ? {} : { details }),
    ...(code === undefined ? {} : { code }),
  };
}

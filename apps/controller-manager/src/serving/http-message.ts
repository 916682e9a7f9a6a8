import type { ClientCertificate } from "@kubewright/serving";

/** A request to one of this process's endpoints. */
export interface HttpRequest {
  /** In upper case. */
  readonly method: string;
  /** Path and query, not decoded. */
  readonly target: string;
  /** The path, percent-decoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** By lower-case name, with one value for each occurrence. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  readonly remoteAddress: string;
  /** The client's certificate; `undefined`: none. */
  readonly peer: ClientCertificate | undefined;
  /**
   * Reads the whole body as text.
   *
   * @throws BodyTooLongError
   */
  readonly body: () => Promise<string>;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type HttpHandler = (request: HttpRequest) => Promise<HttpReply>;

/** The body is longer than any endpoint reads. */
export class BodyTooLongError extends Error {
  override readonly name = "BodyTooLongError";
}

export function header({ headers }: HttpRequest, name: string): string | undefined {
  return headers[name]?.[0];
}

const NO_SNIFF = { "x-content-type-options": "nosniff" };

export function textReply(status: number, body: string, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return { status, headers: { "content-type": "text/plain; charset=utf-8", ...NO_SNIFF, ...headers }, body };
}

export function jsonReply(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return {
    status,
    headers: { "content-type": "application/json", ...NO_SNIFF, ...headers },
    body: `${JSON.stringify(value)}\n`,
  };
}

/** A `metav1.Status` of a failure. */
export function failureReply(code: number, reason: string, message: string, details?: object): HttpReply {
  return jsonReply(code, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason,
    ...(details === undefined ? {} : { details }),
    code,
  });
}

/** The response of Go's router to an unknown path. */
export function notFoundReply(): HttpReply {
  return textReply(404, "404 page not found\n");
}

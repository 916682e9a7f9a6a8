import type { ClientCertificate } from "@kubewright/serving";

/** A request to this process, as far as its endpoints need to know it. */
export interface HttpRequest {
  /** In capital letters. */
  readonly method: string;
  /** Path and query as they came. */
  readonly target: string;
  /** The path, percent-encoding resolved. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** By lower-case name, every occurrence apart. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  readonly remoteAddress: string;
  /** The certificate the client showed. `undefined`: none. */
  readonly peer: ClientCertificate | undefined;
  /** The whole body, as text. @throws BodyTooLongError */
  readonly body: () => Promise<string>;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type HttpHandler = (request: HttpRequest) => Promise<HttpReply>;

/** The request has a longer body than any endpoint reads. */
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

/** A `metav1.Status` that says no. */
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

/** What Go's router answers where there is nothing. */
export function notFoundReply(): HttpReply {
  return textReply(404, "404 page not found\n");
}

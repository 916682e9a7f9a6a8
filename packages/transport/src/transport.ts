/** Sends one request to a Kubernetes API server, over HTTP or in process. */
export type Transport = (request: ApiRequest) => Promise<ApiResponse>;

/**
 * Header fields by lower-case name. A plain record, because creating a `Headers` object for each in-process request
 * would cost more than serving the request.
 */
export type HeaderFields = Readonly<Record<string, string | readonly string[]>>;

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS";
  /**
   * Path and query, e.g. `/apis/batch/v1/namespaces/default/jobs?watch=true`. They identify the operation completely.
   */
  readonly path: string;
  readonly headers: HeaderFields;
  readonly body?: RequestBody;
  /** Aborts the request, and ends the response's stream if there is one. */
  readonly signal?: AbortSignal;
  /**
   * Called right before the request is sent, when it has a connection and does not have to wait any more. If it throws,
   * the request is not sent, and the transport rejects with its error. A transport whose requests never wait may omit
   * the call.
   */
  readonly beforeSend?: () => void;
}

/**
 * The body of a request. Every transport converts a `decoded` body to JSON data with {@link jsonData}: the HTTP transport
 * serializes it, an in-process server uses it directly. The receiver copies what it stores and changes nothing, so the
 * object still belongs to the sender.
 */
export type RequestBody =
  { readonly type: "decoded"; readonly value: unknown } | { readonly type: "bytes"; readonly bytes: Uint8Array };

export interface ApiResponse {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly body: ResponseBody;
  /** Bytes of the request body as sent over the wire. Absent without a body, and in process. */
  readonly sentBytes?: number;
}

/**
 * The body of a response: decoded in process, bytes over a wire. Only the client's decode step handles the difference.
 *
 * Decoded objects are shared with the server and all other clients, so they must not be changed. A stream ends when the
 * server closes it or the request's signal aborts. It has one reader and can be read once.
 */
export type ResponseBody =
  | { readonly type: "decoded"; readonly value: unknown }
  | { readonly type: "bytes"; readonly chunks: AsyncIterable<Uint8Array> }
  | { readonly type: "events"; readonly events: AsyncIterable<unknown> };

/** Sends one request to a Kubernetes API server: over HTTP, or to a server in this process. */
export type Transport = (request: ApiRequest) => Promise<ApiResponse>;

/** Header fields by lower-case name. A plain record: building a `Headers` for each in-process request would cost more than serving it. */
export type HeaderFields = Readonly<Record<string, string | readonly string[]>>;

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS";
  /** Path and query, e.g. `/apis/batch/v1/namespaces/default/jobs?watch=true`: all that says what is asked for. */
  readonly path: string;
  readonly headers: HeaderFields;
  readonly body?: RequestBody;
  /** Ends the request, and the response's stream if it has one. */
  readonly signal?: AbortSignal;
  /**
   * Called when the request is about to leave this process, once it has a connection and need not wait for anything more. What it
   * throws keeps the request back, and the transport rejects with it. Where requests never wait it may not be called.
   */
  readonly beforeSend?: () => void;
}

/**
 * What a request carries. `decoded` is JSON data: the HTTP transport writes it out, a server in this process takes it as
 * it is. The receiver copies what it keeps and changes nothing, so the sender keeps its object.
 */
export type RequestBody =
  { readonly type: "decoded"; readonly value: unknown } | { readonly type: "bytes"; readonly bytes: Uint8Array };

export interface ApiResponse {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly body: ResponseBody;
  /** Bytes of the request's body as it crossed the wire. Absent without a body, and in process. */
  readonly sentBytes?: number;
}

/**
 * What a response carries: decoded in process, bytes over a wire; only the client's decode step knows the difference.
 *
 * Decoded objects are shared with the server and everybody else who asked: nobody may change them. A stream ends when the
 * server closes it or the request's signal aborts, and is read by one reader, once.
 */
export type ResponseBody =
  | { readonly type: "decoded"; readonly value: unknown }
  | { readonly type: "bytes"; readonly chunks: AsyncIterable<Uint8Array> }
  | { readonly type: "events"; readonly events: AsyncIterable<unknown> };

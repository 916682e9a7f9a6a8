/** One call of a webhook: a POST of JSON. */
export interface WebhookCall {
  /** With its query. Its host is what the certificate must be for. */
  readonly url: string;
  /** Where to connect, when not to the URL's host: behind a service. */
  readonly address?: { readonly host: string; readonly port: number } | undefined;
  /** Authorities that the certificate may be of, PEM in base64. Default: the machine's. */
  readonly caBundle?: string | undefined;
  /** What is sent, as JSON data. Shared: not to be changed. */
  readonly body: unknown;
  /** Milliseconds of real time, from 1,000 to 30,000. */
  readonly timeoutMs: number;
  /** Aborts when the server ends. */
  readonly signal: AbortSignal;
}

/** What came back. */
export interface WebhookAnswer {
  readonly status: number;
  /** The body, whatever it is. */
  readonly text: string;
}

/**
 * Calls webhooks: over HTTPS (`callWebhook` of `@kubewright/apiserver/http`), or functions in this process
 * ({@link inProcessWebhooks}). Rejects with why there is no answer, as Go words it: `connect: connection refused`.
 */
export type WebhookCaller = (call: WebhookCall) => Promise<WebhookAnswer>;

/** Answers an AdmissionReview: with its `response`, or a promise of it. Its `uid` may be left out. */
export type WebhookHandler = (review: AdmissionReview) => AdmissionResponse | Promise<AdmissionResponse>;

export interface AdmissionReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: AdmissionRequest;
}

/** Upstream: `admission.k8s.io/v1` AdmissionRequest. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly userInfo: { readonly username: string; readonly uid?: string; readonly groups?: readonly string[] };
  /** `null` of a deletion. */
  readonly object: Record<string, unknown> | null;
  /** `null` of a creation. */
  readonly oldObject: Record<string, unknown> | null;
  readonly dryRun: boolean;
  readonly options: Record<string, unknown>;
}

/** Upstream: `admission.k8s.io/v1` AdmissionResponse. */
export interface AdmissionResponse {
  readonly uid?: string;
  readonly allowed: boolean;
  readonly status?: { readonly code?: number; readonly reason?: string; readonly message?: string };
  /** A JSON patch in base64, of a mutating webhook. {@link jsonPatchOf} makes one. */
  readonly patch?: string;
  readonly patchType?: "JSONPatch";
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

/**
 * Webhooks that are functions in this process, by the URL that the configurations have: nothing is sent anywhere, so that they
 * serve in virtual time, too. A URL that none of them has refuses connections; a handler that throws has hung up.
 */
export function inProcessWebhooks(handlers: Readonly<Record<string, WebhookHandler>>): WebhookCaller {
  return async ({ url, body }) => {
    const handler = Object.hasOwn(handlers, withoutQuery(url)) ? handlers[withoutQuery(url)] : undefined;
    if (handler === undefined) throw new Error("connect: connection refused");
    const review = JSON.parse(JSON.stringify(body)) as AdmissionReview;
    const { apiVersion, kind, request } = review;
    const response = { uid: request.uid, ...(await handler(review)) };
    return { status: 200, text: JSON.stringify({ apiVersion, kind, response }) };
  };
}

/** The two members of a response that say how the object is to be changed: operations as in RFC 6902. */
export function jsonPatchOf(operations: readonly object[]): Pick<AdmissionResponse, "patch" | "patchType"> {
  const bytes = new TextEncoder().encode(JSON.stringify(operations));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return { patch: btoa(binary), patchType: "JSONPatch" };
}

function withoutQuery(url: string): string {
  return url.split("?", 1)[0] ?? "";
}

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
export interface WebhookResponse {
  readonly status: number;
  /** The body, whatever it is. */
  readonly text: string;
}

/**
 * Calls webhooks: over HTTPS (`callWebhook` of `@kubewright/apiserver/http`), or functions in this process
 * (`inProcessWebhooks`). Rejects with why there is no answer, as Go words it: `connect: connection refused`.
 */
export type WebhookCaller = (call: WebhookCall) => Promise<WebhookResponse>;

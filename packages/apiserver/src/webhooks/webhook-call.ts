/** A webhook call: a POST of JSON. */
export interface WebhookCall {
  /** Includes the query. The certificate must be valid for its host. */
  readonly url: string;
  /** Address to connect to, if not the URL's host: an endpoint of a service. */
  readonly address?: { readonly host: string; readonly port: number } | undefined;
  /** Authorities of the webhook's certificate, PEM in base64. Default: the machine's. */
  readonly caBundle?: string | undefined;
  /** JSON data to send. Shared: do not change it. */
  readonly body: unknown;
  /** Milliseconds of real time, from 1,000 to 30,000. */
  readonly timeoutMs: number;
  /** Aborts when the server closes. */
  readonly signal: AbortSignal;
}

/** The HTTP response of a webhook. */
export interface WebhookResponse {
  readonly status: number;
  /** The response's body. */
  readonly text: string;
}

/**
 * Calls webhooks: over HTTPS (`callWebhook` of `@kubewright/apiserver/http`), or functions in this process
 * (`inProcessWebhooks`). Rejects with Go's error message when there is no response: `connect: connection refused`.
 */
export type WebhookCaller = (call: WebhookCall) => Promise<WebhookResponse>;

import type { AdmissionResponse, AdmissionReview } from "../admission/admission-review.js";
import type { WebhookCaller } from "./webhook-call.js";

/** Answers an AdmissionReview: with its `response`, or a promise of it. Its `uid` may be left out. */
export type WebhookHandler = (review: AdmissionReview) => AdmissionResponse | Promise<AdmissionResponse>;

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

function withoutQuery(url: string): string {
  return url.split("?", 1)[0] ?? "";
}

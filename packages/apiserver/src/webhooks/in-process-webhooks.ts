import type { AdmissionResponse, AdmissionReview } from "../admission/admission-review.js";
import type { ConversionReview } from "../custom-resources/conversion-review.js";
import type { WebhookCaller } from "./webhook-call.js";

/** Answers an AdmissionReview: with its `response`, or a promise of it. Its `uid` may be left out. */
export type WebhookHandler = (review: AdmissionReview) => AdmissionResponse | Promise<AdmissionResponse>;

/** Makes an object one of that version, or fails with why it cannot be. The object is its own to change. */
export type ConversionHandler = (
  object: Record<string, unknown>,
  desiredAPIVersion: string,
) => Record<string, unknown> | Promise<Record<string, unknown>>;

/**
 * Webhooks that are functions in this process, by the URL that the configurations have: nothing is sent anywhere, so that they
 * serve in virtual time, too. A URL that none of them has refuses connections; a handler that throws has hung up.
 *
 * @param conversions - Those that definitions have. Theirs is only to convert: the apiVersion is set for them, and one that throws
 * has failed with that message.
 */
export function inProcessWebhooks(
  handlers: Readonly<Record<string, WebhookHandler>>,
  conversions: Readonly<Record<string, ConversionHandler>> = {},
): WebhookCaller {
  return async ({ url, body }) => {
    const review = JSON.parse(JSON.stringify(body)) as AdmissionReview | ConversionReview;
    const { apiVersion, kind } = review;
    const response = isConversion(review)
      ? await converted(handlerAt(conversions, url), review)
      : { uid: review.request.uid, ...(await handlerAt(handlers, url)(review)) };
    return { status: 200, text: JSON.stringify({ apiVersion, kind, response }) };
  };
}

function isConversion(review: AdmissionReview | ConversionReview): review is ConversionReview {
  return review.kind === "ConversionReview";
}

/** @throws Error when there is none */
function handlerAt<T>(handlers: Readonly<Record<string, T>>, url: string): T {
  const place = url.split("?", 1)[0] ?? "";
  if (!Object.hasOwn(handlers, place)) throw new Error("connect: connection refused");
  return handlers[place]!;
}

async function converted(handler: ConversionHandler, { request }: ConversionReview): Promise<object> {
  const { uid, desiredAPIVersion, objects } = request;
  try {
    const convertedObjects: object[] = [];
    for (const object of objects)
      convertedObjects.push({
        ...(await handler(object as unknown as Record<string, unknown>, desiredAPIVersion)),
        apiVersion: desiredAPIVersion,
      });
    return { uid, convertedObjects, result: { status: "Success" } };
  } catch (error) {
    return { uid, convertedObjects: [], result: { status: "Failed", message: (error as Error).message } };
  }
}

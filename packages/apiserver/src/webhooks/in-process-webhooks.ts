import type { AdmissionResponse, AdmissionReview } from "../admission/admission-review.js";
import type { ConversionReview } from "../custom-resources/conversion-review.js";
import type { WebhookCaller } from "./webhook-call.js";

/** Returns the `response` of an AdmissionReview, or a promise of it. `uid` is optional. */
export type WebhookHandler = (review: AdmissionReview) => AdmissionResponse | Promise<AdmissionResponse>;

/** Converts an object to the version, or throws. May change the object. */
export type ConversionHandler = (
  object: Record<string, unknown>,
  desiredAPIVersion: string,
) => Record<string, unknown> | Promise<Record<string, unknown>>;

/**
 * Creates a caller for webhooks that are functions in this process, by the URL in the configuration. Nothing is sent,
 * so that they also work in virtual time. An unknown URL refuses the connection. A handler that throws counts as a
 * broken connection.
 *
 * @param conversions - Conversion webhooks of CustomResourceDefinitions. They only convert: the apiVersion is set for
 * them. If one throws, the conversion fails with its message.
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

/** @throws Error when there is no handler. */
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

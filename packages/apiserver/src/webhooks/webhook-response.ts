import { type JsonObject, isJsonObject } from "../json.js";
import type { WebhookResponse } from "./webhook-call.js";

/** Error messages by status code. Upstream: `errors.NewGenericServerResponse`. */
const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: "the server rejected our request for an unknown reason",
  401: "the server has asked for the client to provide credentials",
  403: "forbidden",
  404: "the server could not find the requested resource",
  405: "the server does not allow this method on the requested resource",
  413: "the request entity is too large",
  415: "the body of the request was in an unknown format - accepted media types include: ",
  429: "the server has received too many requests and has asked us to try again later",
  503: "the server is currently unable to handle the request",
  504: "the server was unable to return a response in the time allotted, but may still be processing the request",
};
const SHOWN_CHARACTERS = 2048;

/**
 * Parses the review in a webhook's response. Upstream: client-go `rest.Result.Into`.
 *
 * @throws Error with upstream's message when the response is no review.
 */
export function parseReview({ status, text }: WebhookResponse): JsonObject {
  if (status < 200 || status > 206) throw new Error(statusText(status, text));
  let review: unknown;
  try {
    review = JSON.parse(text);
  } catch (error) {
    throw new Error(`couldn't get version/kind; json parse error: ${(error as Error).message}`, { cause: error });
  }
  if (isJsonObject(review)) return review;
  throw new Error("couldn't get version/kind; json parse error: json: cannot unmarshal into a struct");
}

/** Returns the message of a Status, or the text for the status code. */
function statusText(status: number, text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    if (isJsonObject(body) && body["kind"] === "Status" && typeof body["message"] === "string") return body["message"];
  } catch {
    // Not JSON: most servers answer with plain text.
  }
  const shown = text.trim() === "" ? "unknown" : text.trim().slice(0, SHOWN_CHARACTERS);
  if (status === 500 || (status > 500 && STATUS_TEXTS[status] === undefined))
    return `an error on the server (${JSON.stringify(shown)}) has prevented the request from succeeding`;
  return (
    STATUS_TEXTS[status] ?? `the server responded with the status code ${status} but did not return more information`
  );
}

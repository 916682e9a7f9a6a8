import type { Status } from "@kubewright/api";

import { ApiError } from "../api-error.js";
import { type JsonObject, isJsonObject } from "../json.js";
import type { WebhookAnswer } from "./webhook-call.js";

/** What a webhook decided. */
export interface Verdict {
  readonly allowed: boolean;
  readonly status: JsonObject | undefined;
  /** The text of a JSON patch. */
  readonly patch: string | undefined;
  readonly patchType: string;
  readonly warnings: readonly string[];
}

/** Why an answer is none. */
export class InvalidAnswer extends Error {
  override readonly name = "InvalidAnswer";
}

/** What a call that fails with a status is told. Upstream: `errors.NewGenericServerResponse`. */
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
 * Reads what a webhook answered. Upstream: `VerifyAdmissionResponse`.
 *
 * @param apiVersion - What it was asked in.
 * @throws InvalidAnswer
 */
export function readVerdict(
  { status, text }: WebhookAnswer,
  apiVersion: string,
  uid: string,
  isMutating: boolean,
): Verdict {
  if (status < 200 || status > 206) throw failedCall(statusText(status, text));
  const review = parseReview(text);
  const isV1 = apiVersion === "admission.k8s.io/v1";
  const { response } = review;
  if (!isJsonObject(response))
    throw new InvalidAnswer("received invalid webhook response: webhook response was absent");
  const wrong = (why: string): InvalidAnswer => new InvalidAnswer(`received invalid webhook response: ${why}`);
  if (isV1) {
    const given = textOf(response["uid"]);
    if (given !== uid) throw wrong(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(given)}`);
    if (review["apiVersion"] !== apiVersion || review["kind"] !== "AdmissionReview")
      throw wrong(
        `expected webhook response of ${apiVersion}, Kind=AdmissionReview, got ${textOf(review["apiVersion"])}, Kind=${textOf(review["kind"])}`,
      );
  }
  const patch = textOf(response["patch"]);
  const patchType = textOf(response["patchType"]);
  if (isMutating && isV1) {
    if (patch !== "" && patchType === "") throw wrong("webhook returned response.patch but not response.patchType");
    if (patch === "" && patchType !== "") throw wrong("webhook returned response.patchType but not response.patch");
  } else if (isV1) {
    if (patch !== "") throw wrong("validating webhook may not return response.patch");
    if (patchType !== "") throw wrong("validating webhook may not return response.patchType");
  }
  const result = response["status"];
  const { warnings } = response;
  return {
    allowed: response["allowed"] === true,
    status: isJsonObject(result) ? result : undefined,
    patch: patch === "" ? undefined : decodePatch(patch),
    patchType: patchType === "" ? "JSONPatch" : patchType,
    warnings: Array.isArray(warnings) ? warnings.filter((each) => typeof each === "string") : [],
  };
}

/** @throws InvalidAnswer */
function decodePatch(patch: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(patch), (character) => character.charCodeAt(0)));
  } catch {
    throw failedCall("illegal base64 data in response.patch");
  }
}

function parseReview(text: string): JsonObject {
  let review: unknown;
  try {
    review = JSON.parse(text);
  } catch (error) {
    throw failedCall(`couldn't get version/kind; json parse error: ${(error as Error).message}`);
  }
  if (isJsonObject(review)) return review;
  throw failedCall("couldn't get version/kind; json parse error: json: cannot unmarshal into a struct");
}

function failedCall(why: string): InvalidAnswer {
  return new InvalidAnswer(`failed to call webhook: ${why}`);
}

/** Of an error that is a Status its own message, else what its code means. */
function statusText(status: number, text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    if (isJsonObject(body) && body["kind"] === "Status" && typeof body["message"] === "string") return body["message"];
  } catch {
    // It is what most servers say.
  }
  const shown = text.trim() === "" ? "unknown" : text.trim().slice(0, SHOWN_CHARACTERS);
  if (status === 500 || (status > 500 && STATUS_TEXTS[status] === undefined))
    return `an error on the server (${JSON.stringify(shown)}) has prevented the request from succeeding`;
  return (
    STATUS_TEXTS[status] ?? `the server responded with the status code ${status} but did not return more information`
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Upstream: `webhookerrors.ToStatusErr`. */
export function refusal(webhook: string, status: JsonObject = {}): ApiError {
  const { code, message, reason } = status as { code?: unknown; message?: unknown; reason?: unknown };
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const why = textOf(message) || textOf(reason);
  const details = status["details"];
  const result: Status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: why === "" ? `${denied} without explanation` : `${denied}: ${why}`,
    ...(textOf(reason) === "" ? {} : { reason: textOf(reason) }),
    ...(isJsonObject(details) ? { details } : {}),
    code: typeof code === "number" && Number.isInteger(code) && code >= 400 && code < 600 ? code : 400,
  };
  return new ApiError(result);
}

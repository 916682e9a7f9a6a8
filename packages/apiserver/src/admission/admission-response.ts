import type { Status } from "@kubewright/api";

import { ApiError } from "../api-error.js";
import { type JsonObject, isJsonObject, textOf } from "../json.js";
import { parseReview } from "../webhooks/webhook-response.js";
import type { WebhookResponse } from "../webhooks/webhook-call.js";

/** Decision of a webhook. */
export interface Verdict {
  readonly allowed: boolean;
  readonly status: JsonObject | undefined;
  /** Text of a JSON patch. */
  readonly patch: string | undefined;
  readonly patchType: string;
  readonly warnings: readonly string[];
  /** Audit annotations; the keys have no webhook name prefix. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** The response of a webhook is invalid. */
export class InvalidResponse extends Error {
  override readonly name = "InvalidAnswer";
}

/**
 * Parses the response of a webhook. Upstream: `VerifyAdmissionResponse`.
 *
 * @param apiVersion - The apiVersion of the request.
 * @throws InvalidResponse
 */
export function readVerdict(answer: WebhookResponse, apiVersion: string, uid: string, isMutating: boolean): Verdict {
  const review = readReview(answer);
  const isV1 = apiVersion === "admission.k8s.io/v1";
  const { response } = review;
  if (!isJsonObject(response))
    throw new InvalidResponse("received invalid webhook response: webhook response was absent");
  const wrong = (why: string): InvalidResponse => new InvalidResponse(`received invalid webhook response: ${why}`);
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
    annotations: textsOf(response["auditAnnotations"]),
  };
}

/** @throws InvalidResponse */
function decodePatch(patch: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(patch), (character) => character.charCodeAt(0)));
  } catch {
    throw failedCall("illegal base64 data in response.patch");
  }
}

/** @throws InvalidResponse */
function readReview(answer: WebhookResponse): JsonObject {
  try {
    return parseReview(answer);
  } catch (error) {
    throw failedCall((error as Error).message);
  }
}

function failedCall(why: string): InvalidResponse {
  return new InvalidResponse(`failed to call webhook: ${why}`);
}

function textsOf(value: unknown): Record<string, string> {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** Returns the error for a request that a webhook denied. Upstream: `webhookerrors.ToStatusErr`. */
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

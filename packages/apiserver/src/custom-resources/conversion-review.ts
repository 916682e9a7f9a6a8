import type { KubernetesObject } from "@kubewright/api";

import { FieldErrors, errorsMessage } from "../field-errors.js";
import { type JsonObject, isJsonObject, textOf } from "../json.js";
import { validateAnnotations, validateLabels } from "../metadata-validation.js";
import { TOO_DEEP, isNestedDeeper } from "../nesting.js";
import { parseReview } from "../webhooks/webhook-response.js";
import type { WebhookResponse } from "../webhooks/webhook-call.js";

const GROUP = "apiextensions.k8s.io";
/** Metadata fields that a conversion may change. All other fields keep their values. */
const MUTABLE_METADATA = ["labels", "annotations"] as const;

/** The request to a conversion webhook. Upstream: `apiextensions.k8s.io/v1` ConversionReview. */
export interface ConversionReview {
  readonly kind: "ConversionReview";
  readonly apiVersion: string;
  readonly request: {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: readonly KubernetesObject[];
  };
}

/**
 * Creates a review in the first supported version of the list. Upstream: `createConversionReviewObjects`.
 *
 * @throws Error when no version is supported
 */
export function createConversionReview(
  versions: readonly string[],
  request: ConversionReview["request"],
): ConversionReview {
  const version = versions.find((each) => each === "v1" || each === "v1beta1");
  if (version === undefined) throw new Error("no supported conversion review versions");
  return { kind: "ConversionReview", apiVersion: `${GROUP}/${version}`, request };
}

/**
 * Returns the converted objects of a webhook's response, without checking them. Upstream:
 * `getConvertedObjectsFromResponse`.
 *
 * @throws Error with the reason when the response has no objects
 */
export function readConvertedObjects(
  answer: WebhookResponse,
  { apiVersion, request }: ConversionReview,
): readonly unknown[] {
  const review = parseReview(answer);
  const { response } = review;
  // Upstream checks kind, version and UID only in v1 responses.
  const isV1 = apiVersion === `${GROUP}/v1`;
  if (isV1 && (review["apiVersion"] !== apiVersion || review["kind"] !== "ConversionReview"))
    throw new Error(
      `expected webhook response of ${apiVersion}, Kind=ConversionReview, got ${textOf(review["apiVersion"])}, Kind=${textOf(review["kind"])}`,
    );
  if (!isJsonObject(response)) throw new Error("no response provided");
  const uid = textOf(response["uid"]);
  if (isV1 && uid !== request.uid)
    throw new Error(`expected response.uid=${JSON.stringify(request.uid)}, got ${JSON.stringify(uid)}`);
  const { status, message } = isJsonObject(response["result"]) ? response["result"] : ({} as JsonObject);
  if (status !== "Success")
    throw new Error(textOf(message) || `response.result.status was '${textOf(status)}', not 'Success'`);
  const { convertedObjects } = response;
  return Array.isArray(convertedObjects) ? (convertedObjects as readonly unknown[]) : [];
}

/** Thrown when a converted object is not the same object in another version. */
export class InvalidConversion extends Error {
  override readonly name = "InvalidConversion";

  /** @param part - `object` or `metadata` */
  constructor(
    readonly part: "object" | "metadata",
    message: string,
  ) {
    super(message);
  }
}

/**
 * Returns the converted object with the original's metadata, except labels and annotations. Upstream:
 * `validateConvertedObject`, `restoreObjectMeta`.
 *
 * @throws InvalidConversion
 */
export function checkConverted(original: KubernetesObject, value: unknown, apiVersion: string): KubernetesObject {
  const invalid = (message: string): InvalidConversion => new InvalidConversion("object", message);
  if (!isJsonObject(value)) throw invalid(`expected an object, got ${goType(value)}`);
  if (isNestedDeeper(value)) throw invalid(TOO_DEEP);
  const kind = textOf(value["kind"]);
  if (kind === "") throw invalid(`Object 'Kind' is missing in '${JSON.stringify(value)}'`);
  const received = textOf(value["apiVersion"]);
  if (received !== apiVersion) throw invalid(`invalid groupVersion (expected ${apiVersion}, received ${received})`);
  if (kind !== original.kind) throw invalid(`invalid kind (expected ${original.kind}, received ${kind})`);
  const { metadata } = value;
  const given = isJsonObject(metadata) ? metadata : {};
  for (const [member, label] of IMMUTABLE_METADATA) {
    const [before, after] = [original.metadata[member] ?? "", textOf(given[member])];
    if (before !== after) throw invalid(`must have the same ${label}: ${before} != ${after}`);
  }
  return { ...value, apiVersion, kind, metadata: convertedMetadata(original.metadata, metadata) };
}

const IMMUTABLE_METADATA = [
  ["name", "name"],
  ["namespace", "namespace"],
  ["uid", "UID"],
] as const;

function convertedMetadata(original: KubernetesObject["metadata"], given: unknown): KubernetesObject["metadata"] {
  const invalid = (message: string): InvalidConversion => new InvalidConversion("metadata", message);
  if (given === undefined) throw invalid("missing metadata in converted object");
  if (!isJsonObject(given)) throw invalid(`invalid metadata of type ${goType(given)} in converted object`);
  const { labels: _labels, annotations: _annotations, ...others } = original;
  const metadata: KubernetesObject["metadata"] = others;
  const errors = new FieldErrors();
  for (const member of MUTABLE_METADATA) {
    const entries = given[member];
    if (entries === undefined || entries === null) continue;
    if (!isJsonObject(entries))
      throw invalid(`invalid metadata.${member} of type ${goType(entries)} in converted object`);
    for (const [key, value] of Object.entries(entries))
      if (typeof value !== "string")
        throw invalid(`metadata.${member}[${key}] must be a string, but is ${goType(value)} in converted object`);
    const texts = entries as Record<string, string>;
    if (!isSame(texts, original[member])) {
      if (member === "labels") validateLabels(texts, "metadata.labels", errors);
      else validateAnnotations(texts, "metadata.annotations", errors);
      if (!errors.isEmpty) throw invalid(errorsMessage(errors.all));
    }
    metadata[member] = texts;
  }
  return metadata;
}

function isSame(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>> = {}): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}

/** Formats the type of JSON data as Go does. */
function goType(value: unknown): string {
  if (Array.isArray(value)) return "[]interface {}";
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "number":
      return Number.isInteger(value) ? "int64" : "float64";
    default:
      return value === null || value === undefined ? "<nil>" : "map[string]interface {}";
  }
}

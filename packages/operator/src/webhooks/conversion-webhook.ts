import { type KubernetesObject, type ObjectMeta, apiVersionOf, mutableCopy } from "@kubewright/api";

import type { CustomResource } from "../custom-resource/custom-resource.js";
import type { OtherVersion } from "../custom-resource/define-version.js";
import type { ConversionResponse, ConversionReview } from "./admission-review.js";
import { parseUnconvertedFields, unconvertedFields, withUnconvertedFields } from "./unconverted-fields.js";
import { type Webhook, checkReview } from "./webhook.js";

const REVIEW = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" } as const;

/** A conversion webhook with the versions that it converts. */
export interface ConversionWebhook extends Webhook {
  readonly type: "conversion";
  readonly definition: CustomResource;
  readonly versions: readonly OtherVersion[];
}

/**
 * Defines a webhook that converts a custom resource's objects between any two versions, through the storage version.
 * Top-level fields that a conversion does not return keep their values; `undefined` removes a field.
 *
 * A client that changes an object in another version does not lose fields of the stored object that this version cannot
 * express: while the object is in this version, the annotation `GROUP/conversion-data` contains them. The conversion
 * back restores each field that the client has not changed. A list counts as one field.
 *
 * @param versions - Created by `defineVersion(stored, …)`.
 */
export function conversionWebhook<T extends KubernetesObject, Input>(
  stored: CustomResource<T, Input>,
  versions: readonly OtherVersion<KubernetesObject, unknown, T>[],
): ConversionWebhook {
  const definition: CustomResource = stored;
  const others = versions as readonly OtherVersion[];
  const byVersion = new Map(others.map((version) => [apiVersionOf(version), version]));
  const { group, resource, kind } = stored;
  const storedVersion = apiVersionOf(stored);
  const annotation = `${group}/conversion-data`;
  const convert = (object: KubernetesObject, desired: string): object => {
    const { apiVersion = "" } = object;
    if (object.kind !== kind) throw new Error(`expected ${kind}, got ${object.kind ?? "no kind"}`);
    const [from, to] = [byVersion.get(apiVersion)?.conversion, byVersion.get(desired)?.conversion];
    for (const each of [apiVersion, desired])
      if (each !== storedVersion && !byVersion.has(each))
        throw new Error(`${kind} has no version ${each}: there are ${[storedVersion, ...byVersion.keys()].join(", ")}`);
    if (apiVersion === desired) return object;
    const inStored = from === undefined ? changed(object, undefined, storedVersion) : restored(object, from);
    return to === undefined ? changed(inStored, undefined, desired) : recorded(inStored, to, desired);
  };
  const restored = (object: KubernetesObject, conversion: AnyConversion): KubernetesObject => {
    const { [annotation]: data, ...annotations } = object.metadata.annotations ?? {};
    const toStored = (each: KubernetesObject): Change => conversion.toStored(each);
    if (data === undefined) return changed(object, toStored, storedVersion);
    const plain = { ...object, metadata: withAnnotations(object.metadata, annotations) };
    const fields = parseUnconvertedFields(data, `metadata.annotations[${annotation}]`);
    return withUnconvertedFields(changed(plain, toStored, storedVersion), fields);
  };
  const recorded = (inStored: KubernetesObject, conversion: AnyConversion, desired: string): KubernetesObject => {
    const converted = changed(inStored, (each) => conversion.fromStored(each), desired);
    let fields;
    try {
      fields = unconvertedFields(
        inStored,
        changed(converted, (each) => conversion.toStored(each), storedVersion),
      );
    } catch {
      // It can be read, though a write through this version would fail.
      return converted;
    }
    if (fields.length === 0) return converted;
    const { metadata } = converted;
    const annotations = { ...metadata.annotations, [annotation]: JSON.stringify(fields) };
    return { ...converted, metadata: withAnnotations(metadata, annotations) };
  };
  return {
    type: "conversion",
    name: `convert.${resource}.${group}`,
    definition,
    versions: others,
    path: `/convert/${group}/${resource}`,
    review: (review) => {
      checkReview(review, REVIEW.apiVersion, REVIEW.kind);
      return Promise.resolve({ ...REVIEW, response: answer(review as ConversionReview, convert) });
    },
  };
}

function answer(
  { request: { uid, desiredAPIVersion, objects } }: ConversionReview,
  convert: (object: KubernetesObject, desired: string) => object,
): ConversionResponse {
  try {
    const convertedObjects = objects.map((object) => convert(object as KubernetesObject, desiredAPIVersion));
    return { uid, result: { status: "Success" }, convertedObjects };
  } catch (error) {
    // The API server reports the message to its client.
    return { uid, result: { status: "Failure", message: (error as Error).message }, convertedObjects: [] };
  }
}

type AnyConversion = NonNullable<OtherVersion["conversion"]>;

/** Without `annotations` when there are none. */
function withAnnotations(metadata: ObjectMeta, annotations: Readonly<Record<string, string>>): ObjectMeta {
  const { annotations: _annotations, ...rest } = metadata;
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations: { ...annotations } };
}

interface Change {
  readonly metadata?: Pick<ObjectMeta, "labels" | "annotations">;
}

function changed(
  object: KubernetesObject,
  conversion: ((object: KubernetesObject) => Change) | undefined,
  apiVersion: string,
): KubernetesObject {
  const { metadata, ...rest } = conversion?.(mutableCopy(object)) ?? {};
  return { ...object, ...rest, apiVersion, metadata: { ...object.metadata, ...metadata } };
}

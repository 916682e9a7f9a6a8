import { type KubernetesObject, type ObjectMeta, apiVersionOf, mutableCopy } from "@kubewright/api";

import type { CustomResource } from "../custom-resource/custom-resource.js";
import type { OtherVersion } from "../custom-resource/define-version.js";
import type { ConversionResponse, ConversionReview } from "./admission-review.js";
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
 * Fields that a conversion does not return keep their values; `undefined` removes a field.
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
  const convert = (object: KubernetesObject, desired: string): object => {
    const { apiVersion = "" } = object;
    if (object.kind !== kind) throw new Error(`expected ${kind}, got ${object.kind ?? "no kind"}`);
    const [from, to] = [byVersion.get(apiVersion)?.conversion, byVersion.get(desired)?.conversion];
    for (const each of [apiVersion, desired])
      if (each !== apiVersionOf(stored) && !byVersion.has(each))
        throw new Error(
          `${kind} has no version ${each}: there are ${[apiVersionOf(stored), ...byVersion.keys()].join(", ")}`,
        );
    if (apiVersion === desired) return object;
    const inStored = changed(object, from && ((each) => from.toStored(each)), apiVersionOf(stored));
    return changed(inStored, to && ((each) => to.fromStored(each)), desired);
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

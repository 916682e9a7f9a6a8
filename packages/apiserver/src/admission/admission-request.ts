import type { KubernetesObject } from "@kubewright/api";

import { internalError } from "../api-error.js";
import { type Awaitable, andThen } from "../awaitable.js";
import type { JsonObject } from "../json.js";
import { type AdmissionAttributes, type GroupVersionKind, requestedKind } from "../registry/admission.js";
import type { ServedResource } from "../served-resource.js";
import { convert } from "../stored-versions.js";
import { isFullObject } from "./request-matcher.js";

/** A request as webhooks and expressions receive it, with its objects converted to `matchedResource`. */
export interface AdmissionRequestView {
  /** An `AdmissionRequest` without `uid`, `object` and `oldObject`. */
  readonly request: JsonObject;
  readonly object: KubernetesObject | null;
  readonly oldObject: KubernetesObject | null;
}

/**
 * Builds the admission request with its objects converted to `matchedResource`.
 *
 * Upstream: apiserver `pkg/admission/plugin/webhook/request/admissionreview.go`.
 *
 * @throws ApiError 500 when an object cannot be converted.
 */
export function buildRequestView(
  attributes: AdmissionAttributes,
  matchedResource: ServedResource,
): Awaitable<AdmissionRequestView> {
  const { resource, operation, object, oldObject } = attributes;
  const view = (each: KubernetesObject | undefined): Awaitable<KubernetesObject | null> =>
    each === undefined
      ? null
      : isFullObject(attributes)
        ? convertForAdmission(each, resource, matchedResource)
        : withoutEmptyMetadata(each, operation);
  return andThen(view(object), (seen) =>
    andThen(view(oldObject), (old) => ({
      request: describe(attributes, matchedResource),
      object: seen,
      oldObject: old,
    })),
  );
}

/** Converts an object. A failed conversion becomes an internal error, as other failures before a webhook call do. */
export function convertForAdmission(
  object: KubernetesObject,
  from: ServedResource,
  to: ServedResource,
): Awaitable<KubernetesObject> {
  const converted = convert(object, from, to);
  if (!(converted instanceof Promise)) return converted;
  return converted.catch((error: unknown) => {
    throw internalError((error as Error).message);
  });
}

function describe(attributes: AdmissionAttributes, matchedResource: ServedResource): JsonObject {
  const { resource, subresource, operation, name, namespace, user, dryRun } = attributes;
  const below = subresource === "" ? {} : { subResource: subresource };
  const { groups, uid, extra } = user;
  return {
    kind: kindOf(requestedKind(matchedResource, subresource)),
    resource: resourceOf(matchedResource),
    ...below,
    requestKind: kindOf(attributes.kind),
    requestResource: resourceOf(resource),
    ...(subresource === "" ? {} : { requestSubResource: subresource }),
    ...(name === "" ? {} : { name }),
    ...(namespace === "" ? {} : { namespace }),
    operation,
    userInfo: {
      username: user.username,
      ...(uid === undefined ? {} : { uid }),
      ...(groups.length === 0 ? {} : { groups }),
      ...(extra === undefined ? {} : { extra }),
    },
    dryRun,
    options: optionsOf(attributes),
  };
}

/** The options object of a CONNECT request has no metadata. */
function withoutEmptyMetadata(object: KubernetesObject, operation: AdmissionAttributes["operation"]): KubernetesObject {
  if (operation !== "CONNECT") return object;
  const { metadata: _none, ...options } = object;
  return options as KubernetesObject;
}

function kindOf({ group, version, kind }: GroupVersionKind): JsonObject {
  return { group, version, kind };
}

function resourceOf({ group, version, resource }: ServedResource): JsonObject {
  return { group, version, resource };
}

function optionsOf({ operation, options, dryRun }: AdmissionAttributes): JsonObject | null {
  if (operation === "CONNECT" || options === undefined) return null;
  const kind = { CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions" }[operation];
  const { dryRun: _dryRun, ...rest } = options;
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  return {
    kind,
    apiVersion: "meta.k8s.io/v1",
    ...Object.fromEntries(given as [string, unknown][]),
    ...(dryRun ? { dryRun: ["All"] } : {}),
  };
}

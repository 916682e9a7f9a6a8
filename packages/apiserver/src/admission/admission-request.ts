import type { KubernetesObject } from "@kubewright/api";

import type { JsonObject } from "../json.js";
import { type AdmissionAttributes, type GroupVersionKind, kindIn } from "../registry/admission.js";
import type { ServedResource } from "../served-resource.js";
import { convert } from "./matching.js";

/** A request as webhooks and expressions are told of it, seen as one for the `seenAs` resource. */
export interface SeenRequest {
  /** An `AdmissionRequest` without its UID and objects. */
  readonly request: JsonObject;
  readonly object: KubernetesObject | null;
  readonly oldObject: KubernetesObject | null;
}

/** Upstream: apiserver `pkg/admission/plugin/webhook/request/admissionreview.go`. */
export function seenRequest(attributes: AdmissionAttributes, seenAs: ServedResource): SeenRequest {
  const { resource, subresource, operation, name, namespace, user, dryRun, object, oldObject } = attributes;
  const view = (each: KubernetesObject | undefined): KubernetesObject | null =>
    each === undefined ? null : withoutEmptyMetadata(convert(each, attributes, seenAs), operation);
  const below = subresource === "" ? {} : { subResource: subresource };
  const { groups, uid, extra } = user;
  return {
    request: {
      kind: kindOf(kindIn(seenAs, subresource)),
      resource: resourceOf(seenAs),
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
    },
    object: view(object),
    oldObject: view(oldObject),
  };
}

/** The options of a connection have none. */
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

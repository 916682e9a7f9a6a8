import type { KubernetesObject } from "@kubewright/api";

import type { ApiCall } from "../api-call.js";
import { badRequest, internalError, invalid, notFound } from "../api-error.js";
import { FieldErrors } from "../field-errors.js";
import { commitUpdate } from "../handlers/update.js";
import { type JsonObject, isJsonObject } from "../json.js";
import { mergePatch } from "../patch/merge-patch.js";
import { type Reply, replyValue, valueReply } from "../reply.js";
import { bodyText } from "../request-body.js";
import { present } from "../served-resource.js";
import { readWriteOptions } from "../write-options.js";
import type { ScaleSubresource } from "./definition.js";
import { readJsonPath, writeJsonPath } from "./json-path.js";

/** GET, PUT and merge PATCH of `scale`: the number of replicas, wherever the definition keeps it. */
export function scaleHandler(call: ApiCall, scale: ScaleSubresource): Reply {
  const { resource, namespace, name } = call.target;
  const stored = resource.storage.get(namespace, name);
  if (stored === undefined) throw notFound(resource, name);
  const current = present(resource, stored);
  if (call.verb === "get" && typeof readJsonPath(scale.specReplicasPath, current) !== "number") {
    throw internalError(`the spec replicas field ${JSON.stringify(scale.specReplicasPath)} does not exist`);
  }
  if (call.verb === "get") return valueReply(200, toScale(current, scale));
  const options = readWriteOptions(call, call.verb === "patch" ? "PatchOptions" : "UpdateOptions");
  const sent: unknown =
    call.request.body?.type === "decoded" ? call.request.body.value : JSON.parse(bodyText(call.request.body) || "null");
  if (!isJsonObject(sent)) throw badRequest("the object provided is unrecognized (must be of type Scale)");
  const wanted = (call.verb === "patch" ? mergePatch(toScale(current, scale), sent) : sent) as {
    spec?: { replicas?: unknown };
    metadata?: { resourceVersion?: string };
  };
  const replicas = wanted.spec?.replicas ?? 0;
  if (typeof replicas === "number" && replicas < 0) {
    const errors = new FieldErrors();
    errors.invalid(scale.specReplicasPath, replicas, "should be a non-negative integer");
    throw invalid(resource, name, errors);
  }
  const changed = writeJsonPath(scale.specReplicasPath, current, replicas) as JsonObject;
  const object = resource.decode(changed);
  const version = (sent["metadata"] as { resourceVersion?: string } | undefined)?.resourceVersion;
  object.metadata.resourceVersion = version ?? stored.object.metadata.resourceVersion!;
  const reply = commitUpdate({ ...call, target: { ...call.target, subresource: "" } }, stored, object, options);
  return valueReply(reply.status, toScale(replyValue(reply.body) as KubernetesObject, scale));
}

function toScale(object: KubernetesObject, scale: ScaleSubresource): unknown {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = scale.labelSelectorPath === undefined ? undefined : readJsonPath(scale.labelSelectorPath, object);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: { ...replicasAt(scale.specReplicasPath, object, false) },
    status: { ...replicasAt(scale.statusReplicasPath, object, true), ...(selector ? { selector } : {}) },
  };
}

function replicasAt(path: string, object: KubernetesObject, always: boolean): { replicas?: number } {
  const replicas = readJsonPath(path, object);
  return typeof replicas === "number" && (always || replicas !== 0) ? { replicas } : always ? { replicas: 0 } : {};
}

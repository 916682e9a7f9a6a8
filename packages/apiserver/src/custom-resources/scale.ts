import type { KubernetesObject } from "@kubewright/api";

import type { ApiCall } from "../api-call.js";
import { internalError, invalid, notFound, unprocessable, unsupportedMediaType } from "../api-error.js";
import { FieldErrors } from "../field-errors.js";
import { JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, readPatch } from "../handlers/patch.js";
import { commitUpdate } from "../handlers/update.js";
import { type JsonObject, isJsonObject } from "../json.js";
import { JsonPatchError, jsonPatch } from "../patch/json-patch.js";
import { mergePatch } from "../patch/merge-patch.js";
import { type Reply, replyValue, valueReply } from "../reply.js";
import { noFindings } from "../schema/decode.js";
import { mediaTypeOf, readObjectBody } from "../request-body.js";
import { present } from "../served-resource.js";
import { type WriteOptions, readWriteOptions } from "../write-options.js";
import { parseYaml } from "../yaml.js";
import type { ScaleSubresource } from "./definition.js";
import { readJsonPath, writeJsonPath } from "./json-path.js";

/** A Scale has no lists, so the strategic merge is the plain one. */
const PATCHES = [JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH];

/** GET, PUT and PATCH of `scale`: the number of replicas, wherever the definition keeps it. */
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
  const wanted = wantedScale(call, toScale(current, scale), options);
  const replicas = isJsonObject(wanted["spec"]) ? (wanted["spec"]["replicas"] ?? 0) : 0;
  if (typeof replicas === "number" && replicas < 0) {
    const errors = new FieldErrors();
    errors.invalid(scale.specReplicasPath, replicas, "should be a non-negative integer");
    throw invalid(resource, name, errors);
  }
  const changed = writeJsonPath(scale.specReplicasPath, current, replicas) as JsonObject;
  const findings = noFindings();
  const object = resource.decode(changed, findings);
  call.newBytes += findings.size;
  const version = isJsonObject(wanted["metadata"]) ? wanted["metadata"]["resourceVersion"] : undefined;
  object.metadata.resourceVersion = typeof version === "string" ? version : stored.object.metadata.resourceVersion!;
  const reply = commitUpdate({ ...call, target: { ...call.target, subresource: "" } }, stored, object, options);
  return valueReply(reply.status, toScale(replyValue(reply.body) as KubernetesObject, scale));
}

/** What is sent, or what a patch makes of what there is. @throws ApiError 400, 413, 415, 422 */
function wantedScale(call: ApiCall, current: unknown, options: WriteOptions): JsonObject {
  const type = mediaTypeOf(call.request.headers["content-type"]);
  if (call.verb !== "patch") return readObjectBody(call.request.body, type, "Scale", parseYaml).value as JsonObject;
  if (!PATCHES.includes(type)) throw unsupportedMediaType(PATCHES);
  const patch = readPatch(call, type, options);
  try {
    const patched = type === JSON_PATCH ? jsonPatch(current, patch as unknown[]) : mergePatch(current, patch);
    if (isJsonObject(patched)) return patched;
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error;
  }
  throw unprocessable();
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

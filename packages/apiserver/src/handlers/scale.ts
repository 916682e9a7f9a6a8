import { type KubernetesObject, formatLabelSelector } from "@kubewright/api";

import type { ApiCall } from "../api-call.js";
import { internalError, invalid, notFound, unprocessable, unsupportedMediaType } from "../api-error.js";
import { type Awaitable, andThen } from "../awaitable.js";
import { FieldErrors } from "../field-errors.js";
import { JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, readPatch } from "./patch.js";
import { type JsonObject, isJsonObject } from "../json.js";
import { readJsonPath, writeJsonPath } from "../json-path.js";
import { JsonPatchError, jsonPatch } from "../patch/json-patch.js";
import { mergePatch } from "../patch/merge-patch.js";
import type { WriteOptions } from "../registry/options.js";
import { updateObject } from "../registry/update.js";
import { type Reply, valueReply } from "../reply.js";
import { noFindings } from "../schema/decode.js";
import { mediaTypeOf, readObjectBody } from "../request-body.js";
import { type Handler, type Handlers, present } from "../served-resource.js";
import { StoredObject } from "../storage/stored-object.js";
import { readWriteOptions } from "../write-options.js";
import { parseYaml } from "../yaml.js";

/** A Scale has no lists, so the strategic merge is the plain one. */
const PATCHES = [JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH];

/** Where an object keeps what a Scale says, as JSON paths: `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  /** A label selector, a map of labels, or a selector as text. Absent: the Scale has none. */
  readonly labelSelectorPath?: string;
}

/** GET, PUT and PATCH of `scale`: the number of replicas, wherever the kind keeps it. */
export function scaleHandlers(paths: ScalePaths): Handlers {
  const write: Handler = (call) => writeScale(call, paths);
  return { get: (call) => getScale(call, paths), patch: write, update: write };
}

function getScale(call: ApiCall, paths: ScalePaths): Reply {
  const { resource, namespace, name } = call.target;
  const stored = resource.storage.get(namespace, name);
  if (stored === undefined) throw notFound(resource, name);
  const current = present(resource, stored);
  if (resource.custom !== undefined && typeof readJsonPath(paths.specReplicasPath, current) !== "number")
    throw internalError(`the spec replicas field ${JSON.stringify(paths.specReplicasPath)} does not exist`);
  return valueReply(200, toScale(current, paths));
}

/** Upstream: `ScaleREST` of `pkg/registry/apps/deployment/storage` and of apiextensions-apiserver `customresource`. */
function writeScale(call: ApiCall, paths: ScalePaths): Awaitable<Reply> {
  const { resource, name } = call.target;
  const options = readWriteOptions(call, call.verb === "patch" ? "PatchOptions" : "UpdateOptions");
  const updated = updateObject(call, options, (stored) => {
    if (stored === undefined) throw notFound(resource, name);
    const current = present(resource, stored);
    const wanted = wantedScale(call, toScale(current, paths), options);
    const replicas = isJsonObject(wanted["spec"]) ? (wanted["spec"]["replicas"] ?? 0) : 0;
    checkReplicas(call, paths, replicas);
    const findings = noFindings();
    const object = resource.decode(writeJsonPath(paths.specReplicasPath, current, replicas), findings);
    call.newBytes += findings.size;
    const version = isJsonObject(wanted["metadata"]) ? wanted["metadata"]["resourceVersion"] : undefined;
    object.metadata.resourceVersion = typeof version === "string" ? version : stored.object.metadata.resourceVersion!;
    return { object };
  });
  return andThen(updated, ({ object }) =>
    valueReply(200, toScale(object instanceof StoredObject ? present(resource, object) : object, paths)),
  );
}

/** @throws ApiError 422 for less than none. */
function checkReplicas({ target: { resource, name } }: ApiCall, paths: ScalePaths, replicas: unknown): void {
  if (typeof replicas !== "number" || replicas >= 0) return;
  const errors = new FieldErrors();
  if (resource.custom === undefined) {
    errors.invalid("spec.replicas", replicas, "must be greater than or equal to 0");
    throw invalid({ group: "autoscaling", kind: "Scale" }, name, errors);
  }
  errors.invalid(paths.specReplicasPath, replicas, "should be a non-negative integer");
  throw invalid(resource, name, errors);
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

function toScale(object: KubernetesObject, paths: ScalePaths): unknown {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector =
    paths.labelSelectorPath === undefined ? "" : selectorText(readJsonPath(paths.labelSelectorPath, object));
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: { ...replicasAt(paths.specReplicasPath, object, false) },
    status: { ...replicasAt(paths.statusReplicasPath, object, true), ...(selector === "" ? {} : { selector }) },
  };
}

/** Custom resources keep it as text, built-in kinds as a selector, and the oldest as a map of labels. */
function selectorText(selector: unknown): string {
  if (typeof selector === "string") return selector;
  if (!isJsonObject(selector)) return "";
  const isMap = Object.values(selector).every((value) => typeof value === "string");
  return formatLabelSelector(isMap ? { matchLabels: selector as Record<string, string> } : selector);
}

function replicasAt(path: string, object: KubernetesObject, always: boolean): { replicas?: number } {
  const replicas = readJsonPath(path, object);
  return typeof replicas === "number" && (always || replicas !== 0) ? { replicas } : always ? { replicas: 0 } : {};
}

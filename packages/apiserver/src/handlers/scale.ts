import { type KubernetesObject, formatLabelSelector } from "@kubewright/api";

import type { ApiCall, Handler, Handlers } from "../api-call.js";
import {
  badRequest,
  internalError,
  invalid,
  notFound,
  plainError,
  unprocessable,
  unsupportedMediaType,
} from "../api-error.js";
import { type Awaitable, andThen } from "../awaitable.js";
import { FieldErrors } from "../field-errors.js";
import { EMPTY_FIELDS } from "../fields/field-set.js";
import { isSameManager } from "../fields/managers.js";
import { ReplicaOwners } from "../fields/replica-tracking.js";
import { type JsonObject, isJsonObject, textOf } from "../json.js";
import { readJsonPath, writeJsonPath } from "../json-path.js";
import { JsonPatchError, jsonPatch } from "../patch/json-patch.js";
import { mergePatch } from "../patch/merge-patch.js";
import type { WriteOptions } from "../registry/options.js";
import { checkName, writeObject } from "../registry/write-object.js";
import { type Reply, valueReply } from "../reply.js";
import type { ResourceTarget } from "../route.js";
import { noFindings } from "../schema/decode.js";
import { mediaTypeOf, readObjectBody } from "../request-body.js";
import type { ScalePaths } from "../scale-paths.js";
import type { SubresourceView } from "../served-resource.js";
import { StoredObject } from "../storage/stored-object.js";
import { presentObject } from "../stored-versions.js";
import { readWriteOptions } from "../write-options.js";
import { applyConflict, readConfiguration } from "./apply.js";
import { APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, readPatch } from "./patch.js";

/** A Scale has no lists: a strategic merge patch works like a JSON merge patch. */
const PATCHES = [JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, APPLY_PATCH];
const CUSTOM_PATCHES = [JSON_PATCH, MERGE_PATCH, APPLY_PATCH];
const SCALE = { apiVersion: "autoscaling/v1", kind: "Scale" };
/** Owner of the replica count when no manager is recorded. */
const BEFORE_APPLY = {
  name: "before-first-apply",
  operation: "Update",
  apiVersion: SCALE.apiVersion,
  subresource: "",
  time: undefined,
} as const;

interface Scale extends KubernetesObject {
  spec: { replicas?: number };
  status: { replicas?: number; selector?: string };
}

/** GET, PUT and PATCH of the subresource `scale`. */
export function scaleHandlers(paths: ScalePaths): Handlers {
  const write: Handler = (call) => writeScale(call, paths);
  return { get: (call) => getScale(call, paths), patch: write, update: write };
}

/** Admission of `scale` sees the Scale, not the whole object. */
export function scaleView(paths: ScalePaths): SubresourceView {
  return {
    show: (object) => toScale(object, paths),
    apply(target, shown, object) {
      const { replicas = 0 } = (shown as Partial<Scale>).spec ?? {};
      if (replicas === (readJsonPath(paths.specReplicasPath, object) ?? 0)) return object;
      checkReplicas(target, paths, replicas);
      return target.resource.decode(writeJsonPath(paths.specReplicasPath, object, replicas));
    },
  };
}

function getScale(call: ApiCall, paths: ScalePaths): Awaitable<Reply> {
  const { resource, namespace, name } = call.target;
  const stored = resource.storage.get(namespace, name);
  if (stored === undefined) throw notFound(resource, name);
  return andThen(presentObject(resource, stored), (current) => {
    if (resource.custom !== undefined && typeof readJsonPath(paths.specReplicasPath, current) !== "number")
      throw internalError(`the spec replicas field ${JSON.stringify(paths.specReplicasPath)} does not exist`);
    return valueReply(200, toScale(current, paths));
  });
}

/** Upstream: `ScaleREST` of `pkg/registry/apps/deployment/storage` and of apiextensions-apiserver `customresource`. */
function writeScale(call: ApiCall, paths: ScalePaths): Awaitable<Reply> {
  const { resource, name } = call.target;
  const isApply = call.verb === "patch" && mediaTypeOf(call.request.headers["content-type"]) === APPLY_PATCH;
  const options = readWriteOptions(call, call.verb === "patch" ? "PatchOptions" : "UpdateOptions", isApply);
  const read = (current: KubernetesObject | undefined): KubernetesObject => {
    if (current === undefined) throw notFound(resource, name);
    const scale = isApply
      ? readConfiguration(call, options, SCALE)
      : requestedScale(call, toScale(current, paths), options);
    checkName(call, withName(scale, isApply || call.verb === "patch" ? name : ""));
    const given = isJsonObject(scale["spec"]) ? scale["spec"]["replicas"] : undefined;
    const before = readJsonPath(paths.specReplicasPath, current);
    const replicas = given ?? (isApply ? before : 0);
    checkReplicas(call.target, paths, replicas);
    const owners = new ReplicaOwners(call, current, paths.specReplicasPath);
    const isChanged = replicas !== before;
    if (isApply) checkOwners(call, owners, options, isChanged);
    const findings = noFindings();
    const object = resource.decode(writeJsonPath(paths.specReplicasPath, current, replicas), findings);
    call.newBytes += findings.size;
    const version = isJsonObject(scale["metadata"]) ? scale["metadata"]["resourceVersion"] : undefined;
    object.metadata.resourceVersion = typeof version === "string" ? version : current.metadata.resourceVersion!;
    if (owners.isTracked && (isApply || isChanged)) {
      const writer = owners.writer(options.fieldManager, isApply ? "Apply" : "Update");
      object.metadata.managedFields = owners.managedFieldsAfter(writer, isChanged)!;
    }
    return object;
  };
  return andThen(writeObject(call, options, { read, isTracked: true }), ({ object }) =>
    andThen(object instanceof StoredObject ? presentObject(resource, object) : object, (shown) =>
      valueReply(200, toScale(shown, paths)),
    ),
  );
}

/** A patch may omit the name. */
function withName(scale: JsonObject, name: string): KubernetesObject {
  const metadata = isJsonObject(scale["metadata"]) ? scale["metadata"] : {};
  return { ...scale, metadata: name === "" ? metadata : { name, ...metadata } };
}

/**
 * @throws ApiError 409 when another manager owns the replica count; 500 when no manager owns it and the resource is
 * custom.
 */
function checkOwners(call: ApiCall, owners: ReplicaOwners, { fieldManager }: WriteOptions, isChanged: boolean): void {
  const { resource } = call.target;
  const field = ".spec.replicas";
  const me = owners.writer(fieldManager, "Apply");
  let others = owners.owners.filter((manager) => !isSameManager(manager, me));
  if (owners.owners.length === 0) {
    // Upstream looks for the owner before the first apply, and for that cannot convert a Scale to a custom resource.
    if (resource.custom !== undefined)
      throw plainError(
        "failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1",
      );
    others = [{ ...BEFORE_APPLY, fields: EMPTY_FIELDS }];
  }
  if (!isChanged || others.length === 0 || call.query.flag("force")) return;
  throw applyConflict(others.map((manager) => ({ manager, paths: [field] })));
}

/** @throws ApiError 422 for a negative count. */
function checkReplicas({ resource, name }: ResourceTarget, paths: ScalePaths, replicas: unknown): void {
  if (typeof replicas !== "number" || replicas >= 0) return;
  const errors = new FieldErrors();
  if (resource.custom === undefined) {
    errors.invalid("spec.replicas", replicas, "must be greater than or equal to 0");
    throw invalid({ group: "autoscaling", kind: "Scale" }, name, errors);
  }
  errors.invalid(paths.specReplicasPath, replicas, "should be a non-negative integer");
  throw invalid(resource, name, errors);
}

/**
 * Returns the sent Scale, or the current Scale with the patch applied.
 *
 * @throws ApiError 400, 413, 415, 422
 */
function requestedScale(call: ApiCall, current: unknown, options: WriteOptions): JsonObject {
  if (call.verb !== "patch") {
    const sent = readObjectBody(call.request, "Scale", call.server.schemas).value;
    checkKind(call, sent);
    return sent;
  }
  const type = mediaTypeOf(call.request.headers["content-type"]);
  const accepted = call.target.resource.custom === undefined ? PATCHES : CUSTOM_PATCHES;
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted);
  const patch = readPatch(call, type, options);
  try {
    const patched = type === JSON_PATCH ? jsonPatch(current, patch as unknown[]) : mergePatch(current, patch);
    if (isJsonObject(patched)) return patched;
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error;
  }
  throw unprocessable();
}

/** @throws ApiError 400 when the body is no Scale. */
function checkKind({ target: { resource } }: ApiCall, sent: JsonObject): void {
  const apiVersion = textOf(sent["apiVersion"]) || SCALE.apiVersion;
  const kind = textOf(sent["kind"]) || SCALE.kind;
  if (apiVersion === SCALE.apiVersion && kind === SCALE.kind) return;
  if (resource.custom !== undefined)
    throw badRequest(
      'no kind is registered for the type v1.Scale in scheme "pkg/apiserver/customresource_handler.go:1246"',
    );
  const version = apiVersion.split("/").at(-1);
  throw badRequest(
    `${kind} in version "${version}" cannot be handled as a Scale: converting (${version}.${kind}) to (autoscaling.Scale): unknown conversion`,
  );
}

function toScale(object: KubernetesObject, paths: ScalePaths): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector =
    paths.labelSelectorPath === undefined ? "" : selectorText(readJsonPath(paths.labelSelectorPath, object));
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid,
      resourceVersion,
      creationTimestamp,
    } as Scale["metadata"],
    spec: { ...replicasAt(paths.specReplicasPath, object, false) },
    status: { ...replicasAt(paths.statusReplicasPath, object, true), ...(selector === "" ? {} : { selector }) },
  };
}

/**
 * Formats the selector: custom resources store text, built-in kinds a selector, and the oldest kinds a map of labels.
 */
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

import { formatTime, mutableCopy } from "@kubewright/api";

import {
  CLEANUP_FINALIZER,
  type Definition,
  definitionCondition,
  withDefinitionCondition,
} from "../../custom-resources/definition.js";
import { checkPreconditions } from "../../registry/deletion.js";
import type { DeleteOptions } from "../../registry/options.js";
import type { DeletionResult } from "../../registry/outcome.js";
import type { ServedResource } from "../../served-resource.js";
import type { StoredObject } from "../../storage/stored-object.js";

/**
 * DELETE of a CustomResourceDefinition marks it as terminating. Its objects are deleted first. Upstream:
 * apiextensions-apiserver `customresourcedefinition/etcd`.
 */
export function deleteDefinition(
  resource: ServedResource,
  stored: StoredObject,
  options: DeleteOptions,
  nowMs: number,
): DeletionResult {
  checkPreconditions(resource, stored, options);
  if (stored.object.metadata.deletionTimestamp) return { gone: false, object: stored };
  const next = mutableCopy(stored.object) as Definition;
  const now = formatTime(nowMs);
  next.metadata.deletionTimestamp = now;
  next.metadata.finalizers = [...new Set([...(next.metadata.finalizers ?? []), CLEANUP_FINALIZER])];
  const message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
  const condition = definitionCondition("Terminating", true, "InstanceDeletionPending", message, now);
  next.status = { ...next.status, conditions: withDefinitionCondition(next.status?.conditions, condition) };
  return { gone: false, object: options.dryRun ? next : resource.storage.write(next) };
}

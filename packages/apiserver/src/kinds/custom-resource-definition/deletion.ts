import { formatTime, mutableCopy } from "@kubewright/api";

import type { ApiCall } from "../../api-call.js";
import {
  CLEANUP_FINALIZER,
  type Definition,
  definitionCondition,
  withDefinitionCondition,
} from "../../custom-resources/definition.js";
import type { DeleteOptions, DeletionResult } from "../../delete-options.js";
import { checkPreconditions } from "../../deletion.js";
import type { StoredObject } from "../../storage/stored-object.js";

/** DELETE of a definition marks it: its objects go first. Upstream: apiextensions-apiserver `customresourcedefinition/etcd`. */
export function deleteDefinition(
  { server, target }: ApiCall,
  stored: StoredObject,
  options: DeleteOptions,
): DeletionResult {
  checkPreconditions(target.resource, stored, options);
  if (stored.object.metadata.deletionTimestamp) return { gone: false, object: stored };
  const next = mutableCopy(stored.object) as Definition;
  const now = formatTime(server.clock.now());
  next.metadata.deletionTimestamp = now;
  next.metadata.finalizers = [...new Set([...(next.metadata.finalizers ?? []), CLEANUP_FINALIZER])];
  const message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
  const condition = definitionCondition("Terminating", true, "InstanceDeletionPending", message, now);
  next.status = { ...next.status, conditions: withDefinitionCondition(next.status?.conditions, condition) };
  return { gone: false, object: options.dryRun ? next : target.resource.storage.write(next) };
}

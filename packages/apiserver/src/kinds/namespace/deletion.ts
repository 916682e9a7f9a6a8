import {
  FOREGROUND_DELETION_FINALIZER,
  type KubernetesObject,
  ORPHAN_FINALIZER,
  formatTime,
  mutableCopy,
} from "@kubewright/api";

import type { ApiCall } from "../../api-call.js";
import { MODIFIED, conflict, forbidden, invalid, notFound } from "../../api-error.js";
import { markOrRemove, setFinalizers } from "../../registry/deletion.js";
import type { DeleteOptions } from "../../registry/options.js";
import type { DeletionResult } from "../../registry/outcome.js";
import { storeUpdate } from "../../registry/update.js";
import { checkName } from "../../registry/write-object.js";
import { type Awaitable, andThen } from "../../awaitable.js";
import { FieldErrors } from "../../field-errors.js";
import type { Reply } from "../../reply.js";
import type { ServedResource } from "../../served-resource.js";
import type { StoredObject } from "../../storage/stored-object.js";
import { readWriteOptions } from "../../write-options.js";
import { decodeRequestObject } from "../../handlers/decode-object.js";
import { outcomeReply } from "../../handlers/object-reply.js";
import { validateFinalizer } from "./finalizer-validation.js";

const PROTECTED: ReadonlySet<string> = new Set(["default", "kube-system", "kube-public"]);

interface NamespaceObject extends KubernetesObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: string };
}

/**
 * DELETE of a namespace only marks it as terminating. Its contents are deleted first. Upstream:
 * `pkg/registry/core/namespace/storage`.
 */
export function deleteNamespace(
  resource: ServedResource,
  stored: StoredObject,
  options: DeleteOptions,
  nowMs: number,
): DeletionResult {
  const namespace = stored.object as NamespaceObject;
  checkNamespacePreconditions(resource, stored, options);
  if (PROTECTED.has(stored.name)) throw forbidden(resource, stored.name, "this namespace may not be deleted");
  if (namespace.metadata.deletionTimestamp) {
    if ((namespace.spec?.finalizers ?? []).length > 0) return { gone: false, object: stored };
    return markOrRemove(resource, stored, options, nowMs);
  }
  const next: NamespaceObject = mutableCopy(namespace);
  next.metadata.deletionTimestamp = formatTime(nowMs);
  next.status = { ...next.status, phase: "Terminating" };
  setFinalizers(next, namespaceFinalizers(next.metadata.finalizers ?? [], options));
  return { gone: false, object: options.dryRun ? next : resource.storage.write(next) };
}

function namespaceFinalizers(
  current: readonly string[],
  { orphanDependents, propagationPolicy }: DeleteOptions,
): string[] {
  const shouldOrphan = orphanDependents ?? propagationPolicy === "Orphan";
  const isForeground = orphanDependents === undefined ? propagationPolicy === "Foreground" : !orphanDependents;
  if (orphanDependents === undefined && propagationPolicy === undefined) return [...current];
  const others = current.filter(
    (finalizer) => finalizer !== ORPHAN_FINALIZER && finalizer !== FOREGROUND_DELETION_FINALIZER,
  );
  if (shouldOrphan) return [...others, ORPHAN_FINALIZER];
  return isForeground ? [...others, FOREGROUND_DELETION_FINALIZER] : others;
}

function checkNamespacePreconditions(
  resource: ServedResource,
  stored: StoredObject,
  { preconditions }: DeleteOptions,
): void {
  const { uid = "", resourceVersion = "" } = stored.object.metadata;
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) {
    throw conflict(
      resource,
      stored.name,
      `Precondition failed: UID in precondition: ${preconditions.uid}, UID in object meta: ${uid}`,
    );
  }
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    const reason = `Precondition failed: ResourceVersion in precondition: ${preconditions.resourceVersion}, ResourceVersion in object meta: ${resourceVersion}`;
    throw conflict(resource, stored.name, reason);
  }
}

/**
 * PUT of `finalize`: updates only `spec.finalizers`. A terminating namespace is removed when its last finalizer is
 * removed.
 */
export function finalizeNamespace(call: ApiCall): Awaitable<Reply> {
  const { resource, name } = call.target;
  const options = readWriteOptions(call, "UpdateOptions");
  const sent = decodeRequestObject(call, options) as NamespaceObject;
  checkName(call, sent);
  const stored = resource.storage.get("", name);
  if (stored === undefined) throw notFound(resource, name);
  const sentVersion = sent.metadata.resourceVersion;
  if (sentVersion && sentVersion !== stored.object.metadata.resourceVersion) throw conflict(resource, name, MODIFIED);
  const errors = new FieldErrors();
  const finalizers = sent.spec?.finalizers ?? [];
  for (const [index, finalizer] of finalizers.entries())
    validateFinalizer(finalizer, `spec.finalizers[${index}]`, errors);
  if (!errors.isEmpty) throw invalid(resource, name, errors);
  const next = mutableCopy(stored.object) as NamespaceObject;
  next.spec = finalizers.length === 0 ? {} : { ...next.spec, finalizers };
  const { admission } = call.server;
  const finalized = andThen(admission.mutate(call, options, next, stored.object), (admitted) =>
    andThen(admission.validate(call, options, admitted, stored.object), () => {
      if (resource.storage.get("", name) !== stored) throw conflict(resource, name, MODIFIED);
      return storeUpdate(call, stored, { object: admitted, next: admitted }, options.dryRun);
    }),
  );
  return outcomeReply(call, finalized);
}

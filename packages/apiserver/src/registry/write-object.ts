import type { KubernetesObject } from "@kubewright/api";

import { MODIFIED, badRequest, conflict } from "../api-error.js";
import type { Awaitable } from "../awaitable.js";
import { trackUpdate } from "../fields/field-tracking.js";
import { presentObject, toStorable } from "../stored-versions.js";
import { admitNew, completeNew, prepareNew, requireFreeName, storeNew } from "./create.js";
import { setRequestNamespace } from "./namespace-lifecycle.js";
import type { WriteOptions } from "./options.js";
import type { WriteOutcome } from "./outcome.js";
import type { PendingWrite, WriteRequest } from "./pending-write.js";
import { completeUpdate, prepareUpdate, storeUpdate, uidConflict } from "./update.js";
import type { Write } from "./write.js";

/** Maximum number of attempts: the stored object may change while a stage waits, and the write is then retried. */
const ATTEMPTS = 5;
const NOTHING: KubernetesObject = { metadata: {} };

/** A step of every write. Returns the object with which the next stage continues; `undefined`: the same object. */
type Stage = (pending: PendingWrite) => Awaitable<KubernetesObject | void>;

/**
 * The stages of create, update, patch and apply, between authorization and the store. A stage that waits returns a
 * promise.
 *
 * @see kubernetes `registry.Store.Create`, `registry.Store.Update`, `rest.BeforeCreate`, `rest.BeforeUpdate`
 */
const STAGES: readonly Stage[] = [
  function locate(pending) {
    const { write } = pending;
    const { resource, namespace, name } = write.target;
    write.newBytes = 0;
    pending.stored = name === "" ? undefined : resource.storage.get(namespace, name);
    return pending.stored === undefined ? undefined : presentObject(resource, pending.stored);
  },
  function read(pending) {
    pending.current = pending.stored === undefined ? undefined : pending.object;
    return pending.request.read(pending.current);
  },
  function checkIdentity({ write, current, object }) {
    if (write.verb !== "create") checkName(write, object);
    setRequestNamespace(write, object);
    const { uid } = object.metadata;
    if (write.verb === "update" && current !== undefined && uid && uid !== current.metadata.uid)
      throw uidConflict(write, uid, current.metadata.uid ?? "");
  },
  function prepare(pending) {
    if (pending.current === undefined) prepareNew(pending);
    else prepareUpdate(pending, pending.current);
  },
  function trackFields({ write, options, request, current, object }) {
    return request.isTracked === true ? undefined : trackUpdate(write, current, object, options);
  },
  function mutate({ write, options, current, object }) {
    if (current === undefined) admitNew(write, object);
    return write.server.admission.mutate(write, options, object, current);
  },
  function complete(pending) {
    if (pending.current === undefined) completeNew(pending);
    else completeUpdate(pending, pending.current);
  },
  function validate({ write, options, current, object }) {
    return write.server.admission.validate(write, options, object, current);
  },
  function convert(pending) {
    const { resource } = pending.write.target;
    pending.complete = pending.object;
    if (pending.current === undefined) {
      requireFreeName(pending);
      pending.hasUnstoredDefaults = resource.strategy.applyReadDefaults?.(pending.object) === true;
    }
    return toStorable(resource, pending.object);
  },
];

/**
 * Stores the requested object: a new one, or the next version of the stored one, which is removed instead when its last
 * finalizer was removed.
 *
 * @throws ApiError 400, 403, 404, 409, 422
 */
export function writeObject(write: Write, options: WriteOptions, request: WriteRequest): Awaitable<WriteOutcome> {
  const pending: PendingWrite = {
    write,
    options,
    request,
    attempt: 1,
    stored: undefined,
    current: undefined,
    object: NOTHING,
    complete: NOTHING,
    nowMs: 0,
    hasFreeName: true,
    hasUnstoredDefaults: false,
  };
  return run(pending, 0);
}

function run(pending: PendingWrite, first: number): Awaitable<WriteOutcome> {
  for (let index = first; index < STAGES.length; index++) {
    const next = STAGES[index]!(pending);
    if (next instanceof Promise) return resume(pending, next, index + 1);
    if (next !== undefined) pending.object = next;
  }
  const { write, options, stored, complete, object } = pending;
  return stored === undefined
    ? storeNew(pending)
    : storeUpdate(write, stored, { object: complete, next: object }, options.dryRun);
}

/** Continues when the stage is done, or from the first stage if the stored object changed meanwhile. */
async function resume(
  pending: PendingWrite,
  waiting: Promise<KubernetesObject | void>,
  first: number,
): Promise<WriteOutcome> {
  const next = await waiting;
  const { stored } = pending;
  const { resource, namespace, name } = pending.write.target;
  if (stored !== undefined && resource.storage.get(namespace, name) !== stored) {
    if (pending.attempt === ATTEMPTS) throw conflict(resource, name, MODIFIED);
    pending.attempt++;
    return run(pending, 0);
  }
  if (next !== undefined) pending.object = next;
  return run(pending, first);
}

/** @throws ApiError 400 when the object's name differs from the path's. */
export function checkName({ target: { name } }: Pick<Write, "target">, { metadata }: KubernetesObject): void {
  if (!metadata.name)
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (metadata.name !== name)
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
}

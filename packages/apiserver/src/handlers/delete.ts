import type { ApiCall } from "../api-call.js";
import { ApiError, badRequest, notFound, success } from "../api-error.js";
import { type Awaitable, andThen } from "../awaitable.js";
import type { JsonObject } from "../json.js";
import { deleteObject } from "../registry/delete.js";
import type { DeleteOptions } from "../registry/options.js";
import type { DeletionResult } from "../registry/outcome.js";
import { warn } from "../registry/write.js";
import { type Reply, valueReply } from "../reply.js";
import { readObjectBody } from "../request-body.js";
import { DecodeError, decode } from "../schema/decode.js";
import type { StoredObject } from "../storage/stored-object.js";
import { readDeleteOptions } from "../write-options.js";
import { objectReply } from "./object-reply.js";
import { listReply } from "./list-reply.js";
import { selectList } from "./read.js";

/** DELETE of one object. Upstream: `handlers.DeleteResource`. */
export function remove(call: ApiCall): Awaitable<Reply> {
  const { resource, namespace, name } = call.target;
  const options = requestOptions(call);
  warnOfDefault(call, options);
  const stored = resource.storage.get(namespace, name);
  if (stored === undefined) throw notFound(resource, name);
  return andThen(deleteObject(call, stored, options), deletionReply, { call, options });
}

function warnOfDefault(call: ApiCall, options: DeleteOptions): void {
  const { warningOnDefaultPropagation } = call.target.resource.strategy;
  if (
    warningOnDefaultPropagation !== undefined &&
    options.propagationPolicy === undefined &&
    options.orphanDependents === undefined
  )
    warn(call, [warningOnDefaultPropagation]);
}

interface Deletion {
  readonly call: ApiCall;
  readonly options: DeleteOptions;
}

function deletionReply(result: DeletionResult, { call, options }: Deletion): Awaitable<Reply> {
  const { resource } = call.target;
  if (result.gone && resource.strategy.deleteReturnsObject !== true) {
    const metadata = ("object" in result.object ? result.object.object : result.object).metadata;
    const details = {
      name: metadata.name ?? "",
      ...(resource.group === "" ? {} : { group: resource.group }),
      kind: resource.resource,
      uid: metadata.uid ?? "",
    };
    return valueReply(200, success(details));
  }
  const accepted = !result.gone && options.orphanDependents === false;
  return objectReply(call, accepted ? 202 : 200, result.object);
}

/** DELETE of a collection: deletes the objects that the list would return, one by one. */
export function removeCollection(call: ApiCall): Awaitable<Reply> {
  const options = requestOptions(call);
  warnOfDefault(call, options);
  return andThen(selectList({ ...call, verb: "list" }), (collection) =>
    andThen(removeEach(call, collection.items, options, 0), () => listReply(call, collection)),
  );
}

function removeEach(
  call: ApiCall,
  items: readonly StoredObject[],
  options: DeleteOptions,
  first: number,
): Awaitable<void> {
  const { storage } = call.target.resource;
  for (let index = first; index < items.length; index++) {
    // The list may be old: delete the current object of that name, if it exists.
    const stored = storage.get(items[index]!.namespace, items[index]!.name);
    const result = stored === undefined ? undefined : deleteObject(call, stored, options);
    if (result instanceof Promise)
      return result.then(undefined, ignoreNotFound).then(() => removeEach(call, items, options, index + 1));
  }
}

/** Ignores an object that was deleted while admission waited. */
function ignoreNotFound(error: unknown): void {
  if (!(error instanceof ApiError) || error.status.code !== 404) throw error;
}

/** Reads the options from the body or, when it is empty, from the query. */
function requestOptions(call: ApiCall): DeleteOptions {
  const { body } = call.request;
  if (body === undefined || (body.type === "bytes" && body.bytes.byteLength === 0))
    return readDeleteOptions(call, undefined);
  const value = readDeleteBody(call);
  const { kind } = value;
  if (kind !== undefined && kind !== "DeleteOptions")
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version "v1" in scheme "pkg/runtime/scheme.go:100"`,
    );
  try {
    return readDeleteOptions(call, decode(call.server.schemas.ofType("DeleteOptions"), value));
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message);
    throw error;
  }
}

/** Reads the body like {@link readObjectBody}, but an unreadable body has a shorter message, without "unrecognized". */
function readDeleteBody(call: ApiCall): JsonObject {
  try {
    return readObjectBody(call.request, "DeleteOptions", call.server.schemas).value;
  } catch (error) {
    const message = error instanceof ApiError ? (error.status.message ?? "") : "";
    const detail = /couldn't get version\/kind; json parse error: .*(?= \()/s.exec(message)?.[0];
    throw detail === undefined ? error : badRequest(detail);
  }
}

import type { KubernetesObject } from "@kubewright/api";

import type { ApiCall } from "../api-call.js";
import { type Awaitable, andThen } from "../awaitable.js";
import type { WriteOutcome } from "../registry/outcome.js";
import { type Reply, valueReply } from "../reply.js";
import { StoredObject } from "../storage/stored-object.js";
import { presentObject } from "../stored-versions.js";
import { transformObject } from "../object-transforms.js";

const NO_HEADERS = {};

/** Answers with the result of a create or an update. */
export function outcomeReply(call: ApiCall, outcome: Awaitable<WriteOutcome>): Awaitable<Reply> {
  return andThen(outcome, replyWith, call);
}

function replyWith({ object, created }: WriteOutcome, call: ApiCall): Awaitable<Reply> {
  return objectReply(call, created ? 201 : 200, object);
}

/** Answers with one object, in the shape the client asked for. */
export function objectReply(call: ApiCall, status: number, object: StoredObject | KubernetesObject): Awaitable<Reply> {
  const { transform, target } = call;
  if (transform === undefined && target.resource.view === undefined && object instanceof StoredObject)
    return { status, headers: NO_HEADERS, body: { type: "stored", stored: object } };
  return andThen(object instanceof StoredObject ? presentObject(target.resource, object) : object, (shown) =>
    valueReply(status, transform === undefined ? shown : transformObject(call, transform, shown)),
  );
}

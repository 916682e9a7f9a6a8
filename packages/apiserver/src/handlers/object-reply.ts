import type { KubernetesObject } from "@kubewright/api";

import type { ApiCall } from "../api-call.js";
import { type Awaitable, andThen } from "../awaitable.js";
import type { WriteOutcome } from "../registry/outcome.js";
import { type Reply, valueReply } from "../reply.js";
import { StoredObject } from "../storage/stored-object.js";
import { transformObject } from "../present.js";

const NO_HEADERS = {};

/** Answers with what a create or an update has made. */
export function outcomeReply(call: ApiCall, outcome: Awaitable<WriteOutcome>): Awaitable<Reply> {
  return andThen(outcome, ({ object, created }) => objectReply(call, created ? 201 : 200, object));
}

/** Answers with one object, in the shape the client asked for. */
export function objectReply(call: ApiCall, status: number, object: StoredObject | KubernetesObject): Reply {
  const { resource } = call.target;
  if (call.transform !== undefined) {
    const shown =
      object instanceof StoredObject
        ? resource.view === undefined
          ? object.object
          : resource.view.fromStored(object.object)
        : object;
    return valueReply(status, transformObject(call, call.transform, shown));
  }
  if (!(object instanceof StoredObject)) return valueReply(status, object);
  if (resource.view !== undefined) return valueReply(status, resource.view.fromStored(object.object));
  return { status, headers: NO_HEADERS, body: { type: "stored", stored: object } };
}

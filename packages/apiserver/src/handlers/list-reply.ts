import type { KubernetesObject } from "@kubewright/api";

import type { ApiCall } from "../api-call.js";
import { shapeOfList } from "../object-transforms.js";
import type { ListBody, ListMetadata, Reply } from "../reply.js";
import type { StoredObject } from "../storage/stored-object.js";
import type { Presenter } from "../stored-versions.js";

/** The objects of a list response. */
export interface Collection {
  readonly items: readonly StoredObject[];
  /** Converts each stored object for the client. */
  readonly presenter: Presenter;
  readonly metadata: ListMetadata;
}

/**
 * Answers with a collection, in the shape the client asked for.
 *
 * @throws ApiError 400, 406
 */
export function listReply(call: ApiCall, collection: Collection): Reply {
  const { items } = collection;
  return { status: 200, headers: {}, body: { type: "list", items, ...formOf(call, collection), ...backlogOf(call) } };
}

function backlogOf({ server: { store } }: ApiCall): Pick<ListBody, "version" | "backlog"> {
  return { version: store.resourceVersion, backlog: store.backlog };
}

function formOf(
  call: ApiCall,
  { presenter, metadata }: Collection,
): Pick<ListBody, "head" | "member" | "toValue" | "toJson"> {
  const { resource } = call.target;
  if (call.transform !== undefined) {
    const { head, member, toElement } = shapeOfList(call, call.transform, metadata);
    return { head, member, toValue: (stored) => toElement(presenter(stored)) };
  }
  const head = { kind: resource.listKind, apiVersion: resource.apiVersion, metadata };
  // Upstream writes lists of custom resources with generic code: each element includes its kind and apiVersion.
  if (resource.custom !== undefined)
    return {
      head,
      member: "items",
      toValue: presenter,
      toJson: resource.view === undefined ? (stored) => stored.json() : undefined,
    };
  if (resource.view === undefined) return { head, member: "items", toValue: listItem, toJson: listItemJson };
  return {
    head,
    member: "items",
    toValue: (stored): Omit<KubernetesObject, "kind" | "apiVersion"> => {
      const { kind: _kind, apiVersion: _apiVersion, ...rest } = presenter(stored);
      return rest;
    },
  };
}

function listItem(stored: StoredObject): unknown {
  return stored.listItem;
}

function listItemJson(stored: StoredObject): StoredObject["listItemJson"] {
  return stored.listItemJson;
}

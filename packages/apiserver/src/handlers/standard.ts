import type { Handler, Handlers } from "../api-call.js";
import { standardVerbs } from "../built-in-resource.js";
import type { Verb } from "../route.js";
import type { Subresource } from "../served-resource.js";
import type { ScalePaths } from "../scale-paths.js";
import type { UpdateStrategy } from "../strategy.js";
import { create, update } from "./create-update.js";
import { remove, removeCollection } from "./delete.js";
import { patch } from "./patch.js";
import { get, list } from "./read.js";
import { scaleHandlers, scaleView } from "./scale.js";
import { watch } from "./watch.js";

/** Handlers of stored objects. */
const standard: Readonly<Record<Verb, Handler>> = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: remove,
  deletecollection: removeCollection,
};

/** Returns the standard handlers of the verbs. */
export function standardHandlers(verbs: readonly Verb[] = standardVerbs): Handlers {
  return Object.fromEntries(verbs.map((verb) => [verb, standard[verb]]));
}

/** Creates a subresource that shows the whole object. The strategy decides which fields a write may change. */
export function objectSubresource(
  name: string,
  { group, version, kind }: { group: string; version: string; kind: string },
  strategy: UpdateStrategy | undefined,
): Subresource {
  return { ...subresource(name, { group, version, kind }, { get, patch, update }), strategy };
}

/** Creates the subresource `scale`. */
export function scaleSubresource(paths: ScalePaths): Subresource {
  const body = { group: "autoscaling", version: "v1", kind: "Scale" };
  return { ...subresource("scale", body, scaleHandlers(paths)), view: scaleView(paths) };
}

/** @param body - Kind of the request body, also shown by discovery. */
export function subresource(
  name: string,
  body: { readonly group: string; readonly version: string; readonly kind: string },
  handlers: Handlers,
): Subresource {
  return { name, ...body, verbs: Object.keys(handlers) as Verb[], handlers };
}

import { type KubernetesObject, apiVersionOf } from "@kubewright/api";

import type { Awaitable } from "./awaitable.js";
import type { ServedResource } from "./served-resource.js";
import type { StoredObject } from "./storage/stored-object.js";

/** Converts a stored object to the version or kind of a resource. */
export type Presenter = (stored: StoredObject) => KubernetesObject;

const asStored: Presenter = ({ object }) => object;

/**
 * Returns a presenter for the objects. Synchronous, unless objects have another version and a webhook must convert
 * them; then converts all of them in one call.
 */
export function presenterFor(resource: ServedResource, stored: readonly StoredObject[]): Awaitable<Presenter> {
  const { view, custom, apiVersion } = resource;
  if (view === undefined) return asStored;
  const asViewed: Presenter = ({ object }) => view.fromStored(object);
  const conversion = custom?.conversion;
  if (conversion === undefined) return asViewed;
  const foreign = stored.filter(({ object }) => object.apiVersion !== apiVersion);
  if (foreign.length === 0) return asViewed;
  const objects = foreign.map(({ object }) => object);
  return conversion.convert(objects, apiVersion).then((converted) => {
    const found = new Map(foreign.map((each, index) => [each, converted[index]!]));
    return (each) => view.fromStored(found.get(each) ?? each.object);
  });
}

/** Returns one object in the version of the resource. */
export function presentObject(resource: ServedResource, stored: StoredObject): Awaitable<KubernetesObject> {
  if (resource.view === undefined) return stored.object;
  const show = presenterFor(resource, [stored]);
  return show instanceof Promise ? show.then((later) => later(stored)) : show(stored);
}

/** Converts an object from the version of the resource to the storage version. */
export function toStorable({ view, custom }: ServedResource, object: KubernetesObject): Awaitable<KubernetesObject> {
  if (view === undefined) return object;
  const apiVersion = apiVersionOf(view.storedAs);
  const conversion = custom?.conversion;
  if (conversion === undefined || object.apiVersion === apiVersion) return view.toStored(object);
  return conversion.convert([object], apiVersion).then(([converted]) => view.toStored(converted!));
}

/**
 * Returns the object to write when a stored object is written again: an object of an older storage version is converted
 * to the current one.
 */
export function toStorageVersion(
  resource: ServedResource,
  stored: StoredObject,
  shown: KubernetesObject,
): Awaitable<KubernetesObject> {
  const { view } = resource;
  return view === undefined || stored.object.apiVersion === apiVersionOf(view.storedAs)
    ? stored.object
    : toStorable(resource, shown);
}

/** Converts an object between two resources that share a storage. */
export function convert(
  object: KubernetesObject,
  from: ServedResource,
  to: ServedResource,
): Awaitable<KubernetesObject> {
  if (from === to) return object;
  const shown = (stored: KubernetesObject): KubernetesObject =>
    to.view === undefined ? stored : to.view.fromStored(stored);
  const conversion = from.custom?.conversion;
  if (conversion === undefined) return shown(from.view === undefined ? object : from.view.toStored(object));
  return conversion.convert([object], to.apiVersion).then(([converted]) => shown(converted!));
}

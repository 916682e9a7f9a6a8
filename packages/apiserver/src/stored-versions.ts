import { type KubernetesObject, apiVersionOf } from "@kubewright/api";

import type { Awaitable } from "./awaitable.js";
import type { ServedResource } from "./served-resource.js";
import type { StoredObject } from "./storage/stored-object.js";

/** A stored object as a resource shows it: stored objects may be of another version, or another API's kind. */
export type Presenter = (stored: StoredObject) => KubernetesObject;

const asStored: Presenter = ({ object }) => object;

/**
 * Shows these objects. At once, unless they are of another version and a webhook has to be asked what they are in this one:
 * then all of them together.
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

/** One object as the resource shows it. */
export function presentObject(resource: ServedResource, stored: StoredObject): Awaitable<KubernetesObject> {
  if (resource.view === undefined) return stored.object;
  const show = presenterFor(resource, [stored]);
  return show instanceof Promise ? show.then((later) => later(stored)) : show(stored);
}

/** An object as the resource shows it, as it is to be stored. */
export function toStorable({ view, custom }: ServedResource, object: KubernetesObject): Awaitable<KubernetesObject> {
  if (view === undefined) return object;
  const apiVersion = apiVersionOf(view.storedAs);
  const conversion = custom?.conversion;
  if (conversion === undefined || object.apiVersion === apiVersion) return view.toStored(object);
  return conversion.convert([object], apiVersion).then(([converted]) => view.toStored(converted!));
}

/** A stored object as it is to be stored when it is written again: what is of an older version takes that of today. */
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

/** An object of one resource as another shows it, that has the same objects. */
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

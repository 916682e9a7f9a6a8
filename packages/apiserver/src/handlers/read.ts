import type { KubernetesObject } from "@kubewright/api";
import { tryParseGoDuration } from "@kubewright/cron";

import type { ApiCall } from "../api-call.js";
import { ApiError, badRequest, expired, notFound, plainError, tooLargeResourceVersion } from "../api-error.js";
import { type Awaitable, andThen } from "../awaitable.js";
import {
  type ListOptions,
  decodeContinue,
  encodeContinue,
  parseResourceVersion,
  readListOptions,
} from "../list-options.js";
import { RequestTimeout } from "../request-timeout.js";
import type { ListMetadata, Reply } from "../reply.js";
import { type Selection, readSelection, combinedMatcher } from "../selectors.js";
import type { ServedResource } from "../served-resource.js";
import { storageKey } from "../storage/resource-storage.js";
import type { StoredObject } from "../storage/stored-object.js";
import type { ObjectMatcher } from "../storage/watcher.js";
import { type Presenter, presenterFor } from "../stored-versions.js";
import { type Collection, listReply } from "./list-reply.js";
import { objectReply } from "./object-reply.js";

/** Maximum time that a read waits for a future resourceVersion. */
const FUTURE_WAIT_MS = 3000;

const CONTINUE_EXPIRED =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

/** GET of one object, or of its status. */
export function get(call: ApiCall): Awaitable<Reply> {
  const { resource, namespace, name } = call.target;
  refuseExport(call);
  const text = call.query.get("resourceVersion");
  if (text !== undefined && text !== "" && text !== "0") {
    const version = parseResourceVersion(text);
    if (typeof version !== "number") throw plainError(version.error);
    if (version > call.server.store.resourceVersion) return waitForVersion(call, version).then(() => read());
  }
  return read();

  function read(): Awaitable<Reply> {
    const stored = resource.storage.get(namespace, name);
    if (stored === undefined) throw notFound(resource, name);
    return objectReply(call, 200, stored);
  }
}

/** GET of a collection. */
export function list(call: ApiCall): Awaitable<Reply> {
  refuseExport(call);
  const options = readListOptions(call);
  const selection = readSelection(call);
  const page = readPage(call, options);
  if (page.version > call.server.store.resourceVersion) {
    return waitForVersion(call, page.version).then(() => pageReply(call, selection, page));
  }
  return pageReply(call, selection, page);
}

/** @throws ApiError 400 */
function refuseExport({ query }: ApiCall): void {
  if (query.flag("export")) throw badRequest("the export parameter, deprecated since v1.14, is no longer supported");
}

/** The requested part and version of a collection. */
interface Page {
  /** 0: any version. Otherwise this version or newer or, with `exact`, exactly this version. */
  readonly version: number;
  readonly exact: boolean;
  readonly limit: number;
  readonly afterKey: string | undefined;
  /** Whether the request has a continue token. */
  readonly continued: boolean;
}

function readPage(call: ApiCall, options: ListOptions): Page {
  const { continueToken, limit, resourceVersion, resourceVersionMatch: match } = options;
  const version = parseResourceVersion(resourceVersion);
  if (typeof version !== "number") throw badRequest(`invalid resource version: ${version.error}`);
  if (continueToken !== "") {
    const token = decodeContinue(continueToken);
    if (version !== 0) throw badRequest("specifying resource version is not allowed when using continue");
    const afterKey = call.target.namespace === "" ? token.startKey : `${call.target.namespace}/${token.startKey}`;
    // The token's key is relative to the request's path: a list in a namespace omits the namespace. As for a first
    // page: `resourceVersion=0` returns everything at once.
    return {
      version: Math.max(0, token.resourceVersion),
      exact: token.resourceVersion > 0,
      limit: resourceVersion === "0" ? 0 : limit,
      afterKey,
      continued: true,
    };
  }
  if (resourceVersion === "0") return { version: 0, exact: false, limit: 0, afterKey: undefined, continued: false };
  const exact = match === "Exact" || (version > 0 && match === "" && limit > 0);
  return { version, exact, limit, afterKey: undefined, continued: false };
}

/** Returns the objects that a list request would return now. */
export function selectList(call: ApiCall): Awaitable<Collection> {
  return selectPage(call, readSelection(call), readPage(call, readListOptions(call)));
}

function selectPage(call: ApiCall, selection: Selection, page: Page): Awaitable<Collection> {
  const { server, target } = call;
  const { resource } = target;
  const namespace = resource.namespaced && target.namespace !== "" ? target.namespace : undefined;
  const version = page.exact ? page.version : server.store.resourceVersion;
  let objects =
    page.exact && version < server.store.resourceVersion
      ? objectsAt(call, version, namespace, page)
      : resource.storage.list(namespace);
  if (selection.name !== undefined) objects = objects.filter(({ name }) => name === selection.name);
  const start = page.afterKey === undefined ? 0 : firstAfter(objects, page.afterKey);
  const rest = start === 0 ? objects : objects.slice(start);
  return andThen(selectItems(resource, rest, selection, page), ({ items, presenter, scanned }) => {
    const last = scanned < rest.length ? rest[scanned - 1] : undefined;
    const next =
      last === undefined ? undefined : encodeContinue(version, relativeKey(storageKey(last), target.namespace));
    const metadata: ListMetadata = {
      resourceVersion: String(version),
      // Upstream writes lists of custom resources with generic code, which omits no fields.
      ...(resource.custom === undefined || call.transform !== undefined ? {} : { continue: "" }),
      ...(next === undefined ? {} : { continue: next }),
      // As upstream: a shard selector alone does not suppress the count, and the count includes objects of other
      // shards.
      ...(next === undefined || selection.matches !== undefined ? {} : { remainingItemCount: rest.length - scanned }),
      ...shardInfo(call, selection),
    };
    return { items, presenter, metadata };
  });
}

/** Upstream's generic lists, Tables and lists of custom resources have no `shardInfo`. */
function shardInfo({ target, transform }: ApiCall, { shard }: Selection): Pick<ListMetadata, "shardInfo"> {
  if (shard === undefined || transform !== undefined || target.resource.custom !== undefined) return {};
  return { shardInfo: { selector: shard.canonical } };
}

function pageReply(call: ApiCall, selection: Selection, page: Page): Awaitable<Reply> {
  return andThen(selectPage(call, selection, page), (collection) => listReply(call, collection));
}

/**
 * Returns the collection at an earlier version.
 *
 * @throws ApiError 410 when that version is no longer stored.
 */
function objectsAt(call: ApiCall, version: number, namespace: string | undefined, page: Page): readonly StoredObject[] {
  const { storage } = call.target.resource;
  if (version >= storage.log.forgottenUpTo) return storage.listAt(version, namespace);
  if (!page.continued) throw expired("The resourceVersion for the provided list is too old.");
  const error = expired(CONTINUE_EXPIRED);
  const relative = relativeKey(page.afterKey ?? "", call.target.namespace);
  throw new ApiError({ ...error.status, metadata: { continue: encodeContinue(-1, relative) } });
}

interface PageItems {
  readonly items: readonly StoredObject[];
  readonly presenter: Presenter;
  /** Number of objects scanned, from the first on. */
  readonly scanned: number;
}

function selectItems(
  resource: ServedResource,
  objects: readonly StoredObject[],
  selection: Selection,
  { limit }: Page,
): Awaitable<PageItems> {
  const matches = combinedMatcher(selection);
  if (matches === undefined) {
    const items = limit === 0 ? objects : objects.slice(0, limit);
    return andThen(presenterFor(resource, items), (presenter) => ({ items, presenter, scanned: items.length }));
  }
  const max = limit === 0 ? objects.length : limit;
  if (resource.custom?.conversion !== undefined) return selectConvertedItems(resource, objects, matches, max);
  return andThen(presenterFor(resource, objects), (presenter) => {
    const items: StoredObject[] = [];
    let scanned = 0;
    for (; scanned < objects.length && items.length < max; scanned++)
      if (matches(presenter(objects[scanned]!))) items.push(objects[scanned]!);
    return { items, presenter, scanned };
  });
}

/**
 * Selects a page when the objects must be converted before matching. Converts as many objects at a time as a page has.
 */
async function selectConvertedItems(
  resource: ServedResource,
  objects: readonly StoredObject[],
  matches: ObjectMatcher,
  max: number,
): Promise<PageItems> {
  const found = new Map<StoredObject, KubernetesObject>();
  let scanned = 0;
  while (scanned < objects.length && found.size < max) {
    const batch = objects.slice(scanned, scanned + max);
    const presenter = await presenterFor(resource, batch);
    for (const stored of batch) {
      if (found.size === max) break;
      scanned++;
      const object = presenter(stored);
      if (matches(object)) found.set(stored, object);
    }
  }
  return { items: [...found.keys()], presenter: (stored) => found.get(stored)!, scanned };
}

function relativeKey(key: string, namespace: string): string {
  return namespace !== "" && key.startsWith(`${namespace}/`) ? key.slice(namespace.length + 1) : key;
}

function firstAfter(objects: readonly StoredObject[], key: string): number {
  let low = 0;
  let high = objects.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (storageKey(objects[middle]!) > key) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Waits for the version.
 *
 * @throws ApiError 504 when the version is not written in time.
 */
async function waitForVersion(call: ApiCall, version: number): Promise<void> {
  const { clock, store } = call.server;
  const timeoutMs =
    Number(tryParseGoDuration(call.query.get("timeout") ?? "") ?? 0) / 1_000_000 || Number.POSITIVE_INFINITY;
  const deadlineMs = clock.monotonic() + Math.min(FUTURE_WAIT_MS, timeoutMs);
  await new Promise<void>((resolve) => {
    const done = (): void => {
      timer.cancel();
      stop();
      resolve();
    };
    const timer = clock.setTimer(Math.max(0, deadlineMs - clock.monotonic()), done);
    const stop = store.onWrite(() => {
      if (store.resourceVersion >= version) done();
    });
  });
  if (store.resourceVersion < version && timeoutMs < FUTURE_WAIT_MS) throw new RequestTimeout();
  if (store.resourceVersion < version) throw tooLargeResourceVersion(version, store.resourceVersion);
}

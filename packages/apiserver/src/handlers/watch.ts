import type { KubernetesObject } from "@kubewright/api";
import type { Timer } from "@kubewright/clock";

import type { ApiCall } from "../api-call.js";
import { expired, plainError } from "../api-error.js";
import { type ListOptions, parseResourceVersion, readListOptions } from "../list-options.js";
import { includeObject, transformEvent } from "../object-transforms.js";
import type { EventStream, Reply, WatchEventValue } from "../reply.js";
import { type Selection, readSelection } from "../selectors.js";
import type { ServedResource } from "../served-resource.js";
import type { Interest } from "../storage/listener-index.js";
import type { JsonText } from "../storage/stored-object.js";
import { type Frame, type ObjectMatcher, Watcher } from "../storage/watcher.js";
import type { Presenter } from "../stored-versions.js";
import { ConvertedFrames, type FrameSource } from "./converted-frames.js";

const MIN_TIMEOUT_MS = 30 * 60_000;
/** Events have no watch cache. Upstream: `pkg/kubeapiserver/default_storage_factory_builder.go`. */
const EVENT_GROUPS: ReadonlySet<string> = new Set(["", "events.k8s.io"]);

/** Opens a watch. Reports every request error before the watch opens; later errors are events. */
export function watch(call: ApiCall): Reply {
  const { bookmarks } = call.server;
  const options = readListOptions(call);
  const selection = readSelection(call);
  if (call.transform?.as === "Table") includeObject(call);
  const { server, target } = call;
  const { resource } = target;
  const { storage } = resource;
  const namespace = resource.namespaced && target.namespace !== "" ? target.namespace : undefined;
  const version = parseResourceVersion(options.resourceVersion);
  if (typeof version !== "number") throw plainError(version.error);

  const converts = resource.custom?.conversion !== undefined;
  const named: ObjectMatcher | undefined =
    target.name === "" ? undefined : ({ metadata }) => metadata.name === target.name;
  const shard = openShardFilter(call, selection);
  const stored = allOf(shard?.matches, named);
  let timer: Timer | undefined;
  const watcher = new Watcher({
    backlog: server.store.backlog,
    namespace,
    interest: interestOf(call, selection, namespace),
    userAgent: call.userAgent,
    matches: converts ? stored : storedMatcher(selection.matches, target.resource.view, stored),
    includePrevious: converts && selection.matches !== undefined,
    onClose: () => {
      timer?.cancel();
      shard?.end();
      storage.unfollow(watcher);
      bookmarks.remove(watcher);
    },
  });
  const initialEvents = options.sendInitialEvents ?? (version === 0 && options.resourceVersionMatch === "");
  if (initialEvents) {
    watcher.start(storage.list(namespace), server.store.resourceVersion);
    if (options.allowWatchBookmarks) watcher.bookmark(Math.max(version, server.store.resourceVersion), true);
  } else if (version === 0) {
    watcher.startAfter(server.store.resourceVersion);
  } else if (version < storage.log.forgottenUpTo) {
    watcher.fail(expired(`too old resource version: ${version} (${storage.log.forgottenUpTo})`).status);
  } else {
    watcher.startAfter(version);
    storage.log.forEachAfter(version, (change) => watcher.onChange(change));
  }
  if (!watcher.closed) {
    storage.follow(watcher);
    bookmarks.add(watcher, options.allowWatchBookmarks);
    timer = server.clock.setTimer(timeoutMs(call, options), () => bookmarks.closeAtTimeout(watcher), {
      background: true,
    });
  }
  const frames = converts
    ? new ConvertedFrames(watcher, (objects) => server.watchConversions.of(resource, objects), selection.matches)
    : watcher;
  return { status: 200, headers: {}, body: { type: "stream", stream: new WatchStream(call, frames) } };
}

/** Returns a matcher for stored objects: both the selection and the other matcher must match. */
function storedMatcher(
  matches: ObjectMatcher | undefined,
  view: ServedResource["view"],
  stored: ObjectMatcher | undefined,
): ObjectMatcher | undefined {
  const selected: ObjectMatcher | undefined =
    matches === undefined || view === undefined
      ? matches
      : (object) => matches(view.fromStored(object as KubernetesObject));
  return allOf(stored, selected);
}

function allOf(first: ObjectMatcher | undefined, second: ObjectMatcher | undefined): ObjectMatcher | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return (object) => first(object) && second(object);
}

/**
 * Returns the shard filter of a watch, and counts the watch until its end. As upstream, a watch without the watch cache
 * is filtered by its shard only if it also has a label or field selector.
 */
function openShardFilter(
  { server, target }: ApiCall,
  { matches, shard }: Selection,
): { readonly matches: ObjectMatcher; readonly end: () => void } | undefined {
  const { group, resource } = target.resource;
  const isCached = server.watchCache && !(resource === "events" && EVENT_GROUPS.has(group));
  if (shard === undefined || (!isCached && matches === undefined)) return undefined;
  const { shardMetrics } = server;
  shardMetrics?.watchOpened({ group, resource });
  return {
    matches: (object) => {
      const isInShard = shard.matches(object);
      if (!isInShard) shardMetrics?.eventFiltered({ group, resource });
      return isInShard;
    },
    end: () => shardMetrics?.watchEnded({ group, resource }),
  };
}

/** Returns the narrowest property that all objects of the watch have in common. */
function interestOf(
  { target }: ApiCall,
  { name, label }: Selection,
  namespace: string | undefined,
): Interest | undefined {
  const wanted = target.name === "" ? name : target.name;
  if (wanted !== undefined) return { by: "name", value: wanted };
  // Another API's view of an object may have other labels than the stored object.
  if (label !== undefined && target.resource.view === undefined) return { by: "label", ...label };
  return namespace === undefined ? undefined : { by: "namespace", value: namespace };
}

/**
 * Returns the requested timeout, or a random time between 30 and 60 minutes, so that clients do not reconnect
 * simultaneously.
 */
function timeoutMs({ server }: ApiCall, { timeoutSeconds }: ListOptions): number {
  return timeoutSeconds > 0
    ? timeoutSeconds * 1000
    : MIN_TIMEOUT_MS + Math.floor(server.random.next() * MIN_TIMEOUT_MS);
}

class WatchStream implements EventStream {
  readonly #call: ApiCall;
  readonly #frames: FrameSource;
  /** Whether the client receives the JSON of the stored objects. */
  readonly #isShared: boolean;
  readonly #show: Presenter;
  #first = true;

  constructor(call: ApiCall, frames: FrameSource) {
    const { transform, target } = call;
    const { view } = target.resource;
    this.#call = call;
    this.#frames = frames;
    const isShown = view === undefined || frames instanceof ConvertedFrames;
    this.#isShared = transform === undefined && isShown;
    this.#show = isShown ? ({ object }) => object : ({ object }) => view.fromStored(object);
  }

  get closed(): boolean {
    return this.#frames.closed;
  }

  poll(): Frame | undefined {
    return this.#frames.poll();
  }

  ready(): Promise<void> {
    return this.#frames.ready();
  }

  abandon(): void {
    this.#frames.abandon();
  }

  toEvent(frame: Frame): WatchEventValue {
    if (frame.type === "ERROR") return { type: "ERROR", object: frame.status };
    const { transform } = this.#call;
    const object = frame.type === "BOOKMARK" ? this.#bookmarkObject(frame) : this.#show(frame.stored);
    if (transform === undefined) return { type: frame.type, object };
    const first = this.#first;
    this.#first = false;
    return {
      type: frame.type,
      object: transformEvent(this.#call, transform, object, first, frame.type === "BOOKMARK" && frame.initialEventsEnd),
    };
  }

  toJson(frame: Frame): JsonText {
    if (frame.type === "ERROR" || frame.type === "BOOKMARK" || !this.#isShared)
      return `${JSON.stringify(this.toEvent(frame))}\n`;
    return frame.stored.json(`{"type":"${frame.type}","object":`, "}\n");
  }

  #bookmarkObject({ resourceVersion, initialEventsEnd }: Frame & { type: "BOOKMARK" }): KubernetesObject {
    const { kind, apiVersion } = this.#call.target.resource;
    const annotations = initialEventsEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
    return { kind, apiVersion, metadata: { resourceVersion: String(resourceVersion), ...annotations } };
  }
}

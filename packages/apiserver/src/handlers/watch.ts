import type { KubernetesObject } from "@kubewright/api";
import type { Timer } from "@kubewright/clock";

import type { ApiCall } from "../api-call.js";
import { expired, plainError } from "../api-error.js";
import { type ListOptions, parseResourceVersion, readListOptions } from "../list-options.js";
import { includeObject, transformEvent } from "../present.js";
import type { EventStream, Reply, WatchEventValue } from "../reply.js";
import { type Selection, readSelection } from "../selectors.js";
import { present } from "../served-resource.js";
import type { Interest } from "../storage/listener-index.js";
import type { JsonText } from "../storage/stored-object.js";
import { type Frame, Watcher } from "../storage/watcher.js";

const MIN_TIMEOUT_MS = 30 * 60_000;

/** Opens a watch. Everything that can be refused is refused before; afterwards errors are events. */
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

  let timer: Timer | undefined;
  const watcher = new Watcher({
    backlog: server.store.backlog,
    namespace,
    interest: interestOf(call, selection, namespace),
    matches:
      target.name === ""
        ? selection.matches
        : (object) => object.metadata.name === target.name && selection.matches?.(object) !== false,
    onClose: () => {
      timer?.cancel();
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
  return { status: 200, headers: {}, body: { type: "stream", stream: new WatchStream(call, watcher) } };
}

/** The narrowest thing that everything the watch shows has in common. */
function interestOf(
  { target }: ApiCall,
  { name, label }: Selection,
  namespace: string | undefined,
): Interest | undefined {
  const wanted = target.name === "" ? name : target.name;
  if (wanted !== undefined) return { by: "name", value: wanted };
  // Another API's view of an object may show other labels than are stored.
  if (label !== undefined && target.resource.view === undefined) return { by: "label", ...label };
  return namespace === undefined ? undefined : { by: "namespace", value: namespace };
}

/** As asked for, or some time between half an hour and an hour, so that not all clients come back at once. */
function timeoutMs({ server }: ApiCall, { timeoutSeconds }: ListOptions): number {
  return timeoutSeconds > 0
    ? timeoutSeconds * 1000
    : MIN_TIMEOUT_MS + Math.floor(server.random.next() * MIN_TIMEOUT_MS);
}

class WatchStream implements EventStream {
  readonly #call: ApiCall;
  readonly #watcher: Watcher;
  #first = true;

  constructor(call: ApiCall, watcher: Watcher) {
    this.#call = call;
    this.#watcher = watcher;
  }

  get closed(): boolean {
    return this.#watcher.closed;
  }

  poll(): Frame | undefined {
    return this.#watcher.poll();
  }

  ready(): Promise<void> {
    return this.#watcher.ready();
  }

  abandon(): void {
    this.#watcher.abandon();
  }

  toEvent(frame: Frame): WatchEventValue {
    if (frame.type === "ERROR") return { type: "ERROR", object: frame.status };
    const { transform, target } = this.#call;
    const object = frame.type === "BOOKMARK" ? this.#bookmarkObject(frame) : present(target.resource, frame.stored);
    if (transform === undefined) return { type: frame.type, object };
    const first = this.#first;
    this.#first = false;
    return {
      type: frame.type,
      object: transformEvent(this.#call, transform, object, first, frame.type === "BOOKMARK" && frame.initialEventsEnd),
    };
  }

  toJson(frame: Frame): JsonText {
    const { transform, target } = this.#call;
    if (
      frame.type === "ERROR" ||
      frame.type === "BOOKMARK" ||
      transform !== undefined ||
      target.resource.view !== undefined
    )
      return `${JSON.stringify(this.toEvent(frame))}\n`;
    return frame.stored.json(`{"type":"${frame.type}","object":`, "}\n");
  }

  #bookmarkObject({ resourceVersion, initialEventsEnd }: Frame & { type: "BOOKMARK" }): KubernetesObject {
    const { kind, apiVersion } = this.#call.target.resource;
    const annotations = initialEventsEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
    return { kind, apiVersion, metadata: { resourceVersion: String(resourceVersion), ...annotations } };
  }
}

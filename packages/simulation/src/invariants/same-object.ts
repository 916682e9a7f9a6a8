import type { Invariant, InvariantChecks } from "../invariant.js";
import type { Stored } from "../world.js";
import { isFromController, incarnationKeyOf, nameOf, uidOf } from "./stored-objects.js";

export const sameObject: Invariant = {
  name: "S19 same object",
  sentence:
    "A controller changes or deletes only the object that it has observed under " +
    "that name, never another object that has taken the name since.",
  watch(_world, violated): InvariantChecks {
    /** UIDs that each incarnation of a component has received or read, by resource and name. */
    const seen = new Map<string, Set<string>>();
    /**
     * Resources whose cache events are reported, by incarnation. For others, such as metadata-only caches, they are
     * not.
     */
    const watched = new Set<string>();
    const stored = new Map<string, string>();
    const nameIn = (resource: string, { metadata }: Stored): string =>
      `${resource} ${metadata.namespace ?? ""}/${metadata.name}`;
    const see = (incarnationKey: string, name: string, uid: string): void => {
      const key = `${incarnationKey} ${name}`;
      const uids = seen.get(key);
      if (uids === undefined) seen.set(key, new Set([uid]));
      else uids.add(uid);
    };
    return {
      onCacheEvent(event) {
        const { object, previous } = event;
        // The previous object is known already.
        if (!isFromController(event) || (previous !== undefined && uidOf(previous) === uidOf(object))) return;
        watched.add(`${incarnationKeyOf(event)} ${event.resource}`);
        see(incarnationKeyOf(event), nameIn(event.resource, object), uidOf(object));
      },
      onAnswer(request) {
        if (!isFromController(request) || request.code !== 200 || request.name === "") return;
        if (request.verb !== "get" && request.verb !== "update" && request.verb !== "patch") return;
        const name = `${request.resource} ${request.namespace}/${request.name}`;
        const uid = stored.get(name);
        if (uid !== undefined) see(incarnationKeyOf(request), name, uid);
      },
      onChange({ resource, type, object, request }) {
        const name = nameIn(resource, object);
        const uid = uidOf(object);
        if (type === "ADDED") {
          stored.set(name, uid);
          if (request !== undefined && isFromController(request)) see(incarnationKeyOf(request), name, uid);
          return;
        }
        if (type === "DELETED" && stored.get(name) === uid) stored.delete(name);
        if (request === undefined || !isFromController(request)) return;
        // A component that has never observed the name acts on the name alone.
        const uids = seen.get(`${incarnationKeyOf(request)} ${name}`);
        if (uids === undefined || uids.has(uid) || !watched.has(`${incarnationKeyOf(request)} ${resource}`)) return;
        violated(
          nameOf(object, resource),
          `is ${type === "DELETED" || request.verb === "delete" ? "deleted" : "changed"} by ${request.component}, which has seen only another object of that name`,
        );
      },
    };
  },
};

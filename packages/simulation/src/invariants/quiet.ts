import { getControllerOf } from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { ObservedRequest, Stored } from "../world.js";
import { clockMayBeWrong } from "./plan-settings.js";
import { JOBS, isFromController, nameOf } from "./stored-objects.js";

const AT_ONE_INSTANT = 20;
const IN_A_MINUTE = 200;
const MINUTE_MS = 60_000;

/** Counts events at the current instant and within a minute. */
class Frequency {
  #instantMs = -Infinity;
  #atInstant = 0;
  #minuteMs = -Infinity;
  #inMinute = 0;

  /** Counts an event; returns a text when the count first exceeds a limit. */
  add(nowMs: number): string | undefined {
    if (nowMs !== this.#instantMs) {
      this.#instantMs = nowMs;
      this.#atInstant = 0;
    }
    if (nowMs - this.#minuteMs >= MINUTE_MS) {
      this.#minuteMs = nowMs;
      this.#inMinute = 0;
    }
    this.#atInstant++;
    this.#inMinute++;
    if (this.#atInstant === AT_ONE_INSTANT + 1) return `${this.#atInstant} times at one instant`;
    if (this.#inMinute === IN_A_MINUTE + 1) return `${this.#inMinute} times in a minute`;
    return undefined;
  }
}

export const noHotLoop: Invariant = {
  name: "L7 no hot loop",
  sentence:
    "No controller syncs or writes an object more than 20 times at one instant or 200 times in a minute " +
    "without a write that changes something, or an event of the object or of one that it owns.",
  watch(_world, violated): InvariantChecks {
    /**
     * Counts of a component's actions on an object since the object's last event: by component, then by process,
     * namespace and name.
     */
    const busy = new Map<string, Map<string, Map<string, Frequency>>>();
    const count = (component: string, subject: string, what: string, nowMs: number): string | undefined => {
      let objects = busy.get(component);
      if (objects === undefined) busy.set(component, (objects = new Map()));
      let frequencies = objects.get(subject);
      if (frequencies === undefined) objects.set(subject, (frequencies = new Map()));
      let frequency = frequencies.get(what);
      if (frequency === undefined) frequencies.set(what, (frequency = new Frequency()));
      return frequency.add(nowMs);
    };
    return {
      onDecision({ controller, decision, process, atMs }) {
        // Other controllers report actions, not every look at an object.
        if (!("key" in decision)) return;
        const often = count(controller, `${process} ${decision.key}`, LOOK, atMs);
        if (often !== undefined) violated(decision.key, `${controller} looks at it ${often}, and changes nothing`);
      },
      onAnswer(request) {
        if (!isFromController(request) || !isWrite(request.verb)) return;
        const { component, process, verb, resource, namespace } = request;
        const created = createdOf(request);
        const name = request.name || created?.metadata?.name;
        if (!name || resource === "events" || resource.startsWith("events.")) return;
        // An object that is created for an owner results from the owner's events.
        const subject = (created && getControllerOf(created)?.name) ?? name;
        const often = count(component, `${process} ${namespace}/${subject}`, `${verb} ${resource}`, request.atMs);
        if (often !== undefined)
          violated(`${resource} ${namespace}/${name}`, `${component} sends ${verb} ${often}, and changes nothing`);
      },
      // Each event is a new reason to look.
      onCacheEvent({ component, process, object, previous }) {
        const objects = busy.get(component);
        if (objects === undefined || objects.size === 0) return;
        for (const key of concernedKeys(object)) objects.delete(`${process} ${key}`);
        // The former owner has a reason to look too.
        const former = previous === undefined ? undefined : getControllerOf(previous);
        if (former !== undefined) objects.delete(`${process} ${object.metadata.namespace ?? ""}/${former.name}`);
      },
      onChange({ resource, object, request }) {
        if (request === undefined || !isFromController(request)) return;
        const { component, process, verb } = request;
        const objects = busy.get(component);
        for (const key of concernedKeys(object)) {
          const frequencies = objects?.get(`${process} ${key}`);
          frequencies?.delete(`${verb} ${resource}`);
          frequencies?.delete(LOOK);
        }
      },
    };
  },
};

const LOOK = "look";

/** Returns the key of an object, and that of its controller. */
function concernedKeys(object: Stored): string[] {
  const { namespace = "", name } = object.metadata;
  const owner = getControllerOf(object);
  return [name, ...(owner === undefined ? [] : [owner.name])].map((each) => `${namespace}/${each}`);
}

function isWrite(verb: string): boolean {
  return verb === "create" || verb === "update" || verb === "patch" || verb === "delete";
}

function createdOf({ verb, body }: ObservedRequest): Stored | undefined {
  const created = verb === "create" ? (body as Partial<Stored> | undefined) : undefined;
  return created?.metadata === undefined ? undefined : (created as Stored);
}

const SETTLES_MS = 300_000;
const HOUR_MS = 3_600_000;
/** The status of a CronJob that runs every minute is written twice for each of up to 61 slots. */
const MAX_CHANGES = 130;

export const clusterQuiesces: Invariant = {
  name: "G1 the cluster quiesces",
  sentence: "From 5 min after the last fault, no controller changes one object more than 130 times an hour.",
  watch(world, violated): InvariantChecks {
    const changes = new Map<string, { hour: number; count: number }>();
    return {
      onChange({ resource, object, request, atMs }) {
        if (atMs < world.healedMs + SETTLES_MS || request === undefined || !isFromController(request)) return;
        if (resource.startsWith("leases") || resource.startsWith("events")) return;
        // Objects that the API server updates as an effect of the write, such as the use of a quota, quiesce with it.
        if (resource !== request.resource) return;
        // To a clock that is ahead of the nodes', every back-off is over.
        if (resource === JOBS && clockMayBeWrong(world)) return;
        const key = `${request.component} ${object.metadata.uid}`;
        const hour = Math.floor((atMs - world.healedMs) / HOUR_MS);
        let changed = changes.get(key);
        if (changed === undefined || changed.hour !== hour) changes.set(key, (changed = { hour, count: 0 }));
        changed.count++;
        if (changed.count !== MAX_CHANGES + 1) return;
        violated(nameOf(object, resource), `${request.component} has changed it ${changed.count} times in an hour`);
      },
    };
  },
};

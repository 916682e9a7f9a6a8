import { FOREGROUND_DELETION_FINALIZER, type Job, finishedCondition, parseTime } from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { ObservedRequest, Stored, StoredChange } from "../world.js";
import { ControllerClock } from "./controller-clock.js";
import { hasFinalizer } from "./ownership-graph.js";
import { clockMayBeWrong } from "./plan-settings.js";
import { JOBS, TTL_CONTROLLER, isBeingDeleted, incarnationKeyOf, nameOf, uidOf } from "./stored-objects.js";

/** Times in the API have a resolution of one second: exception X8. */
const ROUNDING_MS = 1000;
/** Maximum time for which an expired Job may remain. */
const ACTS_MS = 120_000;

/** Upstream: pkg/controller/ttlafterfinished/ttlafterfinished_controller.go. */
export const ttlReason: Invariant = {
  name: "S16 TTL reason",
  sentence:
    "The TTL controller deletes only finished Jobs whose ttlSecondsAfterFinished has " +
    "passed, as of its last read of the Job, and with foreground propagation.",
  watch(world, violated): InvariantChecks {
    const clock = new ControllerClock(world);
    /** Former TTLs of each Job and when they changed, by UID. */
    const edits = new Map<string, { readonly atMs: number; readonly ttl: number }[]>();
    /** When each incarnation successfully read a Job. */
    const looks = new Map<string, number[]>();
    const lookAt = (request: ObservedRequest, namespace: string, name: string): string =>
      `${incarnationKeyOf(request)} ${namespace}/${name}`;
    return {
      onScenarioEvent: (scenarioEvent) => clock.onScenarioEvent(scenarioEvent),
      onAnswer(request) {
        const { component, verb, resource, namespace, name, sentMs, code } = request;
        if (component === TTL_CONTROLLER && verb === "get" && resource === JOBS && code === 200)
          listIn(looks, lookAt(request, namespace, name)).push(sentMs);
      },
      onChange(change) {
        if (change.resource !== JOBS) return;
        const { object, previous, request, atMs } = change;
        const uid = uidOf(object);
        const ttlBefore = ttlOf(previous);
        if (ttlBefore !== undefined && ttlBefore !== ttlOf(object)) listIn(edits, uid).push({ atMs, ttl: ttlBefore });
        if (request?.component !== TTL_CONTROLLER || !isDeletion(change)) return;
        // An edit between the last read and the deletion has no effect: exception X10.
        const { sentMs } = request;
        const asked = looks.get(lookAt(request, object.metadata.namespace ?? "", object.metadata.name ?? ""));
        const lookedMs = asked?.findLast((askedMs) => askedMs <= sentMs) ?? sentMs;
        const recent = (edits.get(uid) ?? []).filter((edit) => edit.atMs >= lookedMs).map(({ ttl }) => ttl);
        const wrong =
          deletionProblem(previous ?? object, recent, clock.latestSince(lookedMs)) ??
          (hasFinalizer(object, FOREGROUND_DELETION_FINALIZER) ? undefined : "and its pods are not to go first");
        if (wrong !== undefined) violated(nameOf(object, "Job"), `is deleted by ${TTL_CONTROLLER}, ${wrong}`);
      },
    };
  },
};

function listIn<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

function isDeletion({ type, object, previous }: StoredChange): boolean {
  return type === "DELETED" || (isBeingDeleted(object) && previous !== undefined && !isBeingDeleted(previous));
}

function ttlOf(job: Stored<Job> | undefined): number | undefined {
  return job?.spec?.ttlSecondsAfterFinished;
}

/** Returns when a Job expires; `undefined` when it never does. */
function expiryMs(job: Stored<Job>, ttl = ttlOf(job)): number | undefined {
  const finishedMs = parseTime(finishedCondition(job)?.lastTransitionTime);
  return finishedMs === undefined || ttl == null ? undefined : finishedMs + ttl * 1000;
}

/** @param recent - TTLs that it had until recently. */
function deletionProblem(job: Stored<Job>, recent: readonly number[], nowMs: number): string | undefined {
  if (finishedCondition(job) === undefined) return "and has not finished";
  const expiries = [expiryMs(job), ...recent.map((ttl) => expiryMs(job, ttl))];
  const expiresMs = Math.min(...expiries.map((expiry) => expiry ?? Infinity));
  if (expiresMs === Infinity) return "and has no ttlSecondsAfterFinished";
  return nowMs >= expiresMs - ROUNDING_MS ? undefined : `${(expiresMs - nowMs) / 1000} s before its time is over`;
}

export const ttlActs: Invariant = {
  name: "L4 TTL acts",
  sentence: "120 s after the last fault, no Job remains whose ttlSecondsAfterFinished passed 120 s ago.",
  watch(world, violated): InvariantChecks {
    return {
      atRest() {
        if (clockMayBeWrong(world)) return;
        const sinceMs = world.nowMs - ACTS_MS;
        if (world.healedMs > sinceMs) return;
        for (const job of world.list<Job>(JOBS)) {
          const expiresMs = isBeingDeleted(job) ? undefined : expiryMs(job);
          if (expiresMs !== undefined && expiresMs < sinceMs)
            violated(nameOf(job, "Job"), `is left ${(world.nowMs - expiresMs) / 1000} s after its time was over`);
        }
      },
    };
  },
};

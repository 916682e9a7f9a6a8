import type { Invariant, InvariantChecks } from "../invariant.js";
import type { ObservedRequest } from "../world.js";
import { isTracked } from "./job-state.js";
import {
  GARBAGE_COLLECTOR,
  JOB_CONTROLLER,
  PODS,
  isBeingDeleted,
  isFromController,
  incarnationKeyOf,
  nameOf,
  ownerOfKind,
  uidOf,
} from "./stored-objects.js";

/** Upstream: pkg/controller/controller_ref_manager.go RecheckDeletionTimestamp. */
export const noLateAdoption: Invariant = {
  name: "S20 no late adoption",
  sentence:
    "A controller adopts an object only for an owner that is neither gone nor being deleted, unless it read " +
    "the owner from the API server before the deletion began. Exception: the garbage collector names the " +
    "reference when it unblocks an owner, and so restores a reference that was removed meanwhile.",
  watch(_world, violated): InvariantChecks {
    /** When an owner was deleted or its deletion began, by UID. */
    const goingMs = new Map<string, number>();
    /** When each incarnation of a controller last read an owner, by incarnation and UID. */
    const readMs = new Map<string, number>();
    const uids = new Map<string, string>();
    const readBy = (request: ObservedRequest, uid: string): string => `${incarnationKeyOf(request)} ${uid}`;
    return {
      onAnswer(request) {
        if (request.verb !== "get" || request.code !== 200 || !isFromController(request)) return;
        const uid = uids.get(`${request.resource} ${request.namespace}/${request.name}`);
        if (uid !== undefined) readMs.set(readBy(request, uid), request.sentMs);
      },
      onChange({ resource, type, object, previous, request, atMs }) {
        const uid = uidOf(object);
        if (type === "ADDED") uids.set(`${resource} ${object.metadata.namespace ?? ""}/${object.metadata.name}`, uid);
        if ((type === "DELETED" || isBeingDeleted(object)) && !goingMs.has(uid)) goingMs.set(uid, atMs);
        if (type !== "MODIFIED" || request === undefined || !isFromController(request)) return;
        if (request.component === GARBAGE_COLLECTOR) return;
        const before = new Set((previous?.metadata.ownerReferences ?? []).map((reference) => reference.uid));
        for (const { uid: owner, kind, name } of object.metadata.ownerReferences ?? []) {
          const sinceMs = goingMs.get(owner);
          if (before.has(owner) || sinceMs === undefined) continue;
          if ((readMs.get(readBy(request, owner)) ?? -Infinity) <= sinceMs && readMs.has(readBy(request, owner)))
            continue;
          violated(
            nameOf(object, resource),
            `is taken by ${request.component} for ${kind} ${name}, which began to go ${(atMs - sinceMs) / 1000} s before`,
          );
        }
      },
    };
  },
};

/** Upstream: pkg/controller/controller_ref_manager.go AdoptPod, ReleasePod, with the finalizers that job_controller.go names. */
export const adoptedPodsAreTracked: Invariant = {
  name: "S28 adopted pods are tracked",
  sentence:
    "A pod that the Job controller adopts has the tracking finalizer from then on; a pod that it releases no longer has it.",
  watch(_world, violated): InvariantChecks {
    return {
      onChange({ resource, type, object, previous, request }) {
        if (resource !== PODS || type !== "MODIFIED" || request?.component !== JOB_CONTROLLER) return;
        const owner = ownerOfKind(object, "Job");
        const before = ownerOfKind(previous!, "Job");
        if (owner?.uid === before?.uid) return;
        if (owner !== undefined && !isTracked(object))
          violated(nameOf(object, "Pod"), `is adopted for Job ${owner.name}, and has no tracking finalizer`);
        else if (owner === undefined && isTracked(object))
          violated(nameOf(object, "Pod"), `is released from Job ${before?.name}, and keeps the tracking finalizer`);
      },
    };
  },
};

import type { DeepReadonly, Pod } from "@kubewright/api";
import type { JobDecision } from "@kubewright/job";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { AnsweredRequest, ObservedRequest } from "../world.js";
import { jobRecordsOf } from "./job-records.js";
import {
  type StoredJob,
  type StoredJobSpec,
  type StoredPod,
  indexOf,
  isIndexed,
  isReady,
  replacesOnlyFailed,
  wantedPods,
} from "./job-state.js";
import { JOBS, JOB_CONTROLLER, PODS, incarnationKeyOf, nameOf, uidOf } from "./stored-objects.js";

/** Upstream: pkg/controller/job/job_controller.go manageJob. */
export const noOverDeletion: Invariant = {
  name: "S8 no over-deletion",
  sentence:
    "A sync deletes at most the active pods beyond those that the Job wants, and of an Indexed Job the pods with an " +
    "invalid or duplicate index; all pods only when the Job is suspended or ends; it creates at most the missing pods.",
  watch(world, violated): InvariantChecks {
    const records = jobRecordsOf(world);
    return {
      onDecision(reported) {
        if (reported.controller !== JOB_CONTROLLER) return;
        const { decision } = reported;
        const job = records.jobs.get(decision.uid);
        const { remove = [], create = [] } = decision.plan.pods ?? {};
        if (job === undefined || (remove.length === 0 && create.length === 0)) return;
        const { observed, succeeded } = decision.plan;
        // The controller's cache may have an older spec than the store.
        const bounds = job.specs.map((spec) => boundsOf(spec, observed, succeeded));
        const maxRemoved = Math.max(...bounds.map(({ removed }) => removed));
        const maxCreated = Math.max(...bounds.map(({ created }) => created));
        const refuse = (message: string): void => violated(nameOf(job.object, "Job"), message);
        if (remove.length > maxRemoved)
          refuse(`removes ${remove.length} of ${observed.active.length} active pods, and ${maxRemoved} are too many`);
        if (create.length > maxCreated)
          refuse(`creates ${create.length} pods beside ${observed.active.length}, and ${maxCreated} are missing`);
      },
    };
  },
};

type Observed = JobDecision["plan"]["observed"];

/** Returns the maximum numbers of pods that a sync may delete and create. */
function boundsOf(
  spec: StoredJobSpec,
  { active, terminating }: Observed,
  succeeded: number,
): { readonly removed: number; readonly created: number } {
  if (spec.suspend === true) return { removed: active.length, created: 0 };
  const wanted = wantedPods(spec, succeeded) ?? active.length;
  const beyond = Math.max(0, active.length - wanted);
  const going = replacesOnlyFailed(spec) ? terminating.length : 0;
  return {
    removed: Math.max(beyond, isIndexed(spec) ? uselessPods(active, spec.completions ?? 0) : 0),
    created: Math.max(0, wanted - active.length - going),
  };
}

/** Returns the number of pods without an index below `completions`, plus all but one pod of each index. */
function uselessPods(pods: readonly DeepReadonly<Pod>[], completions: number): number {
  const taken = new Set<number>();
  let useless = 0;
  for (const pod of pods) {
    const index = indexOf(pod, completions);
    if (index === undefined || taken.has(index)) useless++;
    else taken.add(index);
  }
  return useless;
}

/** Upstream: job_controller.go syncJob, its status. */
export const statusMatchesObservedPods: Invariant = {
  name: "S3b status matches observed pods",
  sentence:
    "The active, ready and terminating counts that a sync writes are the pods that it observed, plus those that it created, minus " +
    "those that it deleted. A sync that is to end its Job deletes all active pods, or fails, unless a pod has changed its owner.",
  watch(world, violated): InvariantChecks {
    const records = jobRecordsOf(world);
    const syncs = new Map<string, Sync>();
    const syncOf = (request: ObservedRequest, uid: string): Sync => {
      const key = `${incarnationKeyOf(request)} ${uid}`;
      let sync = syncs.get(key);
      if (sync === undefined) syncs.set(key, (sync = new Sync()));
      return sync;
    };
    return {
      onChange(change) {
        const { resource, type, object, request } = change;
        if (resource !== JOBS || type !== "MODIFIED" || request?.component !== JOB_CONTROLLER) return;
        syncOf(request, uidOf(object)).written.push(object);
      },
      onAnswer(request) {
        if (request.component !== JOB_CONTROLLER || request.resource !== PODS) return;
        if (request.verb === "create") {
          const owner = (request.body as StoredPod | undefined)?.metadata.ownerReferences?.[0]?.uid;
          if (owner !== undefined) syncOf(request, owner).created(request);
          return;
        }
        const job = records.podsByName.get(`${request.namespace}/${request.name}`)?.job;
        // A request of another Job that tries to adopt the pod, and finds it gone, does not belong to this Job's sync.
        const named = (request.body as StoredPod | undefined)?.metadata?.ownerReferences?.[0]?.uid;
        if (job !== undefined && (named ?? job.uid) === job.uid) syncOf(request, job.uid).removed(request);
      },
      onDecision(reported) {
        if (reported.controller !== JOB_CONTROLLER) return;
        const { decision } = reported;
        const key = `${incarnationKeyOf({ ...reported, component: JOB_CONTROLLER })} ${decision.uid}`;
        const sync = syncs.get(key) ?? new Sync();
        syncs.delete(key);
        // For a pod that has changed its owner, requests cannot be assigned to a sync.
        if (decision.plan.observed.active.some((pod) => records.pods.get(uidOf(pod))?.moved === true)) return;
        const wrong = sync.statusProblem(decision);
        if (wrong !== undefined) violated(`Job ${decision.key}`, wrong);
      },
    };
  },
};

/** The effects of one sync so far. */
class Sync {
  readonly written: StoredJob[] = [];
  readonly #gone = new Set<string>();
  #created = 0;
  #namespaceEnds = false;
  #deletionFailed = false;

  created({ code, message = "" }: AnsweredRequest): void {
    if (code >= 200 && code < 300) this.#created++;
    else if (message.includes("is being terminated")) this.#namespaceEnds = true;
  }

  removed({ verb, code, name }: AnsweredRequest): void {
    // A pod that is found gone after the status write existed when the status was written: the next sync reports it.
    if (verb === "patch" && code === 404 && this.written.length > 0) return;
    if (code === 404 || (verb === "delete" && code >= 200 && code < 300)) this.#gone.add(name);
    else if (code < 200 || code > 299) this.#deletionFailed = true;
  }

  /** Returns a problem of a status that the sync has written. */
  statusProblem({ plan: { observed, end }, error }: JobDecision): string | undefined {
    // Creations that a terminating namespace refuses count as done: exception X6.
    if (this.#namespaceEnds) return undefined;
    const deleted = observed.active.filter(({ metadata }) => this.#gone.has(metadata.name ?? ""));
    const active = observed.active.length + this.#created - deleted.length;
    if (end !== undefined && error === undefined && active > 0)
      return `it is to end, and the sync has left ${active} active pods`;
    const ready = observed.ready - deleted.filter(isReady).length;
    const terminating = observed.terminating.length + deleted.length;
    const allDeleted = { active: 0, ready: 0, terminating: observed.terminating.length + observed.active.length };
    for (const { status } of this.written) {
      const statusCounts = {
        active: status?.active ?? 0,
        ready: status?.ready ?? 0,
        terminating: status?.terminating ?? 0,
      };
      const isSo = (counts: typeof statusCounts): boolean =>
        statusCounts.active === counts.active &&
        statusCounts.terminating === counts.terminating &&
        (statusCounts.ready === counts.ready || this.#deletionFailed);
      // The status of an ending Job may be written before its pods are deleted.
      if (isSo({ active, ready, terminating }) || (end !== undefined && isSo(allDeleted))) continue;
      return (
        `its status says ${statusCounts.active} active, ${statusCounts.ready} ready and ${statusCounts.terminating} terminating pods, ` +
        `and the sync has left ${active}, ${ready} and ${terminating}`
      );
    }
    return undefined;
  }
}

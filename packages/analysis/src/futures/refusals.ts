import type { ObjectRecord, TraceRecord } from "../run/trace.js";

/** What a ResourceQuota refused at first. Plain data. */
export interface QuotaRefusal {
  readonly namespace: string;
  readonly quota: string;
  /** The exceeded resource; or the field that a container must specify and does not. */
  readonly resource: string;
  /** The sum over all Jobs of the maximum number of pods that the Job lacked at a time. */
  readonly pods: number;
  /** Runs that a CronJob could not create. */
  readonly jobs: number;
}

/** Pods that waited because they fit on no node. Plain data. */
export interface NodeRefusal {
  /** The scheduler's reason: `Insufficient cpu`. */
  readonly reason: string;
  readonly pods: number;
}

/** All refusals of one future, in no defined order. Plain data. */
export interface Refusals {
  readonly quotas: readonly QuotaRefusal[];
  readonly nodes: readonly NodeRefusal[];
}

interface Refused {
  readonly namespace: string;
  readonly quota: string;
  readonly resource: string;
  /** Sum over deleted Jobs. */
  pods: number;
  /** Pods of existing Jobs, by UID. */
  readonly podsOf: Map<string, number>;
  jobs: number;
  /** The last refused run of each CronJob, which the controller retries. */
  readonly lastRuns: Map<string, string>;
}

/** A sync of a Job in which the creation of a pod was refused. */
interface RefusedSync {
  readonly uid: string;
  readonly creating: number;
  readonly refused: readonly Refused[];
}

/**
 * Tracks refusals by quotas and nodes. The controllers retry until there is room: a pod or a run counts once, for any
 * number of retries.
 */
export class RefusalFollower {
  readonly #quotas = new Map<string, Refused>();
  readonly #nodes = new Map<string, number>();
  /** Counted reasons of each waiting pod. */
  readonly #waiting = new Map<string, Set<string>>();
  #at = "";
  /** Refused syncs of the present instant. */
  #refusedSyncs: RefusedSync[] = [];
  readonly #created = new Map<string, number>();

  get refusals(): Refusals {
    this.#finishInstant();
    return {
      quotas: [...this.#quotas.values()].map(({ namespace, quota, resource, pods, podsOf, jobs }) => ({
        namespace,
        quota,
        resource,
        pods: [...podsOf.values()].reduce((sum, each) => sum + each, pods),
        jobs,
      })),
      nodes: [...this.#nodes].map(([reason, pods]) => ({ reason, pods })),
    };
  }

  add(record: TraceRecord): void {
    if (record.type === "header") return;
    if (record.at !== this.#at) {
      this.#finishInstant();
      this.#at = record.at;
    }
    if (record.type === "object") {
      if (record.kind === "Pod") this.#pod(record);
      else if (record.kind === "Job" && record.change === "DELETED") this.#jobDeleted(record.uid);
    } else if (record.type === "decision") {
      if (record.controller === "job-controller") {
        const { key, uid, error, creating } = record.decision;
        if (error === undefined || creating === undefined) return;
        const refused = this.#refusedBy(error, key);
        if (refused.length > 0) this.#refusedSyncs.push({ uid, creating, refused });
      } else if (record.controller === "cronjob-controller" && record.decision.outcome === "failed") {
        const { key, message, jobName = "" } = record.decision;
        for (const refused of this.#refusedBy(message, key)) {
          if (refused.lastRuns.get(key) === jobName) continue;
          refused.lastRuns.set(key, jobName);
          refused.jobs++;
        }
      }
    }
  }

  #pod({ uid, change, owner, state }: Extract<ObjectRecord, { kind: "Pod" }>): void {
    if (change === "ADDED" && owner !== undefined)
      this.#created.set(owner.uid, (this.#created.get(owner.uid) ?? 0) + 1);
    if (change === "DELETED" || state.node !== undefined) this.#waiting.delete(uid);
    else if (state.unschedulable !== undefined) {
      let counted = this.#waiting.get(uid);
      if (counted === undefined) this.#waiting.set(uid, (counted = new Set()));
      for (const reason of reasonsIn(state.unschedulable)) {
        if (counted.has(reason)) continue;
        counted.add(reason);
        this.#nodes.set(reason, (this.#nodes.get(reason) ?? 0) + 1);
      }
    }
  }

  #refusedBy(message: string, key: string): Refused[] {
    const found = quotaIn(message);
    if (found === undefined) return [];
    const namespace = key.slice(0, key.indexOf("/"));
    return found.resources.map((resource) => {
      const id = `${namespace}/${found.quota}/${resource}`;
      let refused = this.#quotas.get(id);
      if (refused === undefined) {
        refused = { namespace, quota: found.quota, resource, pods: 0, podsOf: new Map(), jobs: 0, lastRuns: new Map() };
        this.#quotas.set(id, refused);
      }
      return refused;
    });
  }

  /** The number of pods that were created before the refusal is known only after the instant. */
  #finishInstant(): void {
    for (const { uid, creating, refused } of this.#refusedSyncs) {
      const missing = Math.max(1, creating - (this.#created.get(uid) ?? 0));
      for (const { podsOf } of refused) podsOf.set(uid, Math.max(podsOf.get(uid) ?? 0, missing));
    }
    this.#refusedSyncs = [];
    this.#created.clear();
  }

  #jobDeleted(uid: string): void {
    for (const refused of this.#quotas.values()) {
      refused.pods += refused.podsOf.get(uid) ?? 0;
      refused.podsOf.delete(uid);
    }
  }
}

/** Upstream: plugin/pkg/admission/resourcequota/controller.go and pkg/quota/v1/evaluator/core/pods.go. */
const EXCEEDED = /exceeded quota: (\S+), requested: (.*?), used: /;
const FAILED = /failed quota: (\S+): must specify (.*)$/;

function quotaIn(message: string): { readonly quota: string; readonly resources: readonly string[] } | undefined {
  const exceeded = EXCEEDED.exec(message);
  if (exceeded !== null) {
    const [, quota = "", requested = ""] = exceeded;
    return { quota, resources: requested.split(",").map((each) => each.slice(0, each.lastIndexOf("="))) };
  }
  const failed = FAILED.exec(message);
  if (failed === null) return undefined;
  const [, quota = "", missing = ""] = failed;
  return { quota, resources: missing.split("; ").map((each) => each.split(" for: ")[0]!) };
}

/**
 * Splits `0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu.` into its reasons. Upstream:
 * pkg/scheduler/framework FitError.
 */
function reasonsIn(message: string): string[] {
  const listed = /^\d+\/\d+ nodes are available: (.*)\.$/.exec(message)?.[1];
  return listed === undefined ? [message] : listed.split(", ").map((each) => each.replace(/^\d+ /, ""));
}

import { type DeepReadonly, type Job, type ObjectKey, keyOf } from "@kubewright/api";
import { type ResourceClient, isNotFound } from "@kubewright/client";
import type { Logger, ReconcileResult } from "@kubewright/controller";
import type { Lister } from "@kubewright/informer";

import type { TTLDecision } from "./decision.js";
import { type TimeLeft, timeLeft } from "./time-left.js";

export interface SyncDeps {
  readonly cache: Pick<Lister<Job>, "get">;
  readonly jobs: Pick<ResourceClient<Job>, "get" | "delete">;
  readonly logger: Logger;
  readonly now: () => number;
  readonly onDecision: (decision: TTLDecision) => void;
  /** Called with the seconds between the expiry of a Job's TTL and its deletion. */
  readonly observeDeletion: (seconds: number) => void;
}

/**
 * Deletes a Job whose TTL has expired, its pods first; or returns when to sync again.
 *
 * Both the cached and the live Job must have expired: the TTL may just have been extended, or another Job may have been
 * created with the same name.
 *
 * @throws the API server's errors, including 404 and 409.
 * @see kubernetes v1.36 pkg/controller/ttlafterfinished/ttlafterfinished_controller.go processJob
 */
export async function syncJob(key: ObjectKey, deps: SyncDeps, signal: AbortSignal): Promise<ReconcileResult> {
  const cached = deps.cache.get(key);
  if (cached === undefined) return {};
  const cachedLeft = evaluate(cached, deps);
  if (cachedLeft.type !== "expired") return requeueResult(cachedLeft);

  const { name = "", namespace } = cached.metadata;
  let live: DeepReadonly<Job>;
  try {
    live = await deps.jobs.get(name, { namespace, signal });
  } catch (error) {
    if (isNotFound(error)) return {};
    throw error;
  }
  const left = evaluate(live, deps);
  if (left.type !== "expired") return requeueResult(left);

  const { uid = "" } = live.metadata;
  await deps.jobs.delete(name, { namespace, propagationPolicy: "Foreground", preconditions: { uid }, signal });
  const atMs = deps.now();
  deps.observeDeletion((atMs - left.expiredMs) / 1000);
  deps.logger.info({ job: key }, "Cleaned up Job");
  deps.onDecision({ atMs, namespace: namespace ?? "", name, uid, outcome: "deleted", expiresMs: left.expiredMs });
  return {};
}

/** Returns the remaining TTL of a Job, and reports a waiting Job to `onDecision`. */
function evaluate(job: DeepReadonly<Job>, deps: SyncDeps): TimeLeft {
  const atMs = deps.now();
  const left = timeLeft(job, atMs);
  if (left.type !== "none" && left.finishedMs > atMs) {
    const message =
      "Warning: Found Job finished in the future. This is likely due to time skew in the cluster. Job cleanup will be deferred.";
    deps.logger.warn({ job: keyOf(job) }, message);
  }
  if (left.type === "pending") {
    const { namespace = "", name = "", uid = "" } = job.metadata;
    deps.onDecision({ atMs, namespace, name, uid, outcome: "waiting", expiresMs: atMs + left.remainingMs });
  }
  return left;
}

function requeueResult(left: TimeLeft): ReconcileResult {
  return left.type === "pending" ? { requeueAfterMs: left.remainingMs } : {};
}

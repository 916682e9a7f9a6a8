import type { CronJob } from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { ReportedDecision, World } from "../world.js";
import { LONGEST_BACK_OFF_MS, SHORTEST_BACK_OFF_MS } from "./cron-records.js";
import { DisturbanceTracker } from "./disturbance-tracker.js";
import { CRON_JOBS, CRON_JOB_CONTROLLER, isBeingDeleted, incarnationKeyOf, nameOf } from "./stored-objects.js";

/** Longer than all requests of a sync take. */
const SLACK_MS = 70_000;
/** Time until another manager has taken over from one that lost its Lease. */
const TAKEN_OVER_MS = 200_000;

/** Consecutive failed syncs of a CronJob in one incarnation of its controller. */
interface Failures {
  readonly incarnationKey: string;
  count: number;
  /** When the last of them failed; `undefined` when no retry is due. */
  failedMs: number | undefined;
  /** Whether the last sync succeeded, as far as its decision shows. */
  isOver: boolean;
}

/** Upstream: pkg/controller/cronjob/cronjob_controllerv2.go processNextWorkItem; client-go util/workqueue, its default rate limits. */
export const failedSyncsAreRetried: Invariant = {
  name: "L13 failed syncs are retried",
  sentence:
    "A failed sync of a CronJob is retried within 70 s plus a back-off of 5 ms that doubles " +
    "with each failure in a row, unless there are other faults than refused requests.",
  watch(world, violated): InvariantChecks {
    if (world.plan.controllers?.sharding === true) return {};
    const disturbances = new DisturbanceTracker(world, CRON_JOB_CONTROLLER, ["requestFails", "suspend"]);
    const slackMs = (world.plan.controllerManagers ?? 1) > 1 ? TAKEN_OVER_MS : SLACK_MS;
    const failures = new Map<string, Failures>();
    const failuresOf = (key: string, incarnationKey: string): Failures => {
      let found = failures.get(key);
      if (found?.incarnationKey !== incarnationKey)
        failures.set(key, (found = { incarnationKey, count: 0, failedMs: undefined, isOver: false }));
      return found;
    };
    return {
      onScenarioEvent: (scenarioEvent) => disturbances.onScenarioEvent(scenarioEvent),
      onCacheEvent: (event) => disturbances.onCacheEvent(event),
      onDecision(reported) {
        if (reported.controller !== CRON_JOB_CONTROLLER) return;
        const sync = failuresOf(
          reported.decision.key,
          incarnationKeyOf({ ...reported, component: CRON_JOB_CONTROLLER }),
        );
        if (sync.isOver) sync.count = 0;
        const hasFailed = reported.decision.outcome === "failed";
        if (hasFailed) sync.count++;
        sync.failedMs = hasFailed ? reported.atMs : undefined;
        // A sync that waits for nothing leaves the record unchanged.
        sync.isOver = isTimed(reported);
      },
      onAnswer(request) {
        const { component, resource, subresource, code, namespace, name, atMs } = request;
        if (component !== CRON_JOB_CONTROLLER) return;
        // The retry has begun and is not over.
        for (const [key, sync] of failures)
          if (sync.failedMs !== undefined && `${namespace}/${name}`.startsWith(`${key}-`)) sync.failedMs = atMs;
        if (resource !== CRON_JOBS || subresource !== "status" || (code >= 200 && code < 300)) return;
        // The status is written last: the sync has failed after its decision.
        const sync = failuresOf(`${namespace}/${name}`, incarnationKeyOf(request));
        if (sync.failedMs === undefined) sync.count++;
        sync.failedMs = atMs;
        sync.isOver = false;
      },
      onTick() {
        if (disturbances.isDisturbed) return;
        for (const [key, sync] of failures) {
          const { failedMs, count } = sync;
          if (failedMs === undefined) continue;
          const backOffMs = Math.min(SHORTEST_BACK_OFF_MS * 2 ** count, LONGEST_BACK_OFF_MS);
          const waitedMs = world.nowMs - Math.max(failedMs, disturbances.quietSinceMs);
          if (waitedMs <= backOffMs + slackMs) continue;
          sync.failedMs = undefined;
          const cronJob = storedAs(key, world);
          if (cronJob !== undefined && !isBeingDeleted(cronJob))
            violated(
              nameOf(cronJob, "CronJob"),
              `has waited ${waitedMs / 1000} s to be tried again after ${count} failures`,
            );
        }
      },
    };
  },
};

/** Reports whether the sync waits for a slot: such a sync was successful. */
function isTimed({ decision }: ReportedDecision & { readonly controller: typeof CRON_JOB_CONTROLLER }): boolean {
  return decision.outcome !== "failed" && decision.nextSyncMs !== undefined;
}

function storedAs(key: string, world: World): CronJob | undefined {
  const [namespace = "", name = ""] = key.split("/");
  return world.get<CronJob>(CRON_JOBS, namespace, name) as CronJob | undefined;
}

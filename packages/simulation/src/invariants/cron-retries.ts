import type { CronJob } from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { ReportedDecision, World } from "../world.js";
import { LONGEST_BACK_OFF_MS, SHORTEST_BACK_OFF_MS } from "./cron-records.js";
import { DisturbanceTracker } from "./disturbance-tracker.js";
import { CRON_JOBS, CRON_JOB_CONTROLLER, isBeingDeleted, incarnationKeyOf, nameOf } from "./stored-objects.js";

/** Longer than a sync waits for all that it asks for. */
const SLACK_MS = 70_000;
/** Until another manager has taken over from one that has lost its lease. */
const TAKEN_OVER_MS = 200_000;

/** The syncs of a CronJob that have failed since one did not, in one life of its controller. */
interface Failures {
  readonly incarnationKey: string;
  count: number;
  /** When the last of them failed; `undefined`: none is to be tried again. */
  failedMs: number | undefined;
  /** Whether the last sync came to a good end, as far as it has told. */
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
        // Who waits for nothing leaves the record as it is.
        sync.isOver = isTimed(reported);
      },
      onAnswer(request) {
        const { component, resource, subresource, code, namespace, name, atMs } = request;
        if (component !== CRON_JOB_CONTROLLER) return;
        // It has been tried again, and is not over.
        for (const [key, sync] of failures)
          if (sync.failedMs !== undefined && `${namespace}/${name}`.startsWith(`${key}-`)) sync.failedMs = atMs;
        if (resource !== CRON_JOBS || subresource !== "status" || (code >= 200 && code < 300)) return;
        // Written last: what the sync told before has come to nothing.
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

/** Whether it waits for a slot: a sync that has come to that is a success. */
function isTimed({ decision }: ReportedDecision & { readonly controller: typeof CRON_JOB_CONTROLLER }): boolean {
  return decision.outcome !== "failed" && decision.nextSyncMs !== undefined;
}

function storedAs(key: string, world: World): CronJob | undefined {
  const [namespace = "", name = ""] = key.split("/");
  return world.get<CronJob>(CRON_JOBS, namespace, name) as CronJob | undefined;
}

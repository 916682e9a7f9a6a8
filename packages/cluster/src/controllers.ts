import { CronJobController, type CronJobDecision } from "@kubewright/cronjob";
import type { Runnable } from "@kubewright/controller";
import { GarbageCollector, type GarbageDecision } from "@kubewright/garbage-collector";
import { JobController, type JobDecision } from "@kubewright/job";
import { PodGCController, type PodGCDecision } from "@kubewright/podgc";
import { TTLAfterFinishedController, type TTLDecision } from "@kubewright/ttl-after-finished";

import type { ComponentContext } from "./component-context.js";

/** A decision of a controller of the cluster, as plain data. The simulator explains runs with it. */
export type Decision =
  | { readonly controller: "job-controller"; readonly decision: JobDecision }
  | { readonly controller: "cronjob-controller"; readonly decision: CronJobDecision }
  | { readonly controller: "ttl-after-finished-controller"; readonly decision: TTLDecision }
  | { readonly controller: "pod-garbage-collector-controller"; readonly decision: PodGCDecision }
  | { readonly controller: "garbage-collector-controller"; readonly decision: GarbageDecision };

export type ControllerName = Decision["controller"];

/** Constructors of the controllers that a cluster can run, by upstream name. */
export const clusterControllers: Readonly<Record<ControllerName, (context: ComponentContext) => Runnable>> = {
  "job-controller": ({ onDecision, jobController, ...shared }) =>
    new JobController({
      ...shared,
      ...jobController,
      onDecision: (decision) => onDecision({ controller: "job-controller", decision }),
    }),
  "cronjob-controller": ({ onDecision, localTimeZone, missedSince, ...shared }) =>
    new CronJobController({
      ...shared,
      localTimeZone,
      missedSince,
      onDecision: (decision) => onDecision({ controller: "cronjob-controller", decision }),
    }),
  "ttl-after-finished-controller": ({ onDecision, ...shared }) =>
    new TTLAfterFinishedController({
      ...shared,
      onDecision: (decision) => onDecision({ controller: "ttl-after-finished-controller", decision }),
    }),
  "pod-garbage-collector-controller": ({ onDecision, terminatedPodGCThreshold, ...shared }) =>
    new PodGCController({
      ...shared,
      ...(terminatedPodGCThreshold === undefined ? {} : { terminatedPodThreshold: terminatedPodGCThreshold }),
      onDecision: (decision) => onDecision({ controller: "pod-garbage-collector-controller", decision }),
    }),
  "garbage-collector-controller": ({
    onDecision,
    watchTimeoutMs,
    discoveryIntervalMs,
    garbageCollectorIgnores: ignores,
    ...shared
  }) =>
    new GarbageCollector({
      ...shared,
      ignores,
      minWatchTimeoutMs: watchTimeoutMs,
      discoveryIntervalMs,
      onDecision: (decision) => onDecision({ controller: "garbage-collector-controller", decision }),
    }),
};

/** All controllers, in the order in which they run. */
export const controllerNames = Object.keys(clusterControllers) as readonly ControllerName[];

/**
 * Returns the names after checking them: names from JavaScript or from a file may be unknown.
 *
 * @throws Error naming the first that is not in `known`.
 */
export function checkNames<Name extends string>(names: readonly Name[], known: readonly Name[]): readonly Name[] {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return names;
  throw new Error(`${JSON.stringify(unknown)} is not a controller of the cluster, which has ${known.join(", ")}`);
}

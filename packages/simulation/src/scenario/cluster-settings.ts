import type { Random, SimulatedClockOptions } from "@kubewright/clock";
import type { FaultyClusterOptions } from "@kubewright/cluster";

import type { ScenarioFile } from "./scenario-file.js";
import { durationOf } from "./scenario-times.js";

type Settings = Pick<ScenarioFile, "controllers" | "jitter">;

/**
 * Returns the settings of a scenario's cluster, except its nodes.
 *
 * @param random - Random source of the run; draws come from forks of it.
 */
export function clusterSettings(
  { controllers = {}, jitter }: Settings,
  random: Random,
): Pick<
  FaultyClusterOptions,
  "delays" | "jobController" | "leaseDurationsMs" | "sharding" | "terminatedPodGCThreshold"
> {
  const { consistencyGate, maxUncountedPods, maxPodsPerSync, terminatedPodGCThreshold, leaseDurations, sharding } =
    controllers;
  return {
    jobController: {
      consistencyGate: consistencyGate ?? true,
      limits: {
        ...(maxUncountedPods === undefined ? {} : { maxUncountedPods }),
        ...(maxPodsPerSync === undefined ? {} : { maxPodsPerSync }),
      },
    },
    ...(terminatedPodGCThreshold === undefined ? {} : { terminatedPodGCThreshold }),
    ...(sharding === undefined ? {} : { sharding }),
    ...(leaseDurations === undefined ? {} : { leaseDurationsMs: leaseDurations.map(durationOf) }),
    ...(jitter === undefined
      ? {}
      : {
          delays: {
            requestsMs: durationOf(jitter.requests ?? "0s"),
            eventsMs: durationOf(jitter.events ?? "0s"),
            random: random.fork("jitter"),
          },
        }),
  };
}

/** With jitter, the order of timers that are due at the same instant is random too. */
export function clockSettings({ jitter }: Settings, random: Random): SimulatedClockOptions {
  return jitter === undefined ? {} : { timerOrderSeed: random.fork("order").uint32() };
}

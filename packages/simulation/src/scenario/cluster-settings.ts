import type { Random, SimulatedClockOptions } from "@kubewright/clock";
import type { FaultyClusterOptions } from "@kubewright/cluster";

import type { ScenarioFile } from "./scenario-file.js";
import { durationOf } from "./scenario-times.js";

type Settings = Pick<ScenarioFile, "controllers" | "jitter">;

/** How the cluster of a scenario is set up beyond its nodes. @param random - Of the run: what is drawn is drawn of forks of it. */
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

/** Where requests and events take times that are drawn, so is the order of what is due at one instant. */
export function clockSettings({ jitter }: Settings, random: Random): SimulatedClockOptions {
  return jitter === undefined ? {} : { timerOrderSeed: random.fork("order").uint32() };
}

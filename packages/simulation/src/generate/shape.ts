/** A feature of workloads. Every plan omits some of them. */
export type Shape = (typeof SHAPES)[number];

export const SHAPES = [
  /** 1 to 6 Jobs that no CronJob owns. */
  "jobs",
  "indexed",
  "backoffLimitPerIndex",
  "workQueue",
  "onFailure",
  "podFailurePolicy",
  "successPolicy",
  "podReplacementPolicy",
  "activeDeadline",
  "ttl",
  "suspend",
  "managedBy",
  "overlappingSelectors",
  "foreignFinalizers",
  "severalContainers",
  "failures",
  /** Pods that fail in different ways and at different times. */
  "mixedFailures",
  "slowPods",
  /** Pods that run for minutes. */
  "longPods",
  /** Five or more concurrent pods. */
  "manyPods",
  "ignoreSigterm",
  "secondNamespace",
  /** ConfigMaps that are owned by Jobs and by each other. */
  "ownership",
  /** A pod that no Job has created. */
  "ownPods",
  "cronJobs",
  "timeZones",
  /** Unevenly spaced slots. */
  "unevenSchedules",
  /** Slots relative to the last run instead of the time of day. */
  "relativeSchedules",
  /** History limits of nearly 0. */
  "tightHistory",
  /** Jobs of CronJobs that take longer than the time to the next slot. */
  "longRuns",
  /** A Job of a CronJob as a subject of user actions. */
  "cronRuns",
  /** Nodes that are deleted and recreated. */
  "nodes",
  "podGC",
  "quota",
  /** A quota with room for one more Job. */
  "tightQuota",
  /** Several controller managers. */
  "replicas",
  "consistencyGateOff",
  "lowLimits",
  /** User actions during the run. */
  "userDeletes",
  "userEvicts",
  "userScales",
  "userSuspends",
  "userEdits",
  /** Users change labels or owners of pods. */
  "userRelabels",
  "userRecreates",
] as const;

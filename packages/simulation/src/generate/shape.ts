/** What a workload may be made of. Every plan leaves some of it out. */
export type Shape = (typeof SHAPES)[number];

export const SHAPES = [
  /** Jobs of their own, 1 to 6. */
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
  /** Pods that fail in one way or another, at different times. */
  "mixedFailures",
  "slowPods",
  /** Pods that run for minutes. */
  "longPods",
  /** Five pods and more at once. */
  "manyPods",
  "ignoreSigterm",
  "secondNamespace",
  /** ConfigMaps that Jobs, and each other, own. */
  "ownership",
  /** A pod that no Job has made. */
  "ownPods",
  "cronJobs",
  "timeZones",
  /** Slots that are not evenly spaced. */
  "unevenSchedules",
  /** Slots that are counted from the last one, and not by the hours of the day. */
  "relativeSchedules",
  /** Limits of history that leave next to nothing. */
  "tightHistory",
  /** CronJobs' Jobs that take longer than from one slot to the next. */
  "longRuns",
  /** One of a CronJob's Jobs, that users act upon too. */
  "cronRuns",
  /** Nodes that are deleted, and that come again. */
  "nodes",
  "podGC",
  "quota",
  /** A quota that has room for one Job more. */
  "tightQuota",
  /** Several controller managers. */
  "replicas",
  "consistencyGateOff",
  "lowLimits",
  /** What users do while it runs. */
  "userDeletes",
  "userEvicts",
  "userScales",
  "userSuspends",
  "userEdits",
  /** Pods whose labels or owners users change. */
  "userRelabels",
  "userRecreates",
] as const;

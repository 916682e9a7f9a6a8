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
  "slowPods",
  "ignoreSigterm",
  "secondNamespace",
  /** ConfigMaps that Jobs, and each other, own. */
  "ownership",
  /** A pod that no Job has made. */
  "ownPods",
  "cronJobs",
  "timeZones",
  /** Nodes that are deleted, and that come again. */
  "nodes",
  "podGC",
  "quota",
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
  "userRecreates",
] as const;

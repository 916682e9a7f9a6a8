import type { UnstructuredObject } from "@kubewright/api";

import type { ScenarioEventEntry } from "../faults/registry.js";
import type { WorkloadEntry } from "../scenario/scenario-schema.js";

/** A part of a plan's workload: objects and the behaviour of their pods. */
export interface Workload {
  readonly manifests: readonly UnstructuredObject[];
  readonly workloads: readonly WorkloadEntry[];
  /**
   * Events without which the workload does not end, and which are no faults: a resumption, the removal of a finalizer.
   */
  readonly events: readonly ScenarioEventEntry[];
  readonly subjects: readonly Subject[];
  /** End without faults, in milliseconds from the start. */
  readonly endMs: number;
  /** Maximum duration if everything has to run again. */
  readonly rerunMs: number;
}

/** A Job, a CronJob, or a pod that no Job has created, as the subject of events. */
export interface Subject {
  readonly kind: "CronJob" | "Job" | "Pod";
  readonly namespace: string;
  readonly name: string;
  readonly manifest: UnstructuredObject;
  /** Times in milliseconds from the start at which the object is created or its pods start and end. */
  readonly moments: readonly number[];
  /** Whether a CronJob creates it: only its name is known beforehand. */
  readonly isRun?: true;
  /** Number of indexes of an Indexed Job; 0 otherwise. */
  readonly indexes: number;
  /** Schedules to which a CronJob can be changed without too many runs. */
  readonly schedules: readonly string[];
}

export function mergeWorkloads(parts: readonly Workload[]): Workload {
  return {
    manifests: parts.flatMap(({ manifests }) => manifests),
    workloads: parts.flatMap(({ workloads }) => workloads),
    events: parts.flatMap(({ events }) => events),
    subjects: parts.flatMap(({ subjects }) => subjects),
    endMs: Math.max(0, ...parts.map(({ endMs }) => endMs)),
    rerunMs: Math.max(0, ...parts.map(({ rerunMs }) => rerunMs)),
  };
}

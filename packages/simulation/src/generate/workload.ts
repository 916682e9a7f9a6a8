import type { UnstructuredObject } from "@kubewright/api";

import type { ScenarioEventEntry, WorkloadEntry } from "../scenario/scenario-file.js";

/** A part of what a plan plays: some objects, how their pods behave and what belongs to them. */
export interface Workload {
  readonly manifests: readonly UnstructuredObject[];
  readonly workloads: readonly WorkloadEntry[];
  /** What has to happen for it to come to an end, and is no fault: a resumption, a finalizer that goes. */
  readonly events: readonly ScenarioEventEntry[];
  readonly subjects: readonly Subject[];
  /** Until it has come to its end when nothing goes wrong, in milliseconds from the start. */
  readonly endMs: number;
  /** How long it takes at most from anew when everything had to be done again. */
  readonly rerunMs: number;
}

/** A Job, a CronJob, or a pod that no Job has made, that may be acted upon. */
export interface Subject {
  readonly kind: "CronJob" | "Job" | "Pod";
  readonly namespace: string;
  readonly name: string;
  readonly manifest: UnstructuredObject;
  /** When something may be expected to happen to it, in milliseconds from the start: it is made, its pods start and end. */
  readonly moments: readonly number[];
  /** Whether a CronJob makes it: all that can be said beforehand is its name. */
  readonly isRun?: true;
  /** Of an Indexed Job. */
  readonly indexes: number;
  /** What a CronJob's schedule may be changed to without its runs becoming too many. */
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
